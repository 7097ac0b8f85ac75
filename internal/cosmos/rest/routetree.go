package rest

import "strings"

// A routeNode is a node of the route tree.
type routeNode struct {
	literal []branch // so few that a scan is faster than a map
	any     *routeNode
	routes  []*route
}

type branch struct {
	segment string
	to      *routeNode
}

// routes is the table as a tree, so that routing needs no allocation.
var routes = buildRoutes(table)

func buildRoutes(table []route) *routeNode {
	root := &routeNode{}
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

// step finds or adds the child for a segment of a pattern.
func (p *routeNode) step(segment string) *routeNode {
	if segment == "{}" {
		if p.any == nil {
			p.any = &routeNode{}
		}
		return p.any
	}
	if to := p.child(segment); to != nil {
		return to
	}
	to := &routeNode{}
	p.literal = append(p.literal, branch{segment, to})
	return to
}

func (p *routeNode) child(segment string) *routeNode {
	for _, b := range p.literal {
		if b.segment == segment {
			return b.to
		}
	}
	return p.any
}

// find finds the node of a path, or nil.
func (p *routeNode) find(path *path) *routeNode {
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

// route is the route of the node for a method, or nil.
func (p *routeNode) route(method string) *route {
	for _, r := range p.routes {
		if r.method == method {
			return r
		}
	}
	return nil
}
