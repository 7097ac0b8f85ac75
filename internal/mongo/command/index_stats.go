package command

import (
	"sync"
	"sync/atomic"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/pipeline"
	"github.com/mayflydb/mayfly/internal/mongo/plan"
)

// indexUses counts how often plans have used each index of a container since the server started. The number of a
// dropped index is never given to another one.
type indexUses struct{ counts sync.Map } // access.Named.Index -> *atomic.Int64

func (u *indexUses) of(index uint32) *atomic.Int64 {
	n, ok := u.counts.Load(index)
	if !ok {
		n, _ = u.counts.LoadOrStore(index, new(atomic.Int64))
	}
	return n.(*atomic.Int64)
}

func (s *Server) usesOf(c *catalog.Container) *indexUses {
	u, ok := s.uses.Load(c.ID)
	if !ok {
		u, _ = s.uses.LoadOrStore(c.ID, new(indexUses))
	}
	return u.(*indexUses)
}

// used counts a plan that is about to be executed.
func (s *Server) used(c *catalog.Container, p *plan.Plan) {
	for _, index := range p.Indexes() {
		s.usesOf(c).of(index).Add(1)
	}
}

// indexStatsRows is the stage $indexStats.
// https://www.mongodb.com/docs/v7.0/reference/operator/aggregation/indexStats/
func indexStatsRows(r *request, arg doc.Value) pipeline.Rows {
	return func(yield func(doc.Doc, error) bool) {
		if d, ok := doc.AsDoc(arg); !ok || !doc.IsEmpty(d) {
			yield(nil, code.New(28803, "The $indexStats stage specification must be an empty object"))
			return
		}
		c, _, err := r.aggregated()
		if err != nil {
			yield(nil, err)
			return
		}
		if c == nil {
			return
		}
		for _, spec := range indexSpecs(c) {
			if !yield(r.indexStats(c, spec), nil) {
				return
			}
		}
	}
}

func (r *request) indexStats(c *catalog.Container, spec doc.Doc) doc.Doc {
	name, _ := doc.AsString(doc.Lookup(spec, "name"))
	var ops int64
	building := false
	if name == "_id_" {
		ops = r.s.usesOf(c).of(access.Identity).Load()
	}
	for _, x := range c.State().Named {
		if x.Name == name {
			ops, building = r.s.usesOf(c).of(x.ID).Load(), x.Building
		}
	}
	a := newAnswer(nil)
	a.string("name", name)
	a.value("key", doc.Lookup(spec, "key"))
	a.string("host", r.self())
	a.object("accesses")
	a.int64("ops", ops)
	a.date("since", r.s.started.UnixMilli())
	a.close()
	a.doc("spec", spec)
	if building {
		a.bool("building", true)
	}
	return a.end()
}
