package monitor

import (
	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/call"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/pipeline"
	"github.com/mayflydb/mayfly/internal/mongo/schema"
)

// IndexStats is the stage $indexStats.
// https://www.mongodb.com/docs/v7.0/reference/operator/aggregation/indexStats/
func (m *Monitor) IndexStats(r *call.Request, arg doc.Value) pipeline.Rows {
	return func(yield func(doc.Doc, error) bool) {
		if d, ok := doc.AsDoc(arg); !ok || !doc.IsEmpty(d) {
			yield(nil, code.New(28803, "The $indexStats stage specification must be an empty object"))
			return
		}
		c, _, err := aggregatedContainer(r)
		if err != nil {
			yield(nil, err)
			return
		}
		if c == nil {
			return
		}
		for _, spec := range schema.Specs(c) {
			if !yield(m.indexStats(r, c, spec), nil) {
				return
			}
		}
	}
}

func (m *Monitor) indexStats(r *call.Request, c *catalog.Container, spec doc.Doc) doc.Doc {
	name, _ := doc.AsString(doc.Lookup(spec, "name"))
	var ops int64
	building := false
	if name == "_id_" {
		ops = r.Node.UsesOf(c).Of(access.Identity).Load()
	}
	for _, x := range c.State().Named {
		if x.Name == name {
			ops, building = r.Node.UsesOf(c).Of(x.ID).Load(), x.Building
		}
	}
	a := doc.NewWriter(nil)
	a.String("name", name)
	a.Value("key", doc.Lookup(spec, "key"))
	a.String("host", r.Client.Address())
	a.Object("accesses")
	a.Int64("ops", ops)
	a.Date("since", m.Started.UnixMilli())
	a.Close()
	a.Doc("spec", spec)
	if building {
		a.Bool("building", true)
	}
	return a.End()
}
