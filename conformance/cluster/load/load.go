// Package load writes through mayfly's APIs while parts of it are killed, and
// checks what comes back: nothing acknowledged is lost, a feed of changes has
// no gap and nothing twice, nothing is shown after its end, and every request
// is answered before its deadline. It knows addresses, not processes, so it is
// the same for one process and for several.
package load

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// A Document is one of a writer's: its number N counts from 0 without gaps.
type Document struct {
	Writer string
	N      int
	Life   time.Duration // whole seconds; 0 for a document that stays

	// Of the insert, where a feed tells of it; empty in an insert.
	Version string
	Written time.Time // a whole second, rounded down
	End     time.Time // the first instant at which it does not exist; zero for one that stays
}

// ID is unique in a load.
func (d Document) ID() string { return fmt.Sprintf("%s.%06d", d.Writer, d.N) }

// Shown is a mortal document in an answer.
type Shown struct {
	ID  string
	End time.Time // the first instant at which it does not exist
}

// ErrThere says that a document of that name exists: an insert before had an
// unknown outcome and was done.
var ErrThere = errors.New("the document is there already")

// An API is one way into a container: an API of mayfly at an address. Its
// methods return before their context ends, or tell the context's error; they
// are called by several goroutines.
type API interface {
	Name() string
	Insert(context.Context, Document) error
	// Stay returns the identifiers of a writer's documents.
	Stay(ctx context.Context, writer string) ([]string, error)
	// Mortal returns the mortal documents, and the time as the answer has it.
	Mortal(context.Context) (now time.Time, shown []Shown, err error)
	// Count adds one to a number of the writer's, which begins at 0, and returns
	// it. If it fails, the number may have been changed, once.
	Count(ctx context.Context, writer string) (int, error)
	// Changes returns what was inserted after a position, in order, and the
	// next position. The empty position is the present.
	Changes(ctx context.Context, after string) (inserted []Document, next string, err error)
}

// Following is an API that takes its changes from another one, of the same
// container.
func Following(api, changes API) API { return following{api, changes} }

type following struct {
	API
	changes API
}

func (f following) Changes(ctx context.Context, after string) ([]Document, string, error) {
	return f.changes.Changes(ctx, after)
}

// Sizes of a load.
const (
	writers     = 3                // for each API that writes, beside one of mortal documents and one that counts
	longestLife = 3                // seconds
	Deadline    = 15 * time.Second // of each request
)

// A Load runs until it is stopped.
type Load struct {
	read []API

	ctx     context.Context
	stop    context.CancelFunc // writers and lookers
	writing sync.WaitGroup
	looking sync.WaitGroup
	reading sync.WaitGroup
	all     context.CancelFunc

	mu     sync.Mutex
	report Report
	acked  map[string]int // by writer of staying documents: how many
	feeds  []*feed
	errors map[string]error // the last, by what was asked
}

// A Report is what a load has seen.
type Report struct {
	Acknowledged int           // documents
	Counted      int           // acknowledged additions
	Failed       int           // requests that told an error before their deadline
	Looks        int           // answers that were checked for the dead
	Mortal       int           // mortal documents in them
	Gone         int           // mortal documents that one answer had and the next one had not
	Changes      int           // in all feeds
	Lost         int           // of them, inserts that were shown, never acknowledged, and taken back by a kill
	Errors       []string      // the last of them, of each kind of request
	Silence      time.Duration // the longest without an acknowledgement
	Wrong        []string      // what must not be

	last  time.Time
	quiet time.Duration // the longest without an acknowledgement since Silence was asked
}

// Start writes through each of write, and looks and follows changes through
// each of read, which may be others of the same container.
func Start(write, read []API) (*Load, error) {
	l := &Load{read: read, acked: map[string]int{}, errors: map[string]error{}}
	l.report.last = time.Now()
	l.ctx, l.stop = context.WithCancel(context.Background())
	following, all := context.WithCancel(context.Background())
	l.all = all
	for _, api := range read { // before the first write
		ctx, cancel := context.WithTimeout(l.ctx, Deadline)
		_, position, err := api.Changes(ctx, "")
		cancel()
		if err != nil {
			l.stop()
			all()
			return nil, fmt.Errorf("%s: follow changes: %w", api.Name(), err)
		}
		f := &feed{api: api, position: position, next: map[string]int{}, seen: map[string]insert{}}
		l.feeds = append(l.feeds, f)
		l.reading.Go(func() { l.follow(following, f) })
		l.looking.Go(func() { l.look(api) })
	}
	for i, api := range write {
		for j := range writers {
			l.writing.Go(func() { l.write(api, fmt.Sprintf("w%d-%s-%d", i, api.Name(), j), false) })
		}
		l.writing.Go(func() { l.write(api, fmt.Sprintf("m%d-%s", i, api.Name()), true) })
		l.writing.Go(func() { l.count(api, fmt.Sprintf("c%d-%s", i, api.Name())) })
	}
	return l, nil
}

