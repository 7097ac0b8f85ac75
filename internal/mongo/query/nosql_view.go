package query

import (
	"cmp"
	"hash/maphash"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/plan"
	"github.com/mayflydb/mayfly/internal/mongo/session"
)

// A nosqlView shows the documents of a NoSQL container to one reader: their id is their _id too. It
// refuses to show two documents of one _id, which partitions may have.
type nosqlView struct {
	unique bool // the id is the partition key
	ids    map[[2]uint64]uint64
	room   []byte
}

// maxNosqlIDs bounds how many documents one reader may see of a container that may have an id
// twice: each takes some 40 bytes of memory.
const maxNosqlIDs = 2_000_000

// idPath is the partition key path with which an id is unique in its container.
const idPath = "/id"

var idSeeds = [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}

func newNosqlView(c *catalog.Container) *nosqlView {
	paths := c.State().Partition.Paths
	return &nosqlView{unique: len(paths) == 1 && paths[0] == idPath, ids: map[[2]uint64]uint64{}}
}

// show gives the document as this API shows it, valid until the next one.
func (x *nosqlView) show(o *session.Operation, v catalog.View, d access.Document) (doc.Doc, error) {
	id := doc.Lookup(d.Body, "id")
	if !x.unique {
		if err := x.check(o, v, d.Number, id); err != nil {
			return nil, err
		}
	}
	start, out := bsoncore.AppendDocumentStart(x.room[:0])
	out = doc.AppendElement(out, "_id", id)
	for name, v := range doc.Members(d.Body) {
		if name != "_id" {
			out = doc.AppendElement(out, name, v)
		}
	}
	out, _ = bsoncore.AppendDocumentEnd(out, start)
	x.room = out
	return out, nil
}

// check fails when another document that lives has the same id.
func (x *nosqlView) check(o *session.Operation, v catalog.View, number uint64, id doc.Value) error {
	// 128 bits of hash stand for the id: less memory than the ids, and no collision in practice.
	key := [2]uint64{maphash.Bytes(idSeeds[0], id.Data), maphash.Bytes(idSeeds[1], id.Data)}
	switch other, seen := x.ids[key]; {
	case !seen && len(x.ids) >= maxNosqlIDs:
		return code.New(code.QueryExceededMemoryLimitNoDiskUseAllowed,
			"the collection '%s.%s' is a Cosmos DB for NoSQL container whose ids may not be unique. "+
				"At most %d of its documents can be read by one command.", v.Container.Database.Name, v.Name,
			maxNosqlIDs)
	case seen && other != number:
		// The other one may be gone by now, deleted and created again in another partition. That is no conflict.
		now, err := o.Enter(v.Container)
		if err == nil {
			err = o.Node.Store.Find(o.Context, now, other, func(access.Document) error { return nil })
		}
		if fault.KindOf(err) != fault.NotFound {
			duplicate := code.New(code.CommandNotSupported,
				"The id %s is not unique: documents of several partitions of the Cosmos DB for NoSQL container "+
					"'%s.%s' have it, so that they cannot be shown as documents with an _id.",
				code.Show(id), v.Container.Database.Name, v.Name)
			return cmp.Or(err, error(duplicate))
		}
	}
	x.ids[key] = number
	return nil
}

// nosqlPlan narrows a plan over a NoSQL container down to one id, if that is what is asked for
// and ids are indexed.
func nosqlPlan(o *session.Operation, v catalog.View, q *Selection, p *plan.Plan) *plan.Plan {
	id, ok := plan.Point(q.Filter)
	path := access.Path{{Name: "id"}}
	if _, isString := doc.AsString(id); !ok || !isString || !o.Node.Store.Schema(v).Indexed(path) {
		return p
	}
	narrow := *p
	bound := &access.Bound{Value: id}
	narrow.Access.Of = &access.Filter{Set: &access.Range{Path: path, Low: bound, High: bound}}
	return &narrow
}
