package monitor

import (
	"math"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/call"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/query"
	"github.com/mayflydb/mayfly/internal/mongo/schema"
	"github.com/mayflydb/mayfly/internal/store"
)

// ReadScale reads the number by which sizes are divided.
func ReadScale(r *call.Request, field string, v doc.Value) int64 {
	if v.Type == 0 || v.Type == bsoncore.TypeNull {
		return 1
	}
	n, ok := call.WholeOf(v)
	switch {
	case !ok:
		r.Fault(code.WrongType(field, v, "[long, int, decimal, double]"))
	case n < 1 || n > math.MaxInt32:
		r.Fault(code.New(51024, "BSON field 'scale' value must be >= 1, actual value '%d'", n))
	}
	return max(n, 1)
}

// SizeOf counts the living documents of a container, and their bytes.
func SizeOf(r *call.Request, c *catalog.Container) (store.Usage, error) {
	if c == nil || query.ViewOf(c) != nil {
		return store.Usage{}, nil
	}
	v, err := r.Enter(c)
	if err == catalog.ErrNoOwner {
		return store.Usage{}, nil
	}
	if err != nil {
		return store.Usage{}, err
	}
	return r.Node.Store.Usage(r.Context, v)
}

// An indexSize is the size of an index in bytes.
type indexSize struct {
	name  string
	bytes int64
}

// SizesOfIndexes gives the sizes of the indexes of a container, and their sum.
func SizesOfIndexes(
	r *call.Request, c *catalog.Container, documents uint64,
) (list []indexSize, total int64, err error) {
	if c == nil || query.ViewOf(c) != nil {
		return nil, 0, nil
	}
	sizes, err := r.Node.Store.IndexSizes(r.Context, c, documents)
	if err != nil {
		return nil, 0, err
	}
	list = append(list, indexSize{"_id_", int64(sizes[access.Identity])})
	for _, x := range c.State().Named {
		list = append(list, indexSize{x.Name, int64(sizes[x.ID])})
	}
	for _, x := range schema.Specs(c)[len(list):] { // the one on _ts, which has no entries
		name, _ := doc.AsString(doc.Lookup(x, "name"))
		list = append(list, indexSize{name, 0})
	}
	for _, x := range list {
		total += x.bytes
	}
	return list, total, nil
}

// WriteStorageStats writes sizes as collStats and $collStats have them.
func WriteStorageStats(r *call.Request, a *doc.Writer, c *catalog.Container, scale int64) error {
	size, err := SizeOf(r, c)
	if err != nil {
		return err
	}
	indexes, total, err := SizesOfIndexes(r, c, size.Documents)
	if err != nil {
		return err
	}
	building := []string{}
	if c != nil {
		for _, x := range c.State().Named {
			if x.Building {
				building = append(building, x.Name)
			}
		}
	}
	a.Count("size", int64(size.Bytes)/scale)
	a.Count("count", int64(size.Documents))
	if size.Documents > 0 {
		a.Count("avgObjSize", int64(size.Bytes/size.Documents))
	}
	a.Int32("numOrphanDocs", 0)
	a.Count("storageSize", int64(size.Bytes)/scale)
	a.Int32("freeStorageSize", 0)
	a.Bool("capped", false)
	a.Int32("nindexes", len(indexes))
	a.Object("indexDetails")
	for _, x := range indexes {
		a.Object(x.name)
		a.Close()
	}
	a.Close()
	a.Strings("indexBuilds", building)
	a.Count("totalIndexSize", total/scale)
	a.Count("totalSize", (int64(size.Bytes)+total)/scale)
	a.Object("indexSizes")
	for _, x := range indexes {
		a.Count(x.name, x.bytes/scale)
	}
	a.Close()
	a.Count("scaleFactor", scale)
	return nil
}