// Acknowledged is how many documents were acknowledged so far.
func (l *Load) Acknowledged() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.report.Acknowledged
}

// Gone is how many mortal documents were shown and then no more, so far.
func (l *Load) Gone() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.report.Gone
}

// Silence is the longest time without an acknowledgement since it was asked
// before, up to now.
func (l *Load) Silence() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	quiet := max(l.report.quiet, time.Since(l.report.last))
	l.report.quiet = 0
	return quiet
}

// Wrong is how many things were wrong so far.
func (l *Load) Wrong() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.report.Wrong)
}

func (l *Load) wrong(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.report.Wrong) < 20 {
		l.report.Wrong = append(l.report.Wrong, fmt.Sprintf(format, args...))
	}
}

// request runs f under a request's deadline and notes how it ended. A request
// whose deadline came hung.
func (l *Load) request(ctx context.Context, what string, f func(context.Context) error) error {
	limit, cancel := context.WithTimeout(ctx, Deadline)
	defer cancel()
	err := f(limit)
	switch {
	case err == nil, ctx.Err() != nil:
	case limit.Err() != nil:
		l.wrong("%s had no answer in %v: %v", what, Deadline, err)
	default:
		l.mu.Lock()
		l.report.Failed++
		l.errors[what] = err
		l.mu.Unlock()
		wait(ctx)
	}
	return err
}

// wait is the pause of a client after an error, or after nothing new.
func wait(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-time.After(20 * time.Millisecond):
	}
}

// write inserts a writer's documents, each until it is acknowledged.
func (l *Load) write(api API, writer string, mortal bool) {
	for n := 0; l.ctx.Err() == nil; {
		d := Document{Writer: writer, N: n}
		if mortal {
			d.Life = time.Duration(1+n%longestLife) * time.Second
		}
		err := l.request(l.ctx, "insert through "+api.Name(), func(ctx context.Context) error {
			if err := api.Insert(ctx, d); !errors.Is(err, ErrThere) {
				return err
			}
			return nil
		})
		if err != nil {
			continue
		}
		n++
		l.mu.Lock()
		l.acknowledged()
		if !mortal {
			l.acked[writer] = n
		}
		l.mu.Unlock()
	}
}

// acknowledged notes a document. The caller holds the lock.
func (l *Load) acknowledged() {
	now := time.Now()
	silence := now.Sub(l.report.last)
	l.report.Acknowledged++
	l.report.Silence = max(l.report.Silence, silence)
	l.report.quiet = max(l.report.quiet, silence)
	l.report.last = now
}

// count adds to a writer's number. Each acknowledged addition is done once,
// however often it was sent; each one that failed once at most.
func (l *Load) count(api API, writer string) {
	last, unknown := 0, 0
	for l.ctx.Err() == nil {
		var number int
		err := l.request(l.ctx, "add through "+api.Name(), func(ctx context.Context) (err error) {
			number, err = api.Count(ctx, writer)
			return err
		})
		if err != nil {
			unknown++
			continue
		}
		if number <= last || number > last+1+unknown {
			l.wrong("%s counts %d after %d, and %d additions that failed in between", writer, number, last, unknown)
		}
		last, unknown = number, 0
		l.mu.Lock()
		l.report.Counted++
		l.mu.Unlock()
	}
}

