package command

import (
	"hash/maphash"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/plan"
	"github.com/mayflydb/mayfly/internal/store"
)

// A stranger shows the documents of a NoSQL container to one reader: their id is their _id too. It
// refuses to show two documents of one _id, which partitions may have.
type stranger struct {
	unique bool // the id is the partition key
	ids    map[[2]uint64]uint64
	room   []byte
}

// maxStrangerIDs bounds how many documents one reader may see of a container that may have an id
// twice: each takes some 40 bytes of memory.
const maxStrangerIDs = 2_000_000

// idPath is the partition key path with which an id is unique in its container.
const idPath = "/id"

var idSeeds = [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}

func newStranger(c *catalog.Container) *stranger {
	paths := c.State().Partition.Paths
	return &stranger{unique: len(paths) == 1 && paths[0] == idPath, ids: map[[2]uint64]uint64{}}
}

// show gives the document as this door shows it, valid until the next one.
func (x *stranger) show(r *request, v catalog.View, d store.Document) (doc.Doc, error) {
	id := doc.Lookup(d.Body, "id")
	if !x.unique {
		if err := x.check(r, v, d.Number, id); err != nil {
			return nil, err
		}
	}
	out := append(x.room[:0], 0, 0, 0, 0)
	out = doc.AppendElement(out, "_id", id)
	for name, v := range doc.Members(d.Body) {
		if name != "_id" {
			out = doc.AppendElement(out, name, v)
		}
	}
	out = append(out, 0)
	setLength(out, 0)
	x.room = out
	return out, nil
}

// check fails when another document that lives has the same id.
func (x *stranger) check(r *request, v catalog.View, number uint64, id doc.Value) error {
	key := [2]uint64{maphash.Bytes(idSeeds[0], id.Data), maphash.Bytes(idSeeds[1], id.Data)}
	switch other, seen := x.ids[key]; {
	case !seen && len(x.ids) >= maxStrangerIDs:
		return code.New(code.QueryExceededMemoryLimitNoDiskUseAllowed, "the collection '%s.%s' is a Cosmos DB for NoSQL container whose ids may not be unique. "+
			"At most %d of its documents can be read by one command.", v.Container.Database.Name, v.Name, maxStrangerIDs)
	case seen && other != number:
		err := r.s.o.Store.Find(r.ctx, v, other, func(store.Document) error { return nil })
		if !isNotFound(err) {
			return cmpOr(err, code.New(code.CommandNotSupported, "The id %s is not unique: documents of several partitions of the Cosmos DB for NoSQL container '%s.%s' have it, "+
				"so that they cannot be shown as documents with an _id.", code.Show(id), v.Container.Database.Name, v.Name))
		}
	}
	x.ids[key] = number
	return nil
}

// foreignPlan narrows a plan over a NoSQL container down to one id, if that is what is asked for
// and ids are indexed.
func (r *request) foreignPlan(v catalog.View, q *selection, p *plan.Plan) *plan.Plan {
	id, ok := plan.Point(q.filter)
	path := access.Path{{Name: "id"}}
	if _, isString := doc.AsString(id); !ok || !isString || !r.s.o.Store.Schema(v).Indexed(path) {
		return p
	}
	narrow := *p
	bound := &access.Bound{Value: id}
	narrow.Access.Of = &access.Filter{Set: &access.Range{Path: path, Low: bound, High: bound}}
	return &narrow
}
