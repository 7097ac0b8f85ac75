package store

import (
	"context"
	"math"
	"sync"
	"sync/atomic"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/keys"
	"github.com/mayflydb/mayfly/internal/kv"
)

// The log is one ordered record of what happens in all containers whose documents have an _id
// (catalog.Identity.Logged), for change streams. An entry is written in the batch of the change that it describes, so
// the log cannot miss one or have one too many. Without KeepLog there is no log, and writes cost nothing more.

// A LogTime orders the entries of the log: Unix seconds in the upper half, a count within the
// second in the lower. It rises from entry to entry and is never given out again, not after a crash either.
type LogTime uint64

// Seconds are whole Unix seconds.
func (t LogTime) Seconds() uint32 { return uint32(t >> 32) }

// Ordinal counts within the second, from 1 on.
func (t LogTime) Ordinal() uint32 { return uint32(t) }

// What the store itself logs. APIs append entries of other kinds.
const (
	LogInsert  = "insert"
	LogUpdate  = "update" // a Patch that had a Note
	LogReplace = "replace"
	LogDelete  = "delete" // by an operation, or because the document has expired and was reclaimed
)

// A LogEntry is one event. Those that Log hands out share the store's memory and are
// valid only for the step.
type LogEntry struct {
	Time LogTime // given by the store
	Kind string
	Wall int64 // milliseconds since 1970; of a write the whole second of its stamp

	Database, Container         uint32 // 0 if the entry is about none
	DatabaseName, ContainerName string // as they were then

	ID    doc.Value // the _id of the document, the zero Value if the entry is about none
	Full  doc.Doc   // after an insert or a replace
	Note  doc.Doc   // what Op.Note made, or what an API adds
	Label doc.Doc   // of the SnapshotTransaction that made the change
}

// Defaults of LogOptions.
const (
	DefaultLogRetention expiry.Stamp = 3600
	DefaultLogBytes     uint64       = 1 << 30
)

// LogOptions say how much of the log is kept: entries older than Retention seconds are dropped, and so are the oldest
// ones while all together take more than Bytes. Zero stands for the default.
type LogOptions struct {
	Retention expiry.Stamp
	Bytes     uint64
}

// A journal is the store's state of the log.
type journal struct {
	options atomic.Pointer[LogOptions] // nil: there is none
	mu      sync.Mutex
	next    chan struct{} // closed when the log grows, nil while nobody waits
}

func (j *journal) on() bool { return j.options.Load() != nil }

// grown wakes those that wait for entries.
func (j *journal) grown() {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.next != nil {
		close(j.next)
		j.next = nil
	}
}

// crashGap is how many times are left out after a crash: a reader may have seen entries that were visible, but not yet
// durable, and their times must not come again. The clock may show a second again after the restart, so the count
// within each second starts at crashGap times the number of crashes.
const crashGap = 1 << 20

// KeepLog starts the log, or continues that of an earlier process. It is called before the first write, with the
// present instant. A new log has what is written from then on.
func (s *Store) KeepLog(ctx context.Context, now expiry.Stamp, o LogOptions) error {
	if o.Retention <= 0 {
		o.Retention = DefaultLogRetention
	}
	if o.Bytes == 0 {
		o.Bytes = DefaultLogBytes
	}
	b := &kv.Batch{Frees: true}
	b.Follow(keys.LogCounterKey(), func(last []byte, _ *kv.Batch) ([]byte, error) {
		c, err := keys.DecodeLogCounter(last)
		switch {
		case err != nil:
			return nil, corrupt(err, "log counter")
		case last == nil:
			c.Newest = wholeSecond(now)
			// A new log knows nothing of earlier times, so streams cannot start there.
			c.Trimmed = c.Newest
		}
		return c.Append(nil), nil
	})
	if err := s.engine.Apply(ctx, b); err != nil {
		return err
	}
	s.log.options.Store(&o)
	return nil
}

// leaveLogGap leaves times of the log out after a crash, whether or not this process goes on with the log: it closes
// the data, and a later one may.
func (s *Store) leaveLogGap(ctx context.Context) error {
	if s.catalog.Clean() {
		return nil
	}
	if counter, err := logCounterOf(ctx, s.engine); err != nil || counter.Newest == 0 {
		return err
	}
	return s.engine.Apply(ctx, s.logBatch(func(c *keys.LogCounter, _ *kv.Batch) {
		c.Newest += crashGap
		c.Lives++
	}))
}

// RestartLog drops the entries of the log and continues behind a time, if there has ever been a log: a reader that has
// come as far as that time, with entries that this store has never had, cannot continue.
func (s *Store) RestartLog(ctx context.Context, behind LogTime) error {
	counter, err := logCounterOf(ctx, s.engine)
	if err != nil || counter.Newest == 0 {
		return err
	}
	b := s.logBatch(func(c *keys.LogCounter, _ *kv.Batch) {
		c.Newest = max(c.Newest, uint64(behind)) + 1
		c.Trimmed = c.Newest
	})
	if err := s.engine.Apply(ctx, b); err != nil {
		return err
	}
	return s.TrimLog(ctx, math.MaxUint64)
}

// ForgetLog drops the log that an earlier process kept, if there is one. It is called before writing without a log,
// since those writes would be missing in the middle of it.
func (s *Store) ForgetLog(ctx context.Context) error {
	counter, err := logCounterOf(ctx, s.engine)
	if err != nil || counter.Newest == counter.Trimmed {
		return err
	}
	// A stream that had reached the end must notice, too: one more time, which then is trimmed, makes its position too
	// old.
	if err := s.engine.Apply(ctx, s.logBatch(func(c *keys.LogCounter, _ *kv.Batch) { c.Newest++ })); err != nil {
		return err
	}
	return s.TrimLog(ctx, math.MaxUint64)
}

