package function

// check finds what a shape of several points must not have: rings that cross,
// holes outside of their polygon, polygons inside one another.
func (g *geometry) check() {
	if g.kind == kindLine {
		return
	}
	g.checkCrossings()
	for i := range g.polygons {
		if g.reason != "" {
			return
		}
		g.checkHoles(g.polygons[i])
	}
	for i := range g.polygons {
		if g.reason != "" {
			return
		}
		g.checkApart(i)
	}
}

// checkCrossings compares each edge with those after it. Edges may touch in one
// place, but neither cross nor run along each other.
func (g *geometry) checkCrossings() {
	var meeting []position
	for i := range g.edges {
		e := &g.edges[i]
		g.tree.each(boxOf(e), i+1, func(j int) bool {
			f := &g.edges[j]
			_, crossing := e.crosses(f)
			if !crossing {
				meeting = e.meet(meeting[:0], f)
				crossing = len(meeting) > 1 && !allNear(meeting)
			}
			if crossing {
				g.fail("The Polygon input is not valid because edges of its rings cross or overlap.")
			}
			return !crossing
		})
		if g.reason != "" || g.late() {
			return
		}
	}
}

func allNear(points []position) bool {
	for _, p := range points[1:] {
		// Wider than nearness, as each of them may be that far off.
		if d := p.minus(points[0]); d.dot(d) > 16*nearness*nearness {
			return false
		}
	}
	return true
}

// checkHoles finds on which side of each hole its polygon is: where the outer
// ring is, whichever way the hole's points go round.
func (g *geometry) checkHoles(p polygon) {
	outer := &g.rings[p.from]
	for i := p.from + 1; i < p.to; i++ {
		hole := &g.rings[i]
		if g.late() {
			return
		}
		if at, ok := g.pointOff(outer, hole); ok {
			hole.left = g.leftOf(hole, at)
		}
	}
	for i := p.from; i < p.to; i++ {
		for j := p.from; j < p.to; j++ {
			if i == j {
				continue
			}
			if g.late() {
				return
			}
			at, ok := g.pointOff(&g.rings[j], &g.rings[i])
			if ok && g.leftOf(&g.rings[i], at) != g.rings[i].left {
				g.fail("The Polygon input is not valid because a ring lies outside of the first one or inside of another.")
				return
			}
		}
	}
}

// checkApart makes sure that no other polygon begins inside of this one.
func (g *geometry) checkApart(i int) {
	whole := region{g, i, i + 1}
	for j, other := range g.polygons {
		if i == j {
			continue
		}
		if g.late() {
			return
		}
		outer := g.rings[other.from]
		for _, p := range g.points[outer.from:outer.to] {
			where := whole.locate(p)
			if where == inside {
				g.fail("The MultiPolygon input is not valid because its polygons overlap.")
				return
			}
			if where == outside {
				break
			}
		}
	}
}

// pointOff gives a point of ring r that is not on ring s.
func (g *geometry) pointOff(r, s *ring) (position, bool) {
	for _, p := range g.points[r.from:r.to] {
		if !g.onEdges(p, s.from, s.to) {
			return p, true
		}
	}
	return position{}, false
}

// onEdges reports whether p lies on an edge from one number up to another.
func (g *geometry) onEdges(p position, from, to int) bool {
	on := false
	g.tree.each(box{p, p}, from, func(i int) bool {
		if i >= to {
			return false
		}
		on = g.edges[i].has(p)
		return !on
	})
	return on
}
