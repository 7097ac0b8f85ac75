package admin

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mayflydb/mayfly/internal/clock"
	"github.com/mayflydb/mayfly/internal/fault"
)

// Limits of the registry of operations.
const (
	maxRunning   = 8         // operations at the same time
	maxEnded     = 100       // operations that have ended and are still shown
	endedTime    = time.Hour // for how long they are shown, by the machine's time
	progressTime = 100 * time.Millisecond
)

// The states of an operation.
const (
	stateRunning    = "running"
	stateCancelling = "cancelling"
	stateDone       = "done"
	stateFailed     = "failed"
	stateCancelled  = "cancelled"
)

// Operations are the long work of a node: each runs in the background and shows its progress. Their times are the
// machine's, because a virtual clock stands still while they run. Operations are safe for concurrent use.
type Operations struct {
	log     *slog.Logger
	run     string // tells the events of this process from those of an earlier one
	over    context.Context
	stop    context.CancelFunc
	work    sync.WaitGroup
	streams atomic.Int64

	mu      sync.Mutex
	all     []*Operation // in the order of their starts
	seq     uint64       // of the newest change of any of them
	changed chan struct{}
}

// An Operation is one piece of long work.
type Operation struct {
	of     *Operations
	cancel context.CancelFunc
	watch  clock.Stopwatch

	done, total atomic.Int64
	told        atomic.Int64 // when progress was last announced, as the stopwatch shows it

	shown   OperationState // without progress; of.mu protects it and the fields below
	seq     uint64         // of the newest change
	ended   clock.Stopwatch
	elapsed time.Duration // of an operation that has ended
}

// An OperationState is an operation as clients see it.
type OperationState struct {
	ID      string     `json:"id"`
	Kind    string     `json:"kind"`   // such as "check"
	Target  string     `json:"target"` // what it works on, such as "db/container"; "" for everything
	State   string     `json:"state"`
	Started time.Time  `json:"started"`
	Ended   *time.Time `json:"ended,omitempty"`
	Seconds float64    `json:"seconds"` // how long it has run
	Done    int64      `json:"done"`
	Total   int64      `json:"total"` // 0 if unknown
	Unit    string     `json:"unit,omitempty"`
	Result  any        `json:"result,omitempty"`
	Error   *problem   `json:"error,omitempty"`
}

func newOperations(log *slog.Logger) *Operations {
	o := &Operations{log: log, run: rand.Text()[:8], changed: make(chan struct{})}
	o.over, o.stop = context.WithCancel(context.Background())
	return o
}

// Start begins work in the background: of a kind, on a target, counted in a unit. ctx gives work its values, but does
// not end it: Cancel and the end of the node do. It fails with fault.Busy if too much is running.
func (o *Operations) Start(
	ctx context.Context, kind, target, unit string, work func(context.Context, *Operation) (result any, err error),
) (*Operation, error) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	p := &Operation{of: o, cancel: cancel, watch: clock.Start()}
	p.shown = OperationState{
		ID: rand.Text(), Kind: kind, Target: target, Unit: unit, State: stateRunning, Started: clock.Wall().UTC(),
	}
	if err := o.add(p); err != nil {
		cancel()
		return nil, err
	}
	unlink := context.AfterFunc(o.over, cancel)
	go func() {
		defer o.work.Done()
		defer cancel()
		defer unlink()
		result, err := p.do(ctx, work)
		p.end(ctx, result, err)
	}()
	return p, nil
}

func (o *Operations) add(p *Operation) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.over.Err() != nil {
		return fault.New(fault.Unavailable, "mayfly is stopping")
	}
	o.forget()
	running := 0
	for _, other := range o.all {
		if other.shown.Ended == nil {
			running++
		}
	}
	if running >= maxRunning {
		return fault.New(fault.Busy, "%d operations are running already: wait for one of them, or cancel one", running)
	}
	o.all = append(o.all, p)
	o.work.Add(1)
	o.announce(p)
	return nil
}

// forget drops operations that ended long ago, or that are too many. The caller holds mu.
func (o *Operations) forget() {
	ended := 0
	for _, p := range o.all {
		if p.shown.Ended != nil {
			ended++
		}
	}
	o.all = slices.DeleteFunc(o.all, func(p *Operation) bool {
		gone := p.shown.Ended != nil && (ended > maxEnded || p.ended.Elapsed() > endedTime)
		if gone {
			ended--
		}
		return gone
	})
}

// announce tells all watchers that p has changed. The caller holds mu.
func (o *Operations) announce(p *Operation) {
	o.seq++
	p.seq = o.seq
	close(o.changed)
	o.changed = make(chan struct{})
}

