package rest

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"strconv"
	"time"

	"github.com/mayflydb/mayfly/internal/cosmos/sql/exec"
	"github.com/mayflydb/mayfly/internal/cosmos/sql/plan"
)

// sendMetrics sends the metrics that the client asked for. compiled is the time until the query was planned.
func (e *exchange) sendMetrics(p *plan.Plan, m exec.Metrics, compiled time.Duration) {
	if e.flag(hPopulateMetrics) {
		e.set(outQueryMetrics, string(queryMetrics(m, compiled, e.watch.Elapsed())))
	}
	switch {
	case e.flag(hIndexMetricsV2):
		text, _ := json.Marshal(utilizationV2(p.Indexes))
		e.set(outIndexUtilization, url.PathEscape(string(text)))
	case e.flag(hIndexMetrics):
		text, _ := json.Marshal(utilizationV1(p.Indexes))
		e.set(outIndexUtilization, base64.StdEncoding.EncodeToString(text))
	}
}

// queryMetrics is a list of name=number, separated by semicolons.
func queryMetrics(m exec.Metrics, compiled, total time.Duration) []byte {
	var b []byte
	number := func(name string, f float64, digits int) {
		if len(b) > 0 {
			b = append(b, ';')
		}
		b = append(append(b, name...), '=')
		b = strconv.AppendFloat(b, f, 'f', digits, 64)
	}
	millis := func(name string, d time.Duration) { number(name, float64(d)/float64(time.Millisecond), 2) }
	ratio := 1.0
	if m.Documents > 0 {
		ratio = float64(m.IndexHits) / float64(m.Documents)
	}
	millis("totalExecutionTimeInMs", total)
	millis("queryCompileTimeInMs", compiled)
	number("queryLogicalPlanBuildTimeInMs", 0, 2)
	number("queryPhysicalPlanBuildTimeInMs", 0, 2)
	number("queryOptimizationTimeInMs", 0, 2)
	millis("VMExecutionTimeInMs", m.Execute)
	millis("indexLookupTimeInMs", m.Lookup)
	millis("documentLoadTimeInMs", m.Load)
	number("systemFunctionExecuteTimeInMs", 0, 2)
	number("userFunctionExecuteTimeInMs", 0, 2)
	number("retrievedDocumentCount", float64(m.Documents), 0)
	number("retrievedDocumentSize", float64(m.DocumentBytes), 0)
	number("outputDocumentCount", float64(m.Rows), 0)
	number("outputDocumentSize", float64(m.RowBytes), 0)
	millis("writeOutputTimeInMs", m.Write)
	number("indexUtilizationRatio", ratio, 2)
	return b
}

// A singleIndex and a compositeIndex are entries of the index-utilization header.
type (
	singleIndex struct {
		FilterExpression string `json:"FilterExpression"`
		IndexSpec        string `json:"IndexSpec"`
		FilterPreciseSet bool   `json:"FilterPreciseSet"`
		IndexPreciseSet  bool   `json:"IndexPreciseSet"`
		IndexImpactScore string `json:"IndexImpactScore"`
	}
	compositeIndex struct {
		IndexSpecs       []string `json:"IndexSpecs"`
		IndexPreciseSet  bool     `json:"IndexPreciseSet"`
		IndexImpactScore string   `json:"IndexImpactScore"`
	}
)

func singles(paths []string) []singleIndex {
	out := make([]singleIndex, len(paths))
	for i, path := range paths {
		out[i] = singleIndex{IndexSpec: path, FilterPreciseSet: true, IndexPreciseSet: true, IndexImpactScore: "High"}
	}
	return out
}

func composites(lists [][]string) []compositeIndex {
	out := make([]compositeIndex, len(lists))
	for i, specs := range lists {
		out[i] = compositeIndex{IndexSpecs: specs, IndexPreciseSet: true, IndexImpactScore: "High"}
	}
	return out
}

// utilizationV1 is the first form of the header, which the Go SDK reads.
func utilizationV1(u plan.Utilization) any {
	return struct {
		UtilizedSingleIndexes     []singleIndex
		PotentialSingleIndexes    []singleIndex
		UtilizedCompositeIndexes  []compositeIndex
		PotentialCompositeIndexes []compositeIndex
	}{singles(u.UsedSingle), singles(u.WantedSingle), composites(u.UsedComposite), composites(u.WantedComposite)}
}

// utilizationV2 is the second form, which the JavaScript SDK reads.
func utilizationV2(u plan.Utilization) any {
	type single struct{ IndexSpec string }
	type composite struct{ IndexSpecs []string }
	type indexes struct {
		SingleIndexes    []single
		CompositeIndexes []composite
	}
	list := func(paths []string, lists [][]string) indexes {
		x := indexes{[]single{}, []composite{}}
		for _, path := range paths {
			x.SingleIndexes = append(x.SingleIndexes, single{path})
		}
		for _, specs := range lists {
			x.CompositeIndexes = append(x.CompositeIndexes, composite{specs})
		}
		return x
	}
	return struct{ UtilizedIndexes, PotentialIndexes indexes }{list(u.UsedSingle, u.UsedComposite),
		list(u.WantedSingle, u.WantedComposite)}
}
