package pipeline

import (
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/filter"
)

// A Prefix is the part of a pipeline that is the same as a find: a filter, a sort, a skip and a limit. A planner can
// answer it with indexes; Rest is the pipeline that remains.
type Prefix struct {
	Match  *filter.Filter // nil if all documents match
	Query  doc.Doc        // Match as a query, empty for all
	Sort   *Sort          // nil for none
	Skip   int64
	Limit  int64 // -1 for none
	Rest   *Pipeline
	Stages int // number of stages that it replaces
}

// Prefix splits the pipeline after its first $match stages, also those behind a $sort, one $sort, and then $skip and
// $limit. The pipeline must not have a Source.
func (p *Pipeline) Prefix() Prefix {
	prefix := Prefix{Limit: -1}
	var matches []*match
	n := 0
scan:
	for ; n < len(p.stages); n++ {
		switch s := p.stages[n].(type) {
		case *match:
			if prefix.Skip > 0 || prefix.Limit >= 0 {
				break scan
			}
			matches = append(matches, s)
		case *sortStage:
			if prefix.Sort != nil || prefix.Skip > 0 || prefix.Limit >= 0 {
				break scan
			}
			prefix.Sort = s.sort
		case *skip:
			if prefix.Limit >= 0 {
				prefix.Limit = max(0, prefix.Limit-s.n)
			}
			prefix.Skip = addCapped(prefix.Skip, s.n)
		case *limitStage:
			if prefix.Limit < 0 || s.n < prefix.Limit {
				prefix.Limit = s.n
			}
		default:
			break scan
		}
	}
	var ok bool
	if prefix.Match, prefix.Query, ok = p.combine(matches); !ok {
		return Prefix{Query: doc.Empty, Limit: -1, Rest: p}
	}
	prefix.Stages = n
	if prefix.Rest = p; n > 0 {
		_, prefix.Rest = p.split(n)
	}
	return prefix
}

// combine joins the filters of all matches. It is not ok if the result is nested more deeply than a query may be.
func (p *Pipeline) combine(matches []*match) (f *filter.Filter, query doc.Doc, ok bool) {
	switch len(matches) {
	case 0:
		return nil, doc.Empty, true
	case 1:
		return matches[0].filter, matches[0].query, true
	}
	var all list
	for _, m := range matches {
		all.add(doc.Object(m.query))
	}
	query, at := beginDoc(nil)
	query = endDoc(doc.AppendElement(query, "$and", all.value()), at)
	f, err := filter.Compile(query, filter.Options{Names: p.names})
	return f, query, err == nil
}
