package monitor

import (
	"bytes"
	"iter"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mayflydb/mayfly/internal/clock"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/account"
	"github.com/mayflydb/mayfly/internal/mongo/call"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/query"
	"github.com/mayflydb/mayfly/internal/mongo/session"
)

// A Profiler records the requests of databases whose level is above 0. The records are in memory: they hold values of
// queries, which mayfly writes to no log, and nothing of them is left after the process.
// https://www.mongodb.com/docs/v7.0/tutorial/manage-the-database-profiler/
type Profiler struct {
	on atomic.Int32 // databases whose level is above 0

	mu        sync.Mutex
	databases map[string]*profile
}

// ProfileSettings say which requests of a database are recorded.
type ProfileSettings struct {
	Level  int           // 0 records nothing, 1 what takes long or matches Filter, 2 everything
	Slow   time.Duration // what takes long
	Rate   float64       // how many of those are recorded, from 0 to 1
	Filter doc.Doc       // in place of Slow and Rate; nil for none

	match func(doc.Doc) bool // Filter
}

// A profile is the settings and the records of one database. Records never change.
type profile struct {
	ProfileSettings
	records []doc.Doc // the oldest first
	first   uint64    // number of the oldest; they are numbered without gaps
	size    int       // bytes of records
}

// Limits of the profiler.
const (
	MaxProfile       = 1 << 20  // bytes of the records of one database, as system.profile has in MongoDB
	maxProfiled      = 64       // databases that have settings or records
	maxProfileFilter = 16 << 10 // bytes of a filter
	filterTime       = 10 * time.Millisecond
)

// On reports whether a database is profiled. It is all that a request asks while none is.
func (p *Profiler) On() bool { return p.on.Load() > 0 }

// Settings gives what SetSettings has set. Without that, slow is what takes long.
func (p *Profiler) Settings(database string, slow time.Duration) ProfileSettings {
	p.mu.Lock()
	defer p.mu.Unlock()
	if x := p.databases[database]; x != nil {
		return x.ProfileSettings
	}
	return ProfileSettings{Slow: slow, Rate: 1}
}