// logBatch makes a batch that changes the log's counter.
func (s *Store) logBatch(change func(*keys.LogCounter, *kv.Batch)) *kv.Batch {
	b := &kv.Batch{Frees: true}
	b.Follow(keys.LogCounterKey(), func(last []byte, b *kv.Batch) ([]byte, error) {
		c, err := keys.DecodeLogCounter(last)
		if err != nil {
			return nil, corrupt(err, "log counter")
		}
		change(&c, b)
		return c.Append(nil), nil
	})
	return b
}

// AppendLog writes an entry of an API. Its Time comes from its Wall. Without a log it does nothing.
func (s *Store) AppendLog(ctx context.Context, e LogEntry) error {
	if !s.log.on() {
		return nil
	}
	b := &kv.Batch{Frees: true} // it tells of a change that has been made
	s.log.follow(b, [][]byte{e.encode()}, func() int64 { return e.Wall })
	if err := s.engine.Apply(ctx, b); err != nil {
		return err
	}
	s.log.grown()
	return nil
}

// follow makes a batch write encoded entries to the log. wall is called when the batch has passed the counters before,
// which is when a write has its stamp.
func (j *journal) follow(b *kv.Batch, entries [][]byte, wall func() int64) {
	if len(entries) == 0 {
		return
	}
	b.Follow(keys.LogCounterKey(), func(last []byte, b *kv.Batch) ([]byte, error) {
		c, err := keys.DecodeLogCounter(last)
		if err != nil {
			return nil, corrupt(err, "log counter")
		}
		now := wall()
		for _, e := range entries {
			c.Newest = timeBehind(&c, now/1000)
			// The header was left empty by encode. Only here is it known how many bytes come before the entry.
			keys.AppendLogHeader(e[:0], c.Bytes, now)
			b.Set(keys.LogKey(c.Newest), e)
			c.Bytes += uint64(len(e))
		}
		return c.Append(nil), nil
	})
}

// timeBehind is the time of the next entry.
func timeBehind(c *keys.LogCounter, now expiry.Stamp) uint64 {
	const lives = 1<<32/crashGap - 1
	return max(c.Newest+1, wholeSecond(now)+c.Lives%lives*crashGap+1)
}

func wholeSecond(now expiry.Stamp) uint64 { return uint64(min(max(now, 0), math.MaxUint32)) << 32 }

// Names of an entry's members on disk.
const (
	logKind, logDatabase, logDatabaseName, logContainer, logContainerName = "op", "d", "db", "c", "coll"
	logID, logFull, logNote, logLabel                                     = "id", "full", "note", "label"
)

// encode gives the entry's bytes, with room for the header before them.
func (e *LogEntry) encode() []byte {
	size := keys.LogHeaderBytes + len(e.ID.Data) + len(e.Full) + len(e.Note) + len(e.Label) +
		len(e.DatabaseName) + len(e.ContainerName) + 128
	b := make([]byte, keys.LogHeaderBytes, size)
	start, b := bsoncore.AppendDocumentStart(b)
	b = bsoncore.AppendStringElement(b, logKind, e.Kind)
	if e.DatabaseName != "" {
		b = bsoncore.AppendInt64Element(b, logDatabase, int64(e.Database))
		b = bsoncore.AppendStringElement(b, logDatabaseName, e.DatabaseName)
	}
	if e.ContainerName != "" {
		b = bsoncore.AppendInt64Element(b, logContainer, int64(e.Container))
		b = bsoncore.AppendStringElement(b, logContainerName, e.ContainerName)
	}
	if e.ID.Type != 0 {
		b = doc.AppendElement(b, logID, e.ID)
	}
	for _, x := range []struct {
		name string
		doc  doc.Doc
	}{{logFull, e.Full}, {logNote, e.Note}, {logLabel, e.Label}} {
		if x.doc != nil {
			b = bsoncore.AppendDocumentElement(b, x.name, x.doc)
		}
	}
	b, err := bsoncore.AppendDocumentEnd(b, start)
	if err != nil {
		panic(err) // start is our own
	}
	return b
}

// decodeLogEntry reads an entry, whose memory it shares.
func decodeLogEntry(key, value []byte) (e LogEntry, err error) {
	time, err := keys.LogTime(key)
	if err != nil {
		return e, err
	}
	_, wall, body, err := keys.DecodeLog(value)
	if err != nil {
		return e, err
	}
	e.Time, e.Wall = LogTime(time), wall
	for name, v := range doc.Members(body) {
		switch name {
		case logKind:
			e.Kind, _ = doc.AsString(v)
		case logDatabase:
			e.Database = number32(v)
		case logDatabaseName:
			e.DatabaseName, _ = doc.AsString(v)
		case logContainer:
			e.Container = number32(v)
		case logContainerName:
			e.ContainerName, _ = doc.AsString(v)
		case logID:
			e.ID = v
		case logFull:
			e.Full, _ = doc.AsDoc(v)
		case logNote:
			e.Note, _ = doc.AsDoc(v)
		case logLabel:
			e.Label, _ = doc.AsDoc(v)
		}
	}
	if e.Kind == "" {
		return e, keys.ErrCorrupt
	}
	return e, nil
}

func number32(v doc.Value) uint32 {
	n, _ := doc.AsInt(v)
	return uint32(n)
}

// ErrLogTrimmed says that entries after the requested time have been dropped.
var ErrLogTrimmed = fault.New(fault.Precondition, "The log does not go back that far. "+
	"Its older entries have been dropped.")
