package command

import (
	"math"
	"slices"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/pipeline"
	"github.com/mayflydb/mayfly/internal/mongo/query"
	"github.com/mayflydb/mayfly/internal/store"
)

func collStats(r *request, a *answer) error {
	name := r.collection()
	scale := readScale(r, "collStats.scale", r.get("scale"))
	if r.err != nil {
		return r.err
	}
	c, err := r.Find(r.db, name)
	if err != nil {
		return err
	}
	if c != nil && query.ViewOf(c) != nil {
		return code.New(code.CommandNotSupportedOnView, "Namespace %s.%s is a view, not a collection", r.db, name)
	}
	a.String("ns", r.db+"."+name)
	return writeStorageStats(r, &a.Writer, c, scale)
}

// readScale reads the number by which sizes are divided.
func readScale(r *request, field string, v doc.Value) int64 {
	if v.Type == 0 || v.Type == bsoncore.TypeNull {
		return 1
	}
	n, ok := wholeOf(v)
	switch {
	case !ok:
		r.fault(code.WrongType(field, v, "[long, int, decimal, double]"))
	case n < 1 || n > math.MaxInt32:
		r.fault(code.New(51024, "BSON field 'scale' value must be >= 1, actual value '%d'", n))
	}
	return max(n, 1)
}

// sizeOfContainer counts the living documents of a container, and their bytes.
func sizeOfContainer(r *request, c *catalog.Container) (store.Usage, error) {
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
	return r.s.o.Store.Usage(r.Context, v)
}

// An indexSize is the size of an index in bytes.
type indexSize struct {
	name  string
	bytes int64
}

// sizesOfIndexes gives the sizes of the indexes of a container, and their sum.
func sizesOfIndexes(r *request, c *catalog.Container, documents uint64) (list []indexSize, total int64, err error) {
	if c == nil || query.ViewOf(c) != nil {
		return nil, 0, nil
	}
	sizes, err := r.s.o.Store.IndexSizes(c, documents)
	if err != nil {
		return nil, 0, err
	}
	list = append(list, indexSize{"_id_", int64(sizes[access.Identity])})
	for _, x := range c.State().Named {
		list = append(list, indexSize{x.Name, int64(sizes[x.ID])})
	}
	for _, x := range indexSpecs(c)[len(list):] { // the one on _ts, which has no entries
		name, _ := doc.AsString(doc.Lookup(x, "name"))
		list = append(list, indexSize{name, 0})
	}
	for _, x := range list {
		total += x.bytes
	}
	return list, total, nil
}

// writeStorageStats writes sizes as collStats and $collStats have them.
func writeStorageStats(r *request, a *doc.Writer, c *catalog.Container, scale int64) error {
	size, err := sizeOfContainer(r, c)
	if err != nil {
		return err
	}
	indexes, total, err := sizesOfIndexes(r, c, size.Documents)
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

// collStatsRows is the stage $collStats.
// https://www.mongodb.com/docs/v7.0/reference/operator/aggregation/collStats/
func collStatsRows(r *request, arg doc.Value) pipeline.Rows {
	return func(yield func(doc.Doc, error) bool) { yield(collStatsRow(r, arg)) }
}

// checkCollStats checks the argument of the stage before anything is read.
func checkCollStats(r *request, arg doc.Value) error {
	d, ok := doc.AsDoc(arg)
	if !ok {
		return code.New(5447000, "$collStats must take a nested object but found: $collStats: %s", code.Show(arg))
	}
	for part, v := range doc.Members(d) {
		if !slices.Contains(collStatsParts, part) {
			return code.New(code.UnknownFieldOfCommand, "BSON field '$collStats.%s' is an unknown field.", part)
		}
		options, ok := doc.AsDoc(v)
		if !ok {
			return code.WrongType("$collStats."+part, v, "object")
		}
		if part == "storageStats" {
			readScale(r, collStatsScale, doc.Lookup(options, "scale"))
		}
	}
	return r.err
}

const collStatsScale = "$collStats.storageStats.scale"

func collStatsRow(r *request, arg doc.Value) (doc.Doc, error) {
	if err := checkCollStats(r, arg); err != nil { // nobody has checked it yet if it is in another stage's pipeline
		return nil, err
	}
	d, _ := doc.AsDoc(arg)
	c, name, err := aggregatedContainer(r)
	if err != nil {
		return nil, err
	}
	a := doc.NewWriter(nil)
	a.String("ns", r.db+"."+name)
	a.String("host", addressOf(r))
	a.Date("localTime", r.At.UnixMilli())
	for _, part := range collStatsParts {
		v := doc.Lookup(d, part)
		if v.Type == 0 {
			continue
		}
		options, _ := doc.AsDoc(v)
		if c == nil && (part == "storageStats" || part == "count") {
			return nil, code.New(code.NamespaceNotFound,
				"Unable to retrieve %s in $collStats stage :: caused by :: Collection [%s.%s] not found.", part, r.db, name)
		}
		if err := writeCollStatsPart(r, a, c, name, part, options); err != nil {
			return nil, err
		}
	}
	return a.End(), nil
}

// collStatsParts are the parts of the answer of $collStats, in their order.
// mongodb/mongo: src/mongo/db/pipeline/document_source_coll_stats.cpp
var collStatsParts = []string{"latencyStats", "storageStats", "count", "queryExecStats"}

// writeCollStatsPart writes one of them.
func writeCollStatsPart(r *request, a *doc.Writer, c *catalog.Container, name, part string, options doc.Doc) error {
	switch part {
	case "latencyStats":
		if isTrue(doc.Lookup(options, "histograms")) {
			return code.Unsupported("the option histograms of $collStats")
		}
		writeLatencies(a, r.s.usage.all()[containerName{r.db, name}])
		return nil
	case "count":
		size, err := sizeOfContainer(r, c)
		a.Count("count", int64(size.Documents))
		return err
	case "storageStats":
		scale := readScale(r, collStatsScale, doc.Lookup(options, "scale"))
		if r.err != nil {
			return r.err
		}
		a.Object("storageStats")
		defer a.Close()
		return writeStorageStats(r, a, c, scale)
	}
	return code.Unsupported("queryExecStats of $collStats")
}

// writeLatencies writes how many requests a container had, and the microseconds that they took.
func writeLatencies(a *doc.Writer, t usageTimes) {
	kinds := map[string][]string{"reads": {"queries", "getmore"}, "writes": {"insert", "update", "remove"}, "commands": {"commands"}, "transactions": nil}
	a.Object("latencyStats")
	for _, group := range []string{"reads", "writes", "commands", "transactions"} {
		var ops, micros int64
		for i, kind := range usageKinds {
			for _, k := range kinds[group] {
				if k == kind {
					ops, micros = ops+t.count[i], micros+t.took[i].Microseconds()
				}
			}
		}
		a.Object(group)
		a.Int64("latency", micros)
		a.Int64("ops", ops)
		a.Close()
	}
	a.Close()
}

// aggregatedContainer is the container of the aggregate that this request starts, or continues as getMore.
func aggregatedContainer(r *request) (*catalog.Container, string, error) {
	name, _ := doc.AsString(r.arg)
	if r.Name == "getMore" {
		name = r.string("collection")
	}
	c, err := r.Find(r.db, name)
	if c != nil && query.ViewOf(c) != nil {
		return nil, name, code.New(code.CommandNotSupportedOnView,
			"Namespace %s.%s is a view, not a collection", r.db, name)
	}
	return c, name, err
}
