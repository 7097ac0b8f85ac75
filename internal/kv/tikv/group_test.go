package tikv

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tikv/client-go/v2/tikvrpc"

	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/kv"
)

// transactions counts those that a process writes, by their start timestamps.
type transactions struct {
	mu     sync.Mutex
	starts map[uint64]bool
}

func (x *transactions) pass(
	_ context.Context, req *tikvrpc.Request, send func() (*tikvrpc.Response, error),
) (*tikvrpc.Response, error) {
	if req.Type == tikvrpc.CmdPrewrite {
		x.mu.Lock()
		x.starts[req.Prewrite().StartVersion] = true
		x.mu.Unlock()
	}
	return send()
}

func (x *transactions) count() int {
	x.mu.Lock()
	defer x.mu.Unlock()
	return len(x.starts)
}

// busy holds a counter with a batch whose order waits until release is called, which waits for the batch.
func busy(t *testing.T, e *Engine, counter string) (release func()) {
	t.Helper()
	inside, over, done := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	b := &kv.Batch{}
	b.Follow([]byte(counter), func(last []byte, b *kv.Batch) ([]byte, error) {
		close(inside)
		<-over
		return next(last, b)
	})
	go func() { done <- e.Apply(context.Background(), b) }()
	<-inside
	return func() {
		t.Helper()
		close(over)
		if err := <-done; err != nil {
			t.Errorf("the batch that held %s: %v", counter, err)
		}
	}
}

// waiting waits until so many batches are in the queue of a counter.
func waiting(e *Engine, counter string, n int) {
	for {
		e.mu.Lock()
		q := e.queues[string(e.space.data([]byte(counter)))]
		enough := q != nil && len(q.waiting) >= n
		e.mu.Unlock()
		if enough {
			return
		}
		runtime.Gosched()
	}
}

// TestGroup lets batches wait for a counter together. They share a transaction, and those that fail do it alone.
func TestGroup(t *testing.T) {
	x := &transactions{starts: map[uint64]bool{}}
	e := newCluster(t).over(t, Options{}, x.pass)
	defer stop(t, e)
	set(t, e, "changed", []byte("1"))
	old := view(t, e)
	set(t, e, "changed", []byte("2"))
	mine := errors.New("mine")
	fresh := view(t, e)
	group := []struct {
		name string
		fill func(b *kv.Batch)
		want func(err error) bool
	}{
		{"passes", func(*kv.Batch) {}, func(err error) bool { return err == nil }},
		{"conflict", func(b *kv.Batch) {
			b.Since = old.Mark
			b.Read([]byte("changed"))
		}, func(err error) bool { return fault.KindOf(err) == fault.Conflict }},
		{"reads what has not changed", func(b *kv.Batch) {
			b.Since = fresh.Mark
			b.Read([]byte("changed"))
		}, func(err error) bool { return err == nil }},
		{"error of an order", func(b *kv.Batch) {
			b.Follow([]byte("n"), func([]byte, *kv.Batch) ([]byte, error) { return nil, mine })
		}, func(err error) bool { return err == mine }},
		{"too large", func(b *kv.Batch) {
			b.Follow([]byte("n"), func(last []byte, b *kv.Batch) ([]byte, error) {
				b.Set([]byte(strings.Repeat("k", maxKeyBytes+1)), nil)
				return last, nil
			})
		}, func(err error) bool { return fault.KindOf(err) == fault.TooLarge }},
		{"passes, too", func(*kv.Batch) {}, func(err error) bool { return err == nil }},
	}
	release := busy(t, e, "n")
	before := x.count()
	var running sync.WaitGroup
	for i, c := range group {
		running.Go(func() {
			b := passes("n")
			c.fill(b)
			if err := e.Apply(t.Context(), b); !c.want(err) {
				t.Errorf("%s: %v", c.name, err)
			}
		})
		waiting(e, "n", i+1)
	}
	release()
	running.Wait()
	if got := x.count() - before; got != 2 {
		t.Errorf("%d transactions, want one for the batch before and one for the group", got)
	}
	if got := number([]byte(get(t, e, "n"))); got != 4 {
		t.Errorf("the counter is %d, want 4", got)
	}
	waitIdle(e) // a queue that nobody waits in goes
}

