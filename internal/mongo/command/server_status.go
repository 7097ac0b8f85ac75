package command

import (
	"maps"
	"os"
	"runtime"
	"slices"
	"sync/atomic"
)

// opCounters count documents inserted, and statements of updates and deletes, since the start.
type opCounters struct{ insert, update, delete atomic.Int64 }

// serverStatus gives all sections that the client does not turn off.
// https://www.mongodb.com/docs/v7.0/reference/command/serverStatus/
func serverStatus(r *request, a *answer) error {
	s := r.s
	host, _ := os.Hostname()
	uptime := s.uptime.Elapsed()
	a.string("host", host)
	a.string("version", serverVersion)
	a.string("process", "mayfly")
	a.string("service", "mayfly")
	a.int64("pid", int64(os.Getpid()))
	a.double("uptime", float64(int64(uptime.Seconds())))
	a.int64("uptimeMillis", uptime.Milliseconds())
	a.int64("uptimeEstimate", int64(uptime.Seconds()))
	a.date("localTime", r.at.UnixMilli())
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
			a.object(section.name)
			section.write(a)
			a.close()
		}
	}
	return nil
}

// statusCatalog counts the collections and views of all databases.
// mongodb/mongo: src/mongo/db/stats, catalogStats
func (s *Server) statusCatalog(a *answer) {
	collections, views := 0, 0
	for _, c := range s.o.Catalog.AllContainers() {
		if viewOf(c) != nil {
			views++
		} else {
			collections++
		}
	}
	a.int32("collections", collections)
	for _, none := range []string{"capped", "clustered", "timeseries"} {
		a.int32(none, 0)
	}
	a.int32("views", views)
	a.int32("internalCollections", 0)
	a.int32("internalViews", 0)
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
	a.int32("current", current)
	a.int32("available", maxConnections-current)
	a.int64("totalCreated", s.accepted.Load())
	a.int32("active", active)
	a.int64("awaitingTopologyChanges", s.awaiting.Load())
}

func statusMemory(a *answer) {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	a.int32("bits", 64)
	a.int32("resident", int((m.Sys-m.HeapReleased)>>20))
	a.int32("virtual", int(m.Sys>>20))
	a.bool("supported", true)
}

func (s *Server) statusMetrics(a *answer) {
	a.object("commands")
	for _, name := range slices.Sorted(maps.Keys(s.counts)) {
		if n := s.counts[name].begun.Load(); n > 0 {
			a.object(name)
			a.int64("total", n)
			a.close()
		}
	}
	a.close()
	a.object("cursor")
	s.cursors.status(a)
	a.close()
	passes, subPasses := s.monitor.counts()
	a.object("ttl")
	a.int64("collSubpassesIncreasedPriority", 0)
	a.int64("deletedDocuments", s.deleted())
	a.int64("passes", passes)
	a.int64("subPasses", subPasses)
	a.close()
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
	a.int64("insert", insert)
	a.int64("query", query)
	a.int64("update", update)
	a.int64("delete", remove)
	a.int64("getmore", more)
	a.int64("command", all-query-more-named("insert")-named("update")-named("delete"))
}

func statusEngine(a *answer) {
	a.string("name", "mayfly")
	a.bool("supportsCommittedReads", true)
	a.bool("supportsSnapshotReadConcern", true)
	a.bool("readOnly", false)
	a.bool("persistent", true)
}