// look asks for mortal documents again and again: none is shown at or after
// its end.
func (l *Load) look(api API) {
	var before map[string]bool
	for l.ctx.Err() == nil {
		var now time.Time
		var shown []Shown
		err := l.request(l.ctx, "a look through "+api.Name(), func(ctx context.Context) (err error) {
			now, shown, err = api.Mortal(ctx)
			return err
		})
		if err != nil {
			continue
		}
		here := map[string]bool{}
		for _, s := range shown {
			here[s.ID] = true
			if !now.Before(s.End) {
				l.wrong("%s shows %s at %v, its end was %v", api.Name(), s.ID, now.UTC(), s.End.UTC())
			}
		}
		gone := 0
		for id := range before {
			if !here[id] {
				gone++
			}
		}
		before = here
		l.mu.Lock()
		l.report.Gone += gone
		l.report.Looks++
		l.report.Mortal += len(shown)
		l.mu.Unlock()
		wait(l.ctx)
	}
}

// A feed is one reader of changes.
type feed struct {
	api      API
	position string
	next     map[string]int    // by writer of staying documents: the number that comes next
	seen     map[string]insert // by document
}

// follow reads changes until the context ends: the documents of a writer come
// in their order, each of them, and none twice. Mortal ones may be missing.
func (l *Load) follow(ctx context.Context, f *feed) {
	for ctx.Err() == nil {
		var inserted []Document
		err := l.request(ctx, "changes through "+f.api.Name(), func(ctx context.Context) error {
			some, next, err := f.api.Changes(ctx, f.position)
			if err == nil {
				inserted, f.position = some, next
			}
			return err
		})
		if err != nil {
			continue
		}
		for _, d := range inserted {
			l.arrived(f, d)
		}
		if len(inserted) == 0 {
			wait(ctx)
		}
	}
}

// An insert is what a feed told of one.
type insert struct {
	version string
	end     time.Time
}

// arrived checks one change. A document that comes twice was given twice, or it
// was inserted twice by a writer that was not answered: after its end, or
// because a process was killed after it had shown the first insert and before
// that was safe. The second insert has another version, and as a writer has one
// document in flight, only its last one can be inserted twice.
func (l *Load) arrived(f *feed, d Document) {
	before, again := f.seen[d.ID()]
	f.seen[d.ID()] = insert{d.Version, d.End}
	l.mu.Lock()
	want := f.next[d.Writer]
	twice := again && before.version != d.Version && d.N == want-1
	lost := twice && (before.end.IsZero() || d.Written.Before(before.end))
	f.next[d.Writer] = max(want, d.N+1)
	l.report.Changes++
	if lost {
		l.report.Lost++
	}
	l.mu.Unlock()
	switch {
	case twice:
	case again:
		l.wrong("%s gives the change of %s again, after %d of %s", f.api.Name(), d.ID(), want-1, d.Writer)
	case d.N < want:
		l.wrong("%s gives the change of %s after that of %d", f.api.Name(), d.ID(), want-1)
	case d.N > want && d.Life == 0:
		l.wrong("%s gives the change of %s, before %d of %s", f.api.Name(), d.ID(), want, d.Writer)
	}
}

// Stop ends the writers, waits until every feed has given all that was
// acknowledged, reads everything again, and returns what was seen. The context
// bounds all of it.
func (l *Load) Stop(ctx context.Context) Report {
	l.stop()
	l.writing.Wait()
	l.looking.Wait()
	for _, f := range l.feeds {
		for !l.complete(f) {
			if ctx.Err() != nil {
				l.wrong("%s does not give all changes: it is at %v of %v", f.api.Name(), f.next, l.acked)
				break
			}
			wait(ctx)
		}
	}
	l.all()
	l.reading.Wait()
	for _, api := range l.read {
		for writer, n := range l.acked {
			l.reread(ctx, api, writer, n)
		}
	}
	for what, err := range l.errors {
		l.report.Errors = append(l.report.Errors, fmt.Sprintf("%s: %v", what, err))
	}
	return l.report
}

// complete says whether a feed has given everything acknowledged.
func (l *Load) complete(f *feed) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for writer, n := range l.acked {
		if f.next[writer] < n {
			return false
		}
	}
	return true
}

// reread checks that a writer's n acknowledged documents are there, once each.
func (l *Load) reread(ctx context.Context, api API, writer string, n int) {
	ids, err := api.Stay(ctx, writer)
	if err != nil {
		l.wrong("%s: read %s again: %v", api.Name(), writer, err)
		return
	}
	count := map[string]int{}
	for _, id := range ids {
		count[id]++
	}
	for i := range n {
		if id := (Document{Writer: writer, N: i}).ID(); count[id] != 1 {
			l.wrong("%s has %s %d times, it was acknowledged", api.Name(), id, count[id])
		}
	}
}