// waitIdle waits until no queue is served.
func waitIdle(e *Engine) {
	for {
		e.mu.Lock()
		idle := len(e.queues) == 0
		e.mu.Unlock()
		if idle {
			return
		}
		runtime.Gosched()
	}
}

// TestGroupGivesBackLate lets the check of a whole group fail. The client gives its locks back in the background, here
// so late that the batches have taken theirs: those stay, and the group needs no second transaction.
func TestGroupGivesBackLate(t *testing.T) {
	x := &transactions{starts: map[uint64]bool{}}
	var step atomic.Int32 // 1: the batch before; 2: the group; 3: it gives locks back; 4: it is written
	arrived, goOn, over := make(chan struct{}), make(chan struct{}), make(chan struct{})
	e := newCluster(t).over(t, Options{}, func(
		ctx context.Context, req *tikvrpc.Request, send func() (*tikvrpc.Response, error),
	) (*tikvrpc.Response, error) {
		switch {
		case req.Type == tikvrpc.CmdPessimisticRollback && step.CompareAndSwap(2, 3):
			close(arrived)
			<-goOn
			defer close(over)
		case req.Type != tikvrpc.CmdPrewrite || step.CompareAndSwap(1, 2) || step.Load() == 0:
		default:
			<-arrived
			if step.CompareAndSwap(3, 4) {
				close(goOn)
				<-over
			}
		}
		return x.pass(ctx, req, send)
	})
	defer stop(t, e)
	set(t, e, "same", []byte("1"))
	set(t, e, "changed", []byte("1"))
	views := []kv.View{view(t, e), {}}
	set(t, e, "changed", []byte("2"))
	views[1] = view(t, e)
	release := busy(t, e, "n")
	before := x.count()
	var running sync.WaitGroup
	for i, key := range []string{"same", "changed"} {
		running.Go(func() {
			b := passes("n")
			b.Since = views[i].Mark
			b.Read([]byte(key))
			if err := e.Apply(t.Context(), b); err != nil {
				t.Errorf("a batch that rests on %q: %v", key, err)
			}
		})
		waiting(e, "n", i+1)
	}
	step.Store(1)
	release()
	running.Wait()
	if got := x.count() - before; got != 2 {
		t.Errorf("%d transactions, want one for the batch before and one for the group", got)
	}
}

// TestGroupWithin lets the second batch of a group depend on what the first one changes.
func TestGroupWithin(t *testing.T) {
	e := newCluster(t).process(t, Options{})
	defer stop(t, e)
	first, second := view(t, e), view(t, e)
	release := busy(t, e, "n")
	var running sync.WaitGroup
	var errs [2]error
	for i, v := range []kv.View{first, second} {
		running.Go(func() {
			b := passes("n")
			b.Since = v.Mark
			b.Read([]byte("k"))
			b.Set([]byte("k"), []byte{byte(i)})
			errs[i] = e.Apply(t.Context(), b)
		})
		waiting(e, "n", i+1)
	}
	release()
	running.Wait()
	if errs[0] != nil || fault.KindOf(errs[1]) != fault.Conflict {
		t.Errorf("the first: %v; the second: %v", errs[0], errs[1])
	}
	if get(t, e, "k") != "\x00" {
		t.Error("the wrong batch has written")
	}
}