// SetSettings changes which requests of a database are recorded. The records stay.
func (p *Profiler) SetSettings(database string, s ProfileSettings) error {
	s.match = nil
	if len(s.Filter) > maxProfileFilter {
		return code.New(code.BadValue, "the filter of profile has %d bytes, and mayfly takes at most %d",
			len(s.Filter), maxProfileFilter)
	}
	if s.Filter != nil {
		s.Filter = bytes.Clone(s.Filter)
		var err error
		if s.match, err = query.CompileStanding(s.Filter, beginFilter); err != nil {
			return err
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	x := p.databases[database]
	if s.Level == 0 && s.Filter == nil && s.Rate == 1 && (x == nil || len(x.records) == 0) {
		delete(p.databases, database) // nothing to remember
		p.count()
		return nil
	}
	if x == nil {
		if len(p.databases) >= maxProfiled {
			return code.New(code.OperationFailed, "the profiler has settings or records of %d databases, which is "+
				"the limit: set the level of one of them to 0, and drop its collection system.profile", maxProfiled)
		}
		if p.databases == nil {
			p.databases = map[string]*profile{}
		}
		x = &profile{}
		p.databases[strings.Clone(database)] = x
	}
	x.ProfileSettings = s
	p.count()
	return nil
}

// beginFilter bounds how long a filter may take for a record.
func beginFilter() func() error {
	watch := clock.Start()
	return func() error {
		if watch.Elapsed() > filterTime {
			return code.New(code.ExceededTimeLimit, "the filter of profile takes too long")
		}
		return nil
	}
}

// count counts the databases whose level is above 0.
func (p *Profiler) count() {
	n := int32(0)
	for _, x := range p.databases {
		if x.Level > 0 {
			n++
		}
	}
	p.on.Store(n)
}

// Drop forgets the settings and the records of a database.
func (p *Profiler) Drop(database string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.databases[database].forget()
	delete(p.databases, database)
	p.count()
}

// forget drops the records, which cursors ask for yet.
func (x *profile) forget() {
	if x != nil {
		x.first, x.records, x.size = x.first+uint64(len(x.records)), nil, 0
	}
}

// Reset forgets those of all databases.
func (p *Profiler) Reset() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, x := range p.databases {
		x.forget()
	}
	p.databases = nil
	p.count()
}

// Has reports whether a database has a collection system.profile, which it has once its profiler was on. Other names
// have no records.
func (p *Profiler) Has(database, name string) bool {
	if name != account.ProfileContainer {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.databases[database].exists()
}

func (x *profile) exists() bool { return x != nil && (x.Level > 0 || len(x.records) > 0) }

// Records gives the documents of the collection that Has reports, nil if there is none: those that are there at the
// first look, without those that are forgotten before it is their turn. Each is taken under the lock by its number,
// because a cursor that held them all would keep them in memory.
func (p *Profiler) Records(database, name string) session.Records {
	if name != account.ProfileContainer {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	x := p.databases[database]
	if !x.exists() {
		return nil
	}
	return func(newestFirst bool) iter.Seq[doc.Doc] {
		if newestFirst {
			return x.newestFirst(&p.mu)
		}
		return x.oldestFirst(&p.mu)
	}
}

func (x *profile) oldestFirst(mu *sync.Mutex) iter.Seq[doc.Doc] {
	return func(yield func(doc.Doc) bool) {
		next, end := x.bounds(mu)
		for next < end {
			d, at := x.from(mu, next)
			if d == nil || at >= end || !yield(d) {
				return
			}
			next = at + 1
		}
	}
}

func (x *profile) newestFirst(mu *sync.Mutex) iter.Seq[doc.Doc] {
	return func(yield func(doc.Doc) bool) {
		first, end := x.bounds(mu)
		for next := end; next > first; next-- {
			d, at := x.from(mu, next-1)
			if d == nil || at != next-1 || !yield(d) {
				return
			}
		}
	}
}

// bounds gives the number of the oldest record and the one after the newest.
func (x *profile) bounds(mu *sync.Mutex) (first, end uint64) {
	mu.Lock()
	defer mu.Unlock()
	return x.first, x.first + uint64(len(x.records))
}

// from gives the record with a number, or the oldest if it is forgotten; nil if there is none.
func (x *profile) from(mu *sync.Mutex, number uint64) (d doc.Doc, at uint64) {
	mu.Lock()
	defer mu.Unlock()
	at = max(number, x.first)
	if i := at - x.first; i < uint64(len(x.records)) {
		return x.records[i], at
	}
	return nil, at
}

// size tells how many records a database has, and how many bytes.
func (p *Profiler) size(database string) (count, bytes int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if x := p.databases[database]; x != nil {
		return int64(len(x.records)), int64(x.size)
	}
	return 0, 0
}

// Record records a request that is over if its database wants that. The request's memory is free afterwards.
func (p *Profiler) Record(r *call.Request, from *Connection, took time.Duration) {
	s := p.Settings(r.DB, 0)
	if s.Level == 0 || r.ContainerName() == account.ProfileContainer {
		return // reading the records would add to them
	}
	if s.Level == 1 && s.match == nil && (took < s.Slow || s.Rate < 1 && rand.Float64() >= s.Rate) {
		return
	}
	d := recordOf(r, from, took)
	if s.Level == 1 && s.match != nil && !s.match(d) {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if x := p.databases[r.DB]; x != nil && x.Level > 0 {
		x.add(d)
	}
}

// add adds a record, and forgets the oldest ones that there is no room for.
func (x *profile) add(d doc.Doc) {
	n := 0
	for x.size += len(d); x.size > MaxProfile && n < len(x.records); n++ {
		x.size -= len(x.records[n])
		x.records[n] = nil
	}
	x.first += uint64(n)
	x.records = append(x.records[n:], d)
}

// DescribeProfile shows the collection system.profile for listCollections.
func DescribeProfile(nameOnly bool) doc.Doc {
	a := doc.NewWriter(nil)
	a.String("name", account.ProfileContainer)
	a.String("type", "collection")
	if nameOnly {
		return a.End()
	}
	a.Object("options")
	a.Bool("capped", true)
	a.Int32("size", MaxProfile)
	a.Close()
	a.Object("info")
	a.Bool("readOnly", true)
	a.Close()
	return a.End()
}

// writeProfileStats writes a part of $collStats about system.profile.
func writeProfileStats(a *doc.Writer, part string, count, size, scale int64) {
	if part == "count" {
		a.Count("count", count)
		return
	}
	a.Object(part)
	defer a.Close()
	a.Count("size", size/scale)
	a.Count("count", count)
	if count > 0 {
		a.Count("avgObjSize", size/count)
	}
	a.Int32("numOrphanDocs", 0)
	a.Count("storageSize", size/scale)
	a.Int32("freeStorageSize", 0)
	a.Bool("capped", true)
	a.Count("max", 0)
	a.Count("maxSize", MaxProfile/scale)
	a.Int32("nindexes", 0)
	a.Count("totalIndexSize", 0)
	a.Count("totalSize", size/scale)
	a.Object("indexSizes")
	a.Close()
	a.Count("scaleFactor", scale)
}
