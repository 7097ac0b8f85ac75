package function

// check finds errors in a shape of several points: crossing rings, holes outside of their polygon, overlapping
// polygons.
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

// checkCrossings compares each edge with those after it. Edges may touch at one position, but neither cross nor
// overlap.
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
		// Wider than nearness, because each point may be off by that much.
		if d := p.minus(points[0]); d.dot(d) > 16*nearness*nearness {
			return false
		}
	}
	return true
}

// checkHoles finds on which side of each hole its polygon is: the side of the outer ring, whatever the direction of
// the hole's points.
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
				g.fail("The Polygon input is not valid because a ring lies outside of the first one or inside of " +
					"another.")
				return
			}
		}
	}
}

// checkApart checks that no other polygon begins inside this one.
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

// pointOff returns a point of ring r that is not on ring s.
func (g *geometry) pointOff(r, s *ring) (position, bool) {
	for _, p := range g.points[r.from:r.to] {
		if !g.onEdges(p, s.from, s.to) {
			return p, true
		}
	}
	return position{}, false
}

// onEdges reports whether p is on an edge in a range.
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
