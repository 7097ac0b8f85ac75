package metrics

import (
	"context"
	"runtime"
	"strings"
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/mayflydb/mayfly/internal/node"
)

// A reader makes metrics of a node's Reading at each scrape.
type reader struct {
	read func(context.Context) node.Reading

	mu      sync.Mutex
	expired float64 // the highest value that a scrape has had
}

// A fact is a metric without labels that is read at a scrape. A name with the suffix _total makes it a counter, which
// begins at 0 when the node starts and only grows; all others are gauges.
type fact struct {
	name, help string
	value      func(node.Reading) float64
}

// facts lists the metrics that every scrape has.
var facts = []fact{
	{"mayfly_clock_timestamp_seconds", "The time by which documents expire, in seconds since 1970.",
		func(r node.Reading) float64 { return float64(r.Clock.UnixMilli()) / 1000 }},
	{"mayfly_clock_virtual", "1 if the clock is virtual: it moves only on request.",
		func(r node.Reading) float64 { return truth(r.Virtual) }},
	{"mayfly_mongo_cursors", "Open cursors of MongoDB clients.",
		func(r node.Reading) float64 { return float64(r.Mongo.Cursors) }},
	{"mayfly_mongo_change_streams", "Open change streams of MongoDB clients.",
		func(r node.Reading) float64 { return float64(r.Mongo.ChangeStreams) }},
	{"mayfly_mongo_sessions", "Logical sessions of MongoDB clients.",
		func(r node.Reading) float64 { return float64(r.Mongo.Sessions) }},
	{"mayfly_mongo_transactions", "Open multi-document transactions of MongoDB clients.",
		func(r node.Reading) float64 { return float64(r.Mongo.Transactions) }},
	{"mayfly_lifetime_reclaimed_documents_total", "Expired documents whose space was freed.",
		func(r node.Reading) float64 { return float64(r.ReclaimedDocuments) }},
	{"mayfly_lifetime_reclaimed_bytes_total", "Bytes of the bodies of expired documents whose space was freed.",
		func(r node.Reading) float64 { return float64(r.ReclaimedBytes) }},
	{"mayfly_lifetime_reclaimed_entries_total", "Index entries of expired documents whose space was freed.",
		func(r node.Reading) float64 { return float64(r.ReclaimedEntries) }},
	{"mayfly_lifetime_paused", "1 if reclaiming is paused.",
		func(r node.Reading) float64 { return truth(r.Paused) }},
	{
		"mayfly_budget_limit_bytes",
		"Bytes that requests may hold together, 0 for no limit. Small requests are not counted.",
		func(r node.Reading) float64 { return float64(r.Budget.Memory) },
	},
	{
		"mayfly_budget_held_bytes",
		"Bytes that requests hold: bodies, answers, sorts, scripts. Small requests are not counted.",
		func(r node.Reading) float64 { return float64(r.Budget.Used) },
	},
	{"mayfly_budget_waiting", "Requests that wait for memory.",
		func(r node.Reading) float64 { return float64(r.Budget.Waiting) }},
	{"mayfly_budget_queued", "Requests with long work that wait for their turn on a core.",
		func(r node.Reading) float64 { return float64(r.Budget.Queued) }},
	{"mayfly_budget_refused_total", "Requests that were refused because memory or a core did not become free in time.",
		func(r node.Reading) float64 { return float64(r.Budget.Refused) }},
	{"mayfly_storage_refusing_writes", "1 if storage rejects writes at present.",
		func(r node.Reading) float64 { return truth(r.Refusing) }},
	{"mayfly_storage_disk_bytes", "Bytes that the engine holds on disk, 0 in memory.",
		func(r node.Reading) float64 { return float64(r.Engine.DiskBytes) }},
	{"mayfly_storage_memory_bytes", "Bytes of memory that the engine holds for tables and caches.",
		func(r node.Reading) float64 { return float64(r.Engine.MemoryBytes) }},
	{"mayfly_storage_compaction_debt_bytes", "Bytes that the engine still has to compact; an estimate.",
		func(r node.Reading) float64 { return float64(r.Engine.CompactionDebt) }},
	{"mayfly_storage_sublevels", "Sublevels of the engine's newest level. Writes stall when there are many.",
		func(r node.Reading) float64 { return float64(r.Engine.Sublevels) }},
}

