package command

import (
	"hash/maphash"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/plan"
)

// A nosqlView shows one reader the documents of a container that the API for NoSQL has created: their id becomes their
// _id. An id is unique only within its partition, so the view refuses to show a second document with the same _id.
type nosqlView struct {
	unique bool // the id is the partition key
	ids    map[[2]uint64]uint64
	buf    []byte // of the last document
}

// maxNosqlIDs bounds how many documents one reader may see of a container whose ids may not be unique, because the view
// remembers them: each takes some 40 bytes of memory.
const maxNosqlIDs = 2_000_000

// idPath is the partition key path that makes ids unique in their container.
const idPath = "/id"

var idSeeds = [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}

func newNosqlView(c *catalog.Container) *nosqlView {
	paths := c.State().Partition.Paths
	return &nosqlView{unique: len(paths) == 1 && paths[0] == idPath, ids: map[[2]uint64]uint64{}}
}

// show gives a document as MongoDB has it. It is valid until the next call.
func (x *nosqlView) show(r *request, v catalog.View, d access.Document) (doc.Doc, error) {
	id := doc.Lookup(d.Body, "id")
	if !x.unique {
		if err := x.check(r, v, d.Number, id); err != nil {
			return nil, err
		}
	}
	out := append(x.buf[:0], 0, 0, 0, 0)
	out = doc.AppendElement(out, "_id", id)
	for name, v := range doc.Members(d.Body) {
		if name != "_id" {
			out = doc.AppendElement(out, name, v)
		}
	}
	out = append(out, 0)
	setLength(out, 0)
	x.buf = out
	return out, nil
}

// check fails if another living document has the same id.
func (x *nosqlView) check(r *request, v catalog.View, number uint64, id doc.Value) error {
	key := [2]uint64{maphash.Bytes(idSeeds[0], id.Data), maphash.Bytes(idSeeds[1], id.Data)}
	switch other, seen := x.ids[key]; {
	case !seen && len(x.ids) >= maxNosqlIDs:
		return code.New(code.QueryExceededMemoryLimitNoDiskUseAllowed,
			"the collection '%s.%s' is a Cosmos DB for NoSQL container whose ids may not be unique. "+
				"At most %d of its documents can be read by one command.",
			v.Container.Database.Name, v.Name, maxNosqlIDs)
	case seen && other != number:
		err := r.s.o.Store.Find(r.ctx, v, other, func(access.Document) error { return nil })
		if !isNotFound(err) {
			return cmpOr(err, code.New(code.CommandNotSupported, "The id %s is not unique: documents of several partitions "+
				"of the Cosmos DB for NoSQL container '%s.%s' have it, so they cannot be shown as documents with an _id.",
				code.Show(id), v.Container.Database.Name, v.Name))
		}
	}
	x.ids[key] = number
	return nil
}

// nosqlPlan narrows a plan over a container of the API for NoSQL to one id, if the query selects one and ids are
// indexed.
func (r *request) nosqlPlan(v catalog.View, q *selection, p *plan.Plan) *plan.Plan {
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
