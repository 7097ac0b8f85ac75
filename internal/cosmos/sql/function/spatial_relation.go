package function

import (
	"cmp"
	"math"
	"slices"
)

// A place is where a position is relative to a shape.
type place uint8

const (
	outside place = iota
	boundary
	inside
)

// leftOf reports whether p, which must not be on the ring, is on its left. It follows an arc from the ring to p and
// counts how often it crosses the ring. The arc starts on an edge, so that its first side is known.
func (g *geometry) leftOf(r *ring, p position) bool {
	edges := g.edges[r.from:r.to]
	first := startFor(edges, p)
	e := &edges[first]
	start := e.at(e.angle() * 0.41) // unlikely to be where another ring touches
	normal := start.crossNear(p)
	left := e.side(p) > 0
	// The sides of the first edge's own ends are known,
	// and must not depend on rounding.
	sideOf := func(i int) bool {
		switch i {
		case first:
			return left
		case (first + 1) % len(edges):
			return !left
		}
		return normal.dot(edges[i].from) >= 0
	}
	in, before := left, sideOf(0)
	for i := range edges {
		after := sideOf((i + 1) % len(edges))
		if before != after && i != first && onTheWay(normal, start, p, &edges[i]) {
			in = !in
		}
		before = after
	}
	return in
}

// startFor chooses an edge whose great circle does not contain p.
func startFor(edges []edge, p position) int {
	best, most := 0, 0.0
	for i := range edges {
		away := math.Abs(edges[i].side(p))
		if away > 1e-6 {
			return i
		}
		if away > most {
			best, most = i, away
		}
	}
	return best
}

// onTheWay reports whether an edge whose ends are on different sides of the great circle from start to p crosses it
// between these two.
func onTheWay(normal, start, p position, e *edge) bool {
	at := normal.cross(e.normal)
	if at.dot(e.from.plus(e.to)) < 0 {
		at = at.times(-1)
	}
	return normal.cross(start).dot(at) > 0 && p.cross(normal).dot(at) > 0
}

// A region is some of the polygons of a shape.
type region struct {
	*geometry
	from, to int
}

func (g *geometry) whole() region { return region{g, 0, len(g.polygons)} }

// span is the range of a region's edges.
func (r region) span() (from, to int) {
	if r.from == r.to {
		return 0, 0
	}
	return r.rings[r.polygons[r.from].from].from, r.rings[r.polygons[r.to-1].to-1].to
}

func (r region) locate(p position) place {
	if from, to := r.span(); r.onEdges(p, from, to) {
		return boundary
	}
	for _, poly := range r.polygons[r.from:r.to] {
		if r.contains(poly, p) {
			return inside
		}
	}
	return outside
}

func (g *geometry) contains(poly polygon, p position) bool {
	for i := poly.from; i < poly.to; i++ {
		if g.leftOf(&g.rings[i], p) != g.rings[i].left {
			return false
		}
	}
	return true
}

// locate returns where p is. A line has an interior but no boundary except its ends, if it is not closed; a point is
// all interior.
func (g *geometry) locate(p position) place {
	switch g.kind {
	case kindPoint:
		if g.points[0].near(p) {
			return inside
		}
	case kindLine:
		first, last := g.points[0], g.points[len(g.points)-1]
		if !first.near(last) && (p.near(first) || p.near(last)) {
			return boundary
		}
		if g.onEdges(p, 0, len(g.edges)) {
			return inside
		}
	default:
		return g.whole().locate(p)
	}
	return outside
}

// intersects reports whether two shapes have a position in common.
func (g *geometry) intersects(h *geometry) bool {
	if g.kind == kindPoint {
		return h.locate(g.points[0]) != outside
	}
	if h.kind == kindPoint {
		return g.locate(h.points[0]) != outside
	}
	return g.touches(h) || g.beginsIn(h) || h.beginsIn(g)
}

