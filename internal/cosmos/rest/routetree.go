package rest

import "strings"

// A place is one node of the tree of patterns: where a path leads.
type place struct {
	literal []branch // few: a scan is faster than a map
	any     *place
	routes  []*route
}

type branch struct {
	segment string
	to      *place
}

// routes is the table as a tree, so that finding a route costs no allocation.
var routes = grow(table)

func grow(table []route) *place {
	root := &place{}
	for i := range table {
		at := root
		if table[i].pattern != "" {
			for segment := range strings.SplitSeq(table[i].pattern, "/") {
				at = at.step(segment)
			}
		}
		at.routes = append(at.routes, &table[i])
	}
	return root
}

// step finds or adds the child that a segment of a pattern leads to.
func (p *place) step(segment string) *place {
	if segment == "{}" {
		if p.any == nil {
			p.any = &place{}
		}
		return p.any
	}
	if to := p.child(segment); to != nil {
		return to
	}
	to := &place{}
	p.literal = append(p.literal, branch{segment, to})
	return to
}

func (p *place) child(segment string) *place {
	for _, b := range p.literal {
		if b.segment == segment {
			return b.to
		}
	}
	return p.any
}

// descend follows a path; nil if it leads nowhere.
func (p *place) descend(path *path) *place {
	for _, segment := range path.segment[:path.count] {
		if p = p.child(segment); p == nil {
			return nil
		}
	}
	if len(p.routes) == 0 {
		return nil
	}
	return p
}

// serving is the place's route for a verb, nil if it has none.
func (p *place) serving(method string) *route {
	for _, r := range p.routes {
		if r.method == method {
			return r
		}
	}
	return nil
}
