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
	"github.com/mayflydb/mayfly/internal/store"
)

func collStats(r *request, a *answer) error {
	name := r.collection()
	scale := r.scale("collStats.scale", r.get("scale"))
	if r.err != nil {
		return r.err
	}
	c, err := r.find(r.db, name)
	if err != nil {
		return err
	}
	if c != nil && viewOf(c) != nil {
		return code.New(code.CommandNotSupportedOnView, "Namespace %s.%s is a view, not a collection", r.db, name)
	}
	a.string("ns", r.db+"."+name)
	return r.storageStats(a, c, scale)
}

// scale reads the number by which sizes are divided.
func (r *request) scale(field string, v doc.Value) int64 {
	if v.Type == 0 || v.Type == bsoncore.TypeNull {
		return 1
	}
	n, ok := wholeOf(v)
	switch {
	case !ok:
		r.fault(wrongTypeOf(field, v, "[long, int, decimal, double]"))
	case n < 1 || n > math.MaxInt32:
		r.fault(code.New(51024, "BSON field 'scale' value must be >= 1, actual value '%d'", n))
	}
	return max(n, 1)
}

// sizeOf counts the living documents of a container, and their bytes.
func (r *request) sizeOf(c *catalog.Container) (store.Usage, error) {
	if c == nil || viewOf(c) != nil {
		return store.Usage{}, nil
	}
	v, err := r.enter(c)
	if err == catalog.ErrNoOwner {
		return store.Usage{}, nil
	}
	if err != nil {
		return store.Usage{}, err
	}
	return r.s.o.Store.Usage(r.ctx, v)
}

// An indexSize is the size of an index in bytes.
type indexSize struct {
	name  string
	bytes int64
}

// indexSizes gives the sizes of the indexes of a container, and their sum.
func (r *request) indexSizes(c *catalog.Container, documents uint64) (list []indexSize, total int64, err error) {
	if c == nil || viewOf(c) != nil {
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

// storageStats writes sizes as collStats and $collStats have them.
func (r *request) storageStats(a *answer, c *catalog.Container, scale int64) error {
	size, err := r.sizeOf(c)
	if err != nil {
		return err
	}
	indexes, total, err := r.indexSizes(c, size.Documents)
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
	a.count("size", int64(size.Bytes)/scale)
	a.count("count", int64(size.Documents))
	if size.Documents > 0 {
		a.count("avgObjSize", int64(size.Bytes/size.Documents))
	}
	a.int32("numOrphanDocs", 0)
	a.count("storageSize", int64(size.Bytes)/scale)
	a.int32("freeStorageSize", 0)
	a.bool("capped", false)
	a.int32("nindexes", len(indexes))
	a.object("indexDetails")
	for _, x := range indexes {
		a.object(x.name)
		a.close()
	}
	a.close()
	a.strings("indexBuilds", building)
	a.count("totalIndexSize", total/scale)
	a.count("totalSize", (int64(size.Bytes)+total)/scale)
	a.object("indexSizes")
	for _, x := range indexes {
		a.count(x.name, x.bytes/scale)
	}
	a.close()
	a.count("scaleFactor", scale)
	return nil
}

// collStatsRows is the stage $collStats.
// https://www.mongodb.com/docs/v7.0/reference/operator/aggregation/collStats/
func collStatsRows(r *request, arg doc.Value) pipeline.Rows {
	return func(yield func(doc.Doc, error) bool) { yield(r.collStatsRow(arg)) }
}

// checkCollStats checks the argument of the stage before anything is read.
func (r *request) checkCollStats(arg doc.Value) error {
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
			return wrongTypeOf("$collStats."+part, v, "object")
		}
		if part == "storageStats" {
			r.scale(collStatsScale, doc.Lookup(options, "scale"))
		}
	}
	return r.err
}

const collStatsScale = "$collStats.storageStats.scale"

func (r *request) collStatsRow(arg doc.Value) (doc.Doc, error) {
	if err := r.checkCollStats(arg); err != nil { // nobody has checked it yet if it is in another stage's pipeline
		return nil, err
	}
	d, _ := doc.AsDoc(arg)
	c, name, err := r.aggregated()
	if err != nil {
		return nil, err
	}
	a := newAnswer(nil)
	a.string("ns", r.db+"."+name)
	a.string("host", r.self())
	a.date("localTime", r.at.UnixMilli())
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
		if err := r.collStatsPart(a, c, name, part, options); err != nil {
			return nil, err
		}
	}
	return a.end(), nil
}

// collStatsParts are the parts of the answer of $collStats, in their order.
// mongodb/mongo: src/mongo/db/pipeline/document_source_coll_stats.cpp
var collStatsParts = []string{"latencyStats", "storageStats", "count", "queryExecStats"}

// collStatsPart writes one part.
func (r *request) collStatsPart(a *answer, c *catalog.Container, name, part string, options doc.Doc) error {
	switch part {
	case "latencyStats":
		if isTrue(doc.Lookup(options, "histograms")) {
			return code.Unsupported("the option histograms of $collStats")
		}
		a.latencies(r.s.usage.all()[containerName{r.db, name}])
		return nil
	case "count":
		size, err := r.sizeOf(c)
		a.count("count", int64(size.Documents))
		return err
	case "storageStats":
		scale := r.scale(collStatsScale, doc.Lookup(options, "scale"))
		if r.err != nil {
			return r.err
		}
		a.object("storageStats")
		defer a.close()
		return r.storageStats(a, c, scale)
	}
	return code.Unsupported("queryExecStats of $collStats")
}

// latencies writes how many requests there were to a container, and how many microseconds they took.
func (a *answer) latencies(t usageTimes) {
	kinds := map[string][]string{
		"reads": {"queries", "getmore"}, "writes": {"insert", "update", "remove"}, "commands": {"commands"}, "transactions": nil,
	}
	a.object("latencyStats")
	for _, group := range []string{"reads", "writes", "commands", "transactions"} {
		var ops, micros int64
		for i, kind := range usageKinds {
			for _, k := range kinds[group] {
				if k == kind {
					ops, micros = ops+t.count[i], micros+t.took[i].Microseconds()
				}
			}
		}
		a.object(group)
		a.int64("latency", micros)
		a.int64("ops", ops)
		a.close()
	}
	a.close()
}

// aggregated is the container of the aggregate that this request starts, or continues as getMore.
func (r *request) aggregated() (*catalog.Container, string, error) {
	name, _ := doc.AsString(r.arg)
	if r.name == "getMore" {
		name = r.string("collection")
	}
	c, err := r.find(r.db, name)
	if c != nil && viewOf(c) != nil {
		return nil, name, code.New(code.CommandNotSupportedOnView,
			"Namespace %s.%s is a view, not a collection", r.db, name)
	}
	return c, name, err
}
