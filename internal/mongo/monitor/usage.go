package monitor

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/call"
)

// A containerName is the name of a container and of its database.
type containerName struct{ database, container string }

func compareNames(a, b containerName) int {
	return cmp.Or(strings.Compare(a.database, b.database), strings.Compare(a.container, b.container))
}

// Usage counts the requests to each container, and adds up how long they took.
type Usage struct {
	mu    sync.Mutex
	times map[containerName]*usageTimes
}

// maxUsage bounds how many containers Usage remembers: at that number it starts again from nothing.
const maxUsage = 10_000

// usageKinds are the kinds of requests that Usage counts, by MongoDB's names.
var usageKinds = []string{"queries", "getmore", "insert", "update", "remove", "commands"}

// usageTimes are the counts and times by kind.
type usageTimes struct {
	count [6]int64
	took  [6]time.Duration
}

// Note counts a request, if it was about a container.
func (u *Usage) Note(r *call.Request) {
	database, container := r.DB, r.ContainerName()
	if call.CheckName(database, container) != nil {
		return
	}
	container = strings.Clone(container) // it shares the memory of the request
	kind, took := usageKind(r.Name), r.Since.Elapsed()
	u.mu.Lock()
	defer u.mu.Unlock()
	t := u.times[containerName{database, container}]
	if t == nil {
		if u.times == nil || len(u.times) >= maxUsage {
			u.times = map[containerName]*usageTimes{}
		}
		t = &usageTimes{}
		// Clones, because the names share the memory of the request.
		u.times[containerName{strings.Clone(database), strings.Clone(container)}] = t
	}
	t.count[kind]++
	t.took[kind] += took
}

func usageKind(command string) int {
	switch command {
	case "find", "count", "distinct", "aggregate":
		return 0
	case "getMore":
		return 1
	case "insert":
		return 2
	case "update":
		return 3
	case "delete":
		return 4
	}
	return 5
}

// Write shows the counts and times of all containers.
func (u *Usage) Write(a *doc.Writer) {
	list := u.all()
	for _, ns := range slices.SortedFunc(maps.Keys(list), compareNames) {
		a.Object(ns.database + "." + ns.container)
		list[ns].write(a)
		a.Close()
	}
}

func (u *Usage) all() map[containerName]usageTimes {
	u.mu.Lock()
	defer u.mu.Unlock()
	list := make(map[containerName]usageTimes, len(u.times))
	for ns, t := range u.times {
		list[ns] = *t
	}
	return list
}

func (t usageTimes) write(a *doc.Writer) {
	var count, writes int64
	var took, writing time.Duration
	for i, n := range t.count {
		count, took = count+n, took+t.took[i]
		if i >= 2 && i <= 4 {
			writes, writing = writes+n, writing+t.took[i]
		}
	}
	writeUsage(a, "total", count, took)
	writeUsage(a, "readLock", count-writes, took-writing)
	writeUsage(a, "writeLock", writes, writing)
	for i, name := range usageKinds {
		writeUsage(a, name, t.count[i], t.took[i])
	}
}

func writeUsage(a *doc.Writer, name string, count int64, took time.Duration) {
	a.Object(name)
	a.Int64("time", took.Microseconds())
	a.Int64("count", count)
	a.Close()
}
