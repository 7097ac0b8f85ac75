package monitor

import (
	"slices"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/call"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/pipeline"
	"github.com/mayflydb/mayfly/internal/mongo/query"
)

// CollStats is the stage $collStats.
// https://www.mongodb.com/docs/v7.0/reference/operator/aggregation/collStats/
func (m *Monitor) CollStats(r *call.Request, arg doc.Value) pipeline.Rows {
	return func(yield func(doc.Doc, error) bool) { yield(m.collStats(r, arg)) }
}

// CheckCollStats checks the argument of the stage before anything is read.
func CheckCollStats(r *call.Request, arg doc.Value) error {
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
			ReadScale(r, collStatsScale, doc.Lookup(options, "scale"))
		}
	}
	return r.Err
}

const collStatsScale = "$collStats.storageStats.scale"

func (m *Monitor) collStats(r *call.Request, arg doc.Value) (doc.Doc, error) {
	if err := CheckCollStats(r, arg); err != nil { // nobody has checked it yet if it is in another stage's pipeline
		return nil, err
	}
	d, _ := doc.AsDoc(arg)
	c, name, err := aggregatedContainer(r)
	if err != nil {
		return nil, err
	}
	a := doc.NewWriter(nil)
	a.String("ns", r.DB+"."+name)
	a.String("host", r.Client.Address())
	a.Date("localTime", r.At.UnixMilli())
	for _, part := range collStatsParts {
		v := doc.Lookup(d, part)
		if v.Type == 0 {
			continue
		}
		options, _ := doc.AsDoc(v)
		if (part == "storageStats" || part == "count") && m.Profiler.Has(r.DB, name) {
			count, size := m.Profiler.size(r.DB)
			scale := max(1, ReadScale(r, collStatsScale, doc.Lookup(options, "scale")))
			writeProfileStats(a, part, count, size, scale)
			continue
		}
		if c == nil && (part == "storageStats" || part == "count") {
			return nil, code.New(code.NamespaceNotFound,
				"Unable to retrieve %s in $collStats stage :: caused by :: Collection [%s.%s] not found.",
				part, r.DB, name)
		}
		if err := m.writeCollStats(r, a, c, name, part, options); err != nil {
			return nil, err
		}
	}
	return a.End(), nil
}

// collStatsParts are the parts of the answer of $collStats, in their order.
// mongodb/mongo: src/mongo/db/pipeline/document_source_coll_stats.cpp
var collStatsParts = []string{"latencyStats", "storageStats", "count", "queryExecStats"}

// writeCollStatsPart writes one of them.
func (m *Monitor) writeCollStats(
	r *call.Request, a *doc.Writer, c *catalog.Container, name, part string, options doc.Doc,
) error {
	switch part {
	case "latencyStats":
		if call.IsTrue(doc.Lookup(options, "histograms")) {
			return code.Unsupported("the option histograms of $collStats")
		}
		writeLatencies(a, m.Usage.all()[containerName{r.DB, name}])
		return nil
	case "count":
		size, err := SizeOf(r, c)
		a.Count("count", int64(size.Documents))
		return err
	case "storageStats":
		scale := ReadScale(r, collStatsScale, doc.Lookup(options, "scale"))
		if r.Err != nil {
			return r.Err
		}
		a.Object("storageStats")
		defer a.Close()
		return WriteStorageStats(r, a, c, scale)
	}
	return code.Unsupported("queryExecStats of $collStats")
}

// writeLatencies writes how many requests a container had, and the microseconds that they took.
func writeLatencies(a *doc.Writer, t usageTimes) {
	kinds := map[string][]string{
		"reads": {"queries", "getmore"}, "writes": {"insert", "update", "remove"}, "commands": {"commands"},
	}
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
func aggregatedContainer(r *call.Request) (*catalog.Container, string, error) {
	name, _ := doc.AsString(r.Arg)
	if r.Name == "getMore" {
		name = r.String("collection")
	}
	c, err := r.Find(r.DB, name)
	if c != nil && query.ViewOf(c) != nil {
		return nil, name, code.New(code.CommandNotSupportedOnView,
			"Namespace %s.%s is a view, not a collection", r.DB, name)
	}
	return c, name, err
}