// surveyed lists the metrics that scrapes have once the first survey is done.
var surveyed = []fact{
	{"mayfly_databases", "Databases.",
		func(r node.Reading) float64 { return float64(r.Survey.Databases) }},
	{"mayfly_containers", "Containers and collections.",
		func(r node.Reading) float64 { return float64(r.Survey.Containers) }},
	{"mayfly_documents", "Documents that clients can see, in all containers.",
		func(r node.Reading) float64 { return float64(r.Survey.Documents) }},
	{"mayfly_document_bytes", "Bytes of the bodies of these documents.",
		func(r node.Reading) float64 { return float64(r.Survey.Bytes) }},
	{"mayfly_lifetime_backlog_documents", "Expired documents whose space is not freed yet.",
		func(r node.Reading) float64 { return float64(r.Survey.Backlog()) }},
	{"mayfly_lifetime_backlog_bounded", "1 if the backlog is larger than was counted.",
		func(r node.Reading) float64 { return truth(r.Survey.Bounded) }},
	{
		"mayfly_lifetime_lag_seconds",
		"How long the oldest expired document has waited for its space to be freed, by the node's clock.",
		func(r node.Reading) float64 { return r.Lag.Seconds() },
	},
}

// traffic lists the metrics that each API has.
var traffic = []struct {
	name, help string
	value      func(node.Traffic) int64
}{
	{"mayfly_connections", "Open connections, by API.",
		func(t node.Traffic) int64 { return t.Connections }},
	{
		"mayfly_requests_in_flight",
		"Requests that are being answered, by API. Long polls that wait for an event do not count.",
		func(t node.Traffic) int64 { return t.InFlight },
	},
}

// allExpired is how many documents have expired since the start. The backlog may shrink without reclaiming, when an
// expired document is written anew; a counter must not, so allExpired keeps the highest value.
func (x *reader) allExpired(r node.Reading) float64 {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.expired = max(x.expired, float64(r.ReclaimedDocuments)+float64(r.Survey.Backlog()))
	return x.expired
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// Describe sends nothing, because the set of metrics differs between scrapes: that makes the collector an unchecked
// one.
func (x *reader) Describe(chan<- *prometheus.Desc) {}

// Collect sends the metrics of one Reading.
func (x *reader) Collect(out chan<- prometheus.Metric) {
	r := x.read(context.Background())
	for _, f := range facts {
		out <- f.of(r)
	}
	if r.Free != nil {
		out <- fact{"mayfly_storage_free_bytes", "Free bytes of the file system with the data folder.",
			func(r node.Reading) float64 { return float64(*r.Free) }}.of(r)
	}
	if r.Survey != nil {
		for _, f := range surveyed {
			out <- f.of(r)
		}
		out <- fact{"mayfly_lifetime_expired_documents_total",
			"Documents that have expired: those whose space was freed and the present backlog.", x.allExpired}.of(r)
	}
	for _, t := range traffic {
		desc := prometheus.NewDesc(t.name, t.help, []string{"api"}, nil)
		for api, of := range r.Traffic {
			out <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, float64(t.value(of)), api)
		}
	}
	build := prometheus.NewDesc("mayfly_build_info", "Always 1; the labels are the versions of mayfly and of its Go.",
		[]string{"version", "go_version"}, nil)
	out <- prometheus.MustNewConstMetric(build, prometheus.GaugeValue, 1, r.Version, runtime.Version())
}

func (f fact) of(r node.Reading) prometheus.Metric {
	kind := prometheus.GaugeValue
	if strings.HasSuffix(f.name, "_total") {
		kind = prometheus.CounterValue
	}
	return prometheus.MustNewConstMetric(prometheus.NewDesc(f.name, f.help, nil, nil), kind, f.value(r))
}
