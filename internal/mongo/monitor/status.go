package monitor

import (
	"maps"
	"os"
	"runtime"
	"slices"
	"time"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/call"
	"github.com/mayflydb/mayfly/internal/mongo/query"
)

// Status is what a Monitor does not know of its server, for serverStatus.
type Status struct {
	Version                    string // of MongoDB
	Current, Active, Available int    // connections
	Readers, Writers           int    // of Active, by what they do with documents
	Traffic                    Traffic
	Set                        func(*doc.Writer) // writes the section repl; nil for a stand-alone server
	Created                    int64             // connections since the start
	Awaiting                   int64             // hellos that wait for a change of the topology
	Reclaimed                  int64             // documents since the start
}

// Sections writes serverStatus: all sections that the client does not turn off.
// https://www.mongodb.com/docs/v7.0/reference/command/serverStatus/
func (m *Monitor) Sections(r *call.Request, a *doc.Writer, x *Status) {
	host, _ := os.Hostname()
	uptime := m.Node.Uptime.Elapsed()
	a.String("host", host)
	a.String("version", x.Version)
	process := "mayfly"
	if m.Node.Shares {
		process = "mongos" // tools look for it
	}
	a.String("process", process)
	a.String("service", "mayfly")
	a.Int64("pid", int64(os.Getpid()))
	a.Double("uptime", float64(int64(uptime.Seconds())))
	a.Int64("uptimeMillis", uptime.Milliseconds())
	a.Int64("uptimeEstimate", int64(uptime.Seconds()))
	a.Date("localTime", r.At.UnixMilli())
	for _, section := range []struct {
		name  string
		write func(*doc.Writer)
	}{
		{"asserts", m.Failures.write},
		{"catalogStats", m.statusCatalog},
		{"connections", x.writeConnections},
		{"globalLock", func(a *doc.Writer) { x.writeGlobalLock(a, uptime) }},
		{"mem", statusMemory},
		{"metrics", func(a *doc.Writer) { m.statusMetrics(a, x.Reclaimed) }},
		{"network", x.Traffic.write},
		{"opcounters", m.statusOperations},
		{"repl", x.Set},
		{"storageEngine", statusEngine},
		{"transactions", m.transactions()},
	} {
		if section.write == nil {
			continue
		}
		if v := r.Get(section.name); v.Type == 0 || call.IsTrue(v) {
			a.Object(section.name)
			section.write(a)
			a.Close()
		}
	}
}

func (x *Status) writeConnections(a *doc.Writer) {
	a.Int32("current", x.Current)
	a.Int32("available", x.Available)
	a.Int64("totalCreated", x.Created)
	a.Int32("active", x.Active)
	a.Int64("awaitingTopologyChanges", x.Awaiting)
}

// writeGlobalLock shows that no request waits for a lock of the whole server, because there is none.
// https://www.mongodb.com/docs/v7.0/reference/command/serverStatus/#globallock
func (x *Status) writeGlobalLock(a *doc.Writer, uptime time.Duration) {
	a.Int64("totalTime", uptime.Microseconds())
	for _, of := range []struct {
		name                    string
		total, readers, writers int
	}{{"currentQueue", 0, 0, 0}, {"activeClients", x.Active, x.Readers, x.Writers}} {
		a.Object(of.name)
		a.Int32("total", of.total)
		a.Int32("readers", of.readers)
		a.Int32("writers", of.writers)
		a.Close()
	}
}

// transactions writes the section of that name; nil where there are none.
func (m *Monitor) transactions() func(*doc.Writer) {
	if !m.Node.Replicates {
		return nil
	}
	return m.Node.Sessions.StatusOfTransactions
}

// Count counts a running request among those that read or write.
func (x *Status) Count(r *call.Request) {
	x.Active++
	switch kind := usageKind(r.Name); {
	case kind <= 1:
		x.Readers++
	case kind <= 4, r.Name == "findAndModify":
		x.Writers++
	}
}

// statusCatalog counts the collections and views of all databases.
// mongodb/mongo: src/mongo/db/stats, catalogStats
func (m *Monitor) statusCatalog(a *doc.Writer) {
	collections, views := 0, 0
	for _, c := range m.Node.Catalog.AllContainers() {
		if query.ViewOf(c) != nil {
			views++
		} else {
			collections++
		}
	}
	a.Int32("collections", collections)
	for _, none := range []string{"capped", "clustered", "timeseries"} {
		a.Int32(none, 0)
	}
	a.Int32("views", views)
	a.Int32("internalCollections", 0)
	a.Int32("internalViews", 0)
}

func statusMemory(a *doc.Writer) {
	var x runtime.MemStats
	runtime.ReadMemStats(&x)
	a.Int32("bits", 64)
	a.Int32("resident", int((x.Sys-x.HeapReleased)>>20))
	a.Int32("virtual", int(x.Sys>>20))
	a.Bool("supported", true)
}

func (m *Monitor) statusMetrics(a *doc.Writer, reclaimed int64) {
	a.Object("commands")
	for _, name := range slices.Sorted(maps.Keys(m.Requests.commands)) {
		if n := m.Requests.begun(name); n > 0 {
			a.Object(name)
			a.Int64("total", n)
			a.Close()
		}
	}
	a.Close()
	a.Object("cursor")
	m.Node.Cursors.Status(a)
	a.Close()
	passes, subPasses := m.TTL.counts()
	a.Object("ttl")
	a.Int64("collSubpassesIncreasedPriority", 0)
	a.Int64("deletedDocuments", reclaimed)
	a.Int64("passes", passes)
	a.Int64("subPasses", subPasses)
	a.Close()
}

// statusOperations counts documents inserted and statements of updates and deletes, as MongoDB does.
func (m *Monitor) statusOperations(a *doc.Writer) {
	insert, update, remove := m.Writes.Insert.Load(), m.Writes.Update.Load(), m.Writes.Delete.Load()
	named := m.Requests.begun
	all := int64(0)
	for name := range m.Requests.commands {
		all += named(name)
	}
	query, more := named("find"), named("getMore")
	a.Int64("insert", insert)
	a.Int64("query", query)
	a.Int64("update", update)
	a.Int64("delete", remove)
	a.Int64("getmore", more)
	a.Int64("command", all-query-more-named("insert")-named("update")-named("delete"))
}

func statusEngine(a *doc.Writer) {
	a.String("name", "mayfly")
	a.Bool("supportsCommittedReads", true)
	a.Bool("supportsSnapshotReadConcern", true)
	a.Bool("readOnly", false)
	a.Bool("persistent", true)
}
