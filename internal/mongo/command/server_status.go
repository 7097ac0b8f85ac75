package command

import (
	"maps"
	"os"
	"runtime"
	"slices"
	"sync/atomic"

	"github.com/mayflydb/mayfly/internal/mongo/query"
)

// opCounters count documents inserted, and statements of updates and deletes, since the start.
type opCounters struct{ insert, update, delete atomic.Int64 }

// serverStatus gives all sections that the client does not turn off.
// https://www.mongodb.com/docs/v7.0/reference/command/serverStatus/
func serverStatus(r *request, a *answer) error {
	s := r.s
	host, _ := os.Hostname()
	uptime := s.Uptime.Elapsed()
	a.String("host", host)
	a.String("version", serverVersion)
	a.String("process", "mayfly")
	a.String("service", "mayfly")
	a.Int64("pid", int64(os.Getpid()))
	a.Double("uptime", float64(int64(uptime.Seconds())))
	a.Int64("uptimeMillis", uptime.Milliseconds())
	a.Int64("uptimeEstimate", int64(uptime.Seconds()))
	a.Date("localTime", r.At.UnixMilli())
	for _, section := range []struct {
		name  string
		write func(*answer)
	}{
		{"catalogStats", s.statusCatalog},
		{"connections", s.statusConnections},
		{"mem", statusMemory},
		{"metrics", s.statusMetrics},
		{"opcounters", s.statusOperations},
		{"storageEngine", statusEngine},
	} {
		if v := r.get(section.name); v.Type == 0 || isTrue(v) {
			a.Object(section.name)
			section.write(a)
			a.Close()
		}
	}
	return nil
}

// statusCatalog counts the collections and views of all databases.
// mongodb/mongo: src/mongo/db/stats, catalogStats
func (s *Server) statusCatalog(a *answer) {
	collections, views := 0, 0
	for _, c := range s.o.Catalog.AllContainers() {
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

func (s *Server) statusConnections(a *answer) {
	s.mu.Lock()
	current, active := len(s.connections), 0
	for c := range s.connections {
		c.mu.Lock()
		if c.running != nil {
			active++
		}
		c.mu.Unlock()
	}
	s.mu.Unlock()
	a.Int32("current", current)
	a.Int32("available", maxConnections-current)
	a.Int64("totalCreated", s.accepted.Load())
	a.Int32("active", active)
	a.Int64("awaitingTopologyChanges", s.awaiting.Load())
}

func statusMemory(a *answer) {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	a.Int32("bits", 64)
	a.Int32("resident", int((m.Sys-m.HeapReleased)>>20))
	a.Int32("virtual", int(m.Sys>>20))
	a.Bool("supported", true)
}

func (s *Server) statusMetrics(a *answer) {
	a.Object("commands")
	for _, name := range slices.Sorted(maps.Keys(s.counts)) {
		if n := s.counts[name].begun.Load(); n > 0 {
			a.Object(name)
			a.Int64("total", n)
			a.Close()
		}
	}
	a.Close()
	a.Object("cursor")
	s.Cursors.Status(&a.Writer)
	a.Close()
	passes, subPasses := s.monitor.counts()
	a.Object("ttl")
	a.Int64("collSubpassesIncreasedPriority", 0)
	a.Int64("deletedDocuments", s.deleted())
	a.Int64("passes", passes)
	a.Int64("subPasses", subPasses)
	a.Close()
}

// statusOperations counts documents inserted and statements of updates and deletes, as MongoDB does.
func (s *Server) statusOperations(a *answer) {
	insert, update, remove := s.ops.insert.Load(), s.ops.update.Load(), s.ops.delete.Load()
	named := func(name string) int64 {
		if n := s.counts[name]; n != nil {
			return n.begun.Load()
		}
		return 0
	}
	all := int64(0)
	for _, n := range s.counts {
		all += n.begun.Load()
	}
	query, more := named("find"), named("getMore")
	a.Int64("insert", insert)
	a.Int64("query", query)
	a.Int64("update", update)
	a.Int64("delete", remove)
	a.Int64("getmore", more)
	a.Int64("command", all-query-more-named("insert")-named("update")-named("delete"))
}

func statusEngine(a *answer) {
	a.String("name", "mayfly")
	a.Bool("supportsCommittedReads", true)
	a.Bool("supportsSnapshotReadConcern", true)
	a.Bool("readOnly", false)
	a.Bool("persistent", true)
}