// touches reports whether edges of the two shapes meet.
func (g *geometry) touches(h *geometry) bool {
	found := false
	var meeting []position
	for i := range g.edges {
		e := &g.edges[i]
		h.tree.each(boxOf(e), 0, func(j int) bool {
			meeting = e.meet(meeting[:0], &h.edges[j])
			found = len(meeting) > 0
			return !found
		})
		if found || g.late() {
			return found
		}
	}
	return false
}

// beginsIn reports whether the line g, or a ring of g, starts in h. If no edges touch, all of it is then in h.
func (g *geometry) beginsIn(h *geometry) bool {
	if h.kind == kindLine {
		return false
	}
	if g.kind == kindLine {
		return h.locate(g.points[0]) != outside
	}
	return slices.ContainsFunc(g.rings, func(r ring) bool {
		return h.locate(g.points[r.from]) != outside
	})
}

// within reports whether no position of g is outside of h, and some are inside. A point on the edge of a polygon is
// not within it.
func (g *geometry) within(h *geometry) bool {
	switch {
	case len(g.points) == 0 || len(h.points) == 0:
		return false
	case g.kind == kindPoint:
		return h.locate(g.points[0]) == inside
	case h.kind == kindPoint:
		return false
	case g.kind == kindLine:
		w := g.course(0, len(g.edges), h)
		return w.inside && !w.outside
	case h.kind == kindLine:
		return false
	}
	for i := range g.polygons {
		if !(region{g, i, i + 1}).within(h) {
			return false
		}
	}
	// Neither a hole of h nor a gap between its polygons may be in g.
	return !h.course(0, len(h.edges), g).inside
}

// within checks only the edges of a region.
func (r region) within(h *geometry) bool {
	from, to := r.span()
	w := r.course(from, to, h)
	return !w.outside && (w.inside || h.locate(r.inner()) == inside)
}

// inner is a position inside a region, near its first edge.
func (r region) inner() position {
	outer := r.rings[r.polygons[r.from].from]
	e := &r.edges[outer.from]
	middle := e.at(e.angle() / 2)
	step := e.angle() / 100
	for range 30 {
		p := middle.plus(e.normal.times(step)).unit()
		if r.locate(p) == inside {
			return p
		}
		step /= 2
	}
	return middle
}

// A course is where edges run relative to a shape.
type course struct{ outside, inside bool }

func (w *course) add(p place) {
	w.outside = w.outside || p == outside
	w.inside = w.inside || p == inside
}

// course follows a range of g's edges through h. Edges of h cut them, and the middle of each piece determines where
// the piece is. A piece that follows another one without a cut is in the same place.
func (g *geometry) course(from, to int, h *geometry) course {
	var w course
	var last place
	var cuts []float64
	known := false
	for i := from; i < to; i++ {
		e := &g.edges[i]
		if g.late() {
			break
		}
		if i > from && e.from != g.edges[i-1].to {
			known = false
		}
		cuts = e.cuts(cuts[:0], h)
		if len(cuts) == 0 && known {
			continue
		}
		length := e.angle()
		cuts = append(cuts, 0, length)
		slices.SortFunc(cuts, cmp.Compare[float64])
		for k := range len(cuts) - 1 {
			if cuts[k+1]-cuts[k] <= 4*nearness {
				continue
			}
			if g.late() {
				break
			}
			last, known = h.locate(e.at((cuts[k]+cuts[k+1])/2)), true
			w.add(last)
		}
	}
	return w
}

// cuts appends the positions along the edge at which edges of h meet it.
func (e *edge) cuts(dst []float64, h *geometry) []float64 {
	var scratch [4]position
	length := e.angle()
	h.tree.each(boxOf(e), 0, func(j int) bool {
		for _, p := range e.meet(scratch[:0], &h.edges[j]) {
			dst = append(dst, min(max(e.angleTo(p), 0), length))
		}
		return true
	})
	return dst
}
