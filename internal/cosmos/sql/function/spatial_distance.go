package function

import "math"

// leastRadius is the smallest radius of curvature of the ellipsoid, of meridians at the equator. A distance in metres
// is at least the angle on the sphere of positions times leastRadius.
const leastRadius = equatorRadius * (1 - eccentricity2)

// metres is the distance from p to the arc, or best if that is smaller. The nearest position on the sphere is close
// to the nearest one on the ellipsoid, which is then found with a few parabolas through squared distances.
func (e *edge) metres(p position, best float64) float64 {
	if math.Abs(e.normal.dot(p))*leastRadius >= best {
		return best
	}
	foot := e.foot(p)
	first := foot.metres(p)
	if first*(1-gain) >= best {
		return best
	}
	t, length, reach := e.angleTo(foot), e.angle(), shift*angleBetween(foot, p)
	for range 3 {
		t, reach = e.descend(p, t, reach, length), reach/8
	}
	return min(best, first, e.at(t).metres(p))
}

// On the ellipsoid the nearest position is further along the arc by at most shift times the distance, and the
// distance is shorter by at most gain times itself.
const (
	shift = 0.004
	gain  = 1e-4
)

// foot is the position on the arc that is nearest to p on the sphere.
func (e *edge) foot(p position) position {
	foot := p.minus(e.normal.times(e.normal.dot(p)))
	before := e.normal.cross(e.from).dot(foot) < 0
	behind := e.normal.cross(e.to).dot(foot) > 0
	switch {
	case !before && !behind && foot.length() > nearness:
		return foot.unit()
	case e.to.dot(p) > e.from.dot(p):
		return e.to
	}
	return e.from
}

// descend is the minimum of the parabola through three distances around t.
func (e *edge) descend(p position, t, reach, length float64) float64 {
	if reach <= nearness {
		return t
	}
	square := func(t float64) float64 { d := e.at(t).metres(p); return d * d }
	before, here, after := square(t-reach), square(t), square(t+reach)
	bend := before - 2*here + after
	if bend <= 0 {
		return t
	}
	step := (before - after) / (2 * bend)
	return min(max(t+reach*min(max(step, -2), 2), 0), length)
}

func angleBetween(p, q position) float64 {
	return math.Atan2(p.crossNear(q).length(), p.dot(q))
}

// distance is the distance of two shapes in metres, 0 if they intersect. ok is false if one of them is empty. If they
// do not intersect, the nearest position is an end of some edge.
func (g *geometry) distance(h *geometry) (metres float64, ok bool) {
	if len(g.points) == 0 || len(h.points) == 0 {
		return 0, false
	}
	if g.kind == kindPoint && h.kind == kindPoint {
		return g.points[0].metres(h.points[0]), true
	}
	if g.intersects(h) {
		return 0, true
	}
	best := math.Inf(1)
	best = g.nearestTo(h, best)
	return h.nearestTo(g, best), true
}

// nearestTo is the smallest distance from the points of g to the edges of h.
func (g *geometry) nearestTo(h *geometry, best float64) float64 {
	if h.kind == kindPoint {
		return best
	}
	for _, p := range g.points {
		if best = h.tree.nearest(p, best); g.late() {
			break
		}
	}
	return best
}