// TestGroupBound lets a batch of a group have a bound that its order sets: it fails alone.
func TestGroupBound(t *testing.T) {
	x := &transactions{starts: map[uint64]bool{}}
	e := newCluster(t).over(t, Options{}, x.pass)
	defer stop(t, e)
	now := view(t, e).Time
	release := busy(t, e, "n")
	var running sync.WaitGroup
	var errs [3]error
	for i := range errs {
		running.Go(func() {
			b := &kv.Batch{}
			b.Follow([]byte("n"), func(last []byte, b *kv.Batch) ([]byte, error) {
				if i == 1 {
					b.Before = now
				}
				return next(last, b)
			})
			errs[i] = e.Apply(t.Context(), b)
		})
		waiting(e, "n", i+1)
	}
	release()
	running.Wait()
	if errs[0] != nil || fault.KindOf(errs[1]) != fault.Conflict || errs[2] != nil {
		t.Errorf("errors are %v", errs)
	}
	if got := number([]byte(get(t, e, "n"))); got != 3 {
		t.Errorf("the counter is %d, want 3", got)
	}
}

// TestGroupFarBounds gives the batches of a group bounds, as writes to documents with deadlines have them. Far ones
// share a transaction, and one that is near has its own.
func TestGroupFarBounds(t *testing.T) {
	x := &transactions{starts: map[uint64]bool{}}
	e := newCluster(t).over(t, Options{}, x.pass)
	defer stop(t, e)
	for _, c := range []struct {
		bounds []time.Duration
		want   int
	}{
		{[]time.Duration{time.Hour, time.Minute, 10 * time.Hour, 2 * time.Minute}, 1},
		{[]time.Duration{time.Hour, 10 * time.Second, 2 * time.Hour}, 2},
	} {
		now := view(t, e).Time
		release := busy(t, e, "n")
		before := x.count()
		var running sync.WaitGroup
		for i, after := range c.bounds {
			running.Go(func() {
				b := &kv.Batch{}
				b.Follow([]byte("n"), func(last []byte, b *kv.Batch) ([]byte, error) {
					b.Before = now.Add(after)
					return next(last, b)
				})
				if err := e.Apply(t.Context(), b); err != nil {
					t.Error(err)
				}
			})
			waiting(e, "n", i+1)
		}
		release()
		running.Wait()
		if got := x.count() - before - 1; got != c.want {
			t.Errorf("batches with the bounds %v need %d transactions, want %d", c.bounds, got, c.want)
		}
	}
}

// TestPanicOfAnOrder goes to the caller of Apply, and to nobody else.
func TestPanicOfAnOrder(t *testing.T) {
	e := newCluster(t).process(t, Options{})
	defer stop(t, e)
	func() {
		defer func() {
			if recover() != "mine" {
				t.Error("the panic is lost")
			}
		}()
		b := &kv.Batch{}
		b.Follow([]byte("n"), func([]byte, *kv.Batch) ([]byte, error) { panic("mine") })
		_ = e.Apply(t.Context(), b)
	}()
	apply(t, e, passes("n"))
}

// TestOrdersTakenInOrder lets batches pass two counters in both orders.
func TestOrdersTakenInOrder(t *testing.T) {
	c := newCluster(t)
	processes := []*Engine{c.process(t, Options{}), c.process(t, Options{})}
	defer stop(t, processes...)
	const each = 15
	var running sync.WaitGroup
	add := func(last []byte, _ *kv.Batch) ([]byte, error) { return bytesOf(number(last) + 1), nil }
	for i, counters := range [][]string{{"m", "n"}, {"n", "m"}, {"m"}, {"n"}} {
		running.Go(func() {
			for range each {
				var b kv.Batch
				for _, counter := range counters {
					b.Follow([]byte(counter), add)
				}
				if err := processes[i%2].Apply(t.Context(), &b); err != nil {
					t.Error(err)
				}
			}
		})
	}
	running.Wait()
	for _, counter := range []string{"m", "n"} {
		if got := number([]byte(get(t, processes[0], counter))); got != 3*each {
			t.Errorf("counter %s is %d, want %d", counter, got, 3*each)
		}
	}
}
