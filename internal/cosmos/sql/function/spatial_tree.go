package function

import "math"

// A box is an axis-aligned box in space that contains arcs of the sphere.
type box struct{ low, high position }

var emptyBox = box{
	position{math.Inf(1), math.Inf(1), math.Inf(1)},
	position{math.Inf(-1), math.Inf(-1), math.Inf(-1)},
}

// boxOf is the box of one edge: of its ends, extended by the height of the arc above its chord.
func boxOf(e *edge) box {
	chord := e.to.minus(e.from)
	rise := 1 - math.Sqrt(max(0, 1-chord.dot(chord)/4)) + nearness
	margin := position{rise, rise, rise}
	return box{e.from.lower(e.to).minus(margin), e.from.upper(e.to).plus(margin)}
}

func (p position) lower(q position) position {
	return position{min(p.x, q.x), min(p.y, q.y), min(p.z, q.z)}
}

func (p position) upper(q position) position {
	return position{max(p.x, q.x), max(p.y, q.y), max(p.z, q.z)}
}

func (b *box) with(c *box) box { return box{b.low.lower(c.low), b.high.upper(c.high)} }

func (b *box) meets(c *box) bool {
	return b.low.x <= c.high.x && c.low.x <= b.high.x &&
		b.low.y <= c.high.y && c.low.y <= b.high.y &&
		b.low.z <= c.high.z && c.low.z <= b.high.z
}

// distance is the straight-line distance from p to the box: no arc in it is nearer.
func (b *box) distance(p position) float64 {
	d := b.low.minus(p).upper(p.minus(b.high)).upper(position{})
	return d.length()
}

// A tree is a spatial index of edges. Edges keep their order, in which neighbours are near each other: leaves are
// runs of edges, and each node covers two nodes of the level below.
type tree struct {
	edges  []edge
	levels [][]box // the leaves first
}

const leafEdges = 8

// build creates the tree of edges in the memory of the last one.
func (t *tree) build(edges []edge) {
	t.edges = edges
	n := (len(edges) + leafEdges - 1) / leafEdges
	for level := 0; ; level++ {
		if level == len(t.levels) {
			t.levels = append(t.levels, nil)
		}
		boxes := t.levels[level][:0]
		for i := range n {
			boxes = append(boxes, t.boxAt(level, i))
		}
		t.levels[level] = boxes
		if n <= 1 {
			t.levels = t.levels[:level+1]
			return
		}
		n = (n + 1) / 2
	}
}

func (t *tree) boxAt(level, i int) box {
	b := emptyBox
	if level == 0 {
		for j := i * leafEdges; j < min((i+1)*leafEdges, len(t.edges)); j++ {
			c := boxOf(&t.edges[j])
			b = b.with(&c)
		}
		return b
	}
	below := t.levels[level-1]
	for j := 2 * i; j < min(2*i+2, len(below)); j++ {
		b = b.with(&below[j])
	}
	return b
}

// each calls yield with every edge from the given index on that may meet the box, until yield returns false.
func (t *tree) each(b box, from int, yield func(i int) bool) {
	t.walk(len(t.levels)-1, 0, &b, from, yield)
}

func (t *tree) walk(level, i int, b *box, from int, yield func(i int) bool) bool {
	if (i+1)*leafEdges<<level <= from || i >= len(t.levels[level]) || !t.levels[level][i].meets(b) {
		return true
	}
	if level > 0 {
		return t.walk(level-1, 2*i, b, from, yield) && t.walk(level-1, 2*i+1, b, from, yield)
	}
	for j := max(from, i*leafEdges); j < min((i+1)*leafEdges, len(t.edges)); j++ {
		if !yield(j) {
			return false
		}
	}
	return true
}

// nearest is the distance from p to the nearest edge in metres, or best if that is smaller.
func (t *tree) nearest(p position, best float64) float64 {
	return t.search(len(t.levels)-1, 0, p, best)
}

func (t *tree) search(level, i int, p position, best float64) float64 {
	if level == 0 {
		for j := i * leafEdges; j < min((i+1)*leafEdges, len(t.edges)); j++ {
			best = t.edges[j].metres(p, best)
		}
		return best
	}
	first, second := 2*i, 2*i+1
	below := t.levels[level-1]
	if second == len(below) {
		return t.search(level-1, first, p, best)
	}
	d1, d2 := below[first].distance(p), below[second].distance(p)
	if d2 < d1 {
		first, second, d1, d2 = second, first, d2, d1
	}
	if d1*leastRadius < best {
		best = t.search(level-1, first, p, best)
	}
	if d2*leastRadius < best {
		best = t.search(level-1, second, p, best)
	}
	return best
}