// do runs work. A panic ends the operation, not the node.
func (p *Operation) do(
	ctx context.Context, work func(context.Context, *Operation) (any, error),
) (result any, err error) {
	defer func() {
		if r := recover(); r != nil {
			p.of.log.Error("an operation panicked", "kind", p.shown.Kind, "panic", r, "stack", string(debug.Stack()))
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	return work(ctx, p)
}

func (p *Operation) end(ctx context.Context, result any, err error) {
	p.of.mu.Lock()
	defer p.of.mu.Unlock()
	now := clock.Wall().UTC()
	p.shown.Ended, p.ended, p.elapsed = &now, clock.Start(), p.watch.Elapsed()
	switch {
	case err == nil:
		p.shown.State, p.shown.Result = stateDone, result
	case ctx.Err() != nil:
		p.shown.State, p.shown.Result = stateCancelled, result
	default:
		failure := newProblem(err)
		p.shown.State, p.shown.Result, p.shown.Error = stateFailed, result, &failure
		p.of.log.Warn("an operation failed", "kind", p.shown.Kind, "target", p.shown.Target, "error", err)
	}
	p.of.announce(p)
}

// ID names the operation in paths.
func (p *Operation) ID() string { return p.shown.ID }

// Progress says how much is done, and of how much; total is 0 if that is unknown. It is cheap: call it often.
func (p *Operation) Progress(done, total int64) {
	p.done.Store(done)
	p.total.Store(total)
	now, told := int64(p.watch.Elapsed()), p.told.Load()
	if now-told < int64(progressTime) || !p.told.CompareAndSwap(told, now) {
		return
	}
	p.of.mu.Lock()
	defer p.of.mu.Unlock()
	p.of.announce(p)
}

// state is the operation as it is now. The caller holds of.mu.
func (p *Operation) state() OperationState {
	s := p.shown
	s.Done, s.Total = p.done.Load(), p.total.Load()
	elapsed := p.elapsed
	if s.Ended == nil {
		elapsed = p.watch.Elapsed()
	}
	s.Seconds = elapsed.Round(time.Millisecond).Seconds()
	return s
}

// List returns all operations, the newest first.
func (o *Operations) List() []OperationState {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.forget()
	list := make([]OperationState, 0, len(o.all))
	for _, p := range slices.Backward(o.all) {
		list = append(list, p.state())
	}
	return list
}

// Get returns one operation; fault.NotFound.
func (o *Operations) Get(id string) (OperationState, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	p := o.find(id)
	if p == nil {
		return OperationState{}, errNoOperation(id)
	}
	return p.state(), nil
}

func (o *Operations) find(id string) *Operation {
	o.forget()
	if i := slices.IndexFunc(o.all, func(p *Operation) bool { return p.shown.ID == id }); i >= 0 {
		return o.all[i]
	}
	return nil
}

func errNoOperation(id string) error {
	return fault.New(fault.NotFound, "there is no operation %q: it never began, or it ended long ago", id)
}

// Cancel cancels an operation that is running, and forgets one that has ended; fault.NotFound.
func (o *Operations) Cancel(id string) (OperationState, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	p := o.find(id)
	if p == nil {
		return OperationState{}, errNoOperation(id)
	}
	if p.shown.Ended != nil {
		o.all = slices.DeleteFunc(o.all, func(other *Operation) bool { return other == p })
		return p.state(), nil
	}
	p.shown.State = stateCancelling
	p.cancel()
	o.announce(p)
	return p.state(), nil
}

// A change is the state of an operation, and the sequence of its newest change.
type change struct {
	seq   uint64
	state OperationState
}

// since returns the operations that have changed after seq, one or all, in the order of these changes, and a channel
// that is closed at the next change. An operation that changes often is there once, so watchers need no buffers.
func (o *Operations) since(seq uint64, id string) (changes []change, next <-chan struct{}) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, p := range o.all {
		if p.seq > seq && (id == "" || id == p.shown.ID) {
			changes = append(changes, change{p.seq, p.state()})
		}
	}
	slices.SortFunc(changes, func(a, b change) int { return cmp.Compare(a.seq, b.seq) })
	return changes, o.changed
}

// close cancels everything, and waits for the end of operations until ctx ends.
func (o *Operations) close(ctx context.Context) {
	o.mu.Lock() // otherwise an operation could begin after Wait
	o.stop()
	o.mu.Unlock()
	ended := make(chan struct{})
	go func() { o.work.Wait(); close(ended) }()
	select {
	case <-ended:
	case <-ctx.Done():
		o.log.Warn("operations did not end in time")
	}
}
