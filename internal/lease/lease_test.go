package lease_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/keys"
	"github.com/mayflydb/mayfly/internal/kv"
	"github.com/mayflydb/mayfly/internal/kv/kvtest"
	"github.com/mayflydb/mayfly/internal/kv/memory"
	"github.com/mayflydb/mayfly/internal/lease"
)

// A world is an engine that several processes share. Nothing renews a lease by itself.
type world struct {
	*testing.T
	cluster *kvtest.Cluster
	gone    map[string]bool
}

func newWorld(t *testing.T) *world {
	w := &world{t, kvtest.NewCluster(memory.New(), time.Unix(1_700_000_000, 0)), map[string]bool{}}
	t.Cleanup(func() { w.ok(w.cluster.Close()) })
	return w
}

func (w *world) ok(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// A process is one that takes leases and works.
type process struct {
	*world
	*lease.Keeper
	engine kv.Engine
}

func (w *world) process() *process {
	engine := w.cluster.Process()
	gone := func(name string) bool { return w.gone[name] }
	return &process{w, lease.New(lease.Options{Engine: engine, Term: 10 * time.Second, Gone: gone}), engine}
}

func (p *process) take(name string) *lease.Lease {
	p.Helper()
	l, err := p.Take(p.Context(), name)
	p.ok(err)
	return l
}

func (p *process) seize(name string) *lease.Lease {
	p.Helper()
	l, err := p.Seize(p.Context(), name)
	p.ok(err)
	return l
}

func (p *process) renew() {
	p.Helper()
	p.ok(p.Renew(p.Context()))
}

// write does one batch of the work, between whose start and commit something may happen.
func (p *process) write(l *lease.Lease, value string, between func()) error {
	p.Helper()
	view, err := p.engine.View(p.Context())
	p.ok(err)
	b := &kv.Batch{Since: view.Mark}
	b.Set([]byte("work"), []byte(value))
	if err := l.Guard(p.Context(), b); err != nil {
		return err
	}
	between()
	return p.engine.Apply(p.Context(), b)
}

func nothing() {}

func (w *world) worked() (value string) {
	w.Helper()
	_, err := w.cluster.Process().Get(w.Context(), []byte("work"), func(v []byte) error {
		value = string(v)
		return nil
	})
	w.ok(err)
	return value
}

func TestOneHolderAtATime(t *testing.T) {
	w := newWorld(t)
	a, b := w.process(), w.process()
	la := a.take("x")
	if la == nil {
		t.Fatal("nobody has it, and it is not given")
	}
	if a.take("x") != nil || b.take("x") != nil {
		t.Error("it was given twice")
	}
	if b.take("y") == nil {
		t.Error("another lease is taken, too")
	}
	w.ok(la.Release(t.Context()))
	if err := a.write(la, "a", nothing); err != lease.ErrLost {
		t.Errorf("got %v after the release, want that it is lost", err)
	}
	lb := b.take("x")
	if lb == nil {
		t.Fatal("it was released, and is not given")
	}
	w.ok(b.write(lb, "b", nothing))
	w.ok(la.Release(t.Context())) // again: it is not b's that goes
	w.ok(b.write(lb, "b", nothing))
}

func TestTakenOverAfterACrash(t *testing.T) {
	w := newWorld(t)
	a, b := w.process(), w.process()
	la := a.take("x")
	for range 5 { // alive
		w.cluster.Move(9 * time.Second)
		a.renew()
		b.renew()
		if b.take("x") != nil {
			t.Fatal("it was taken from a process that is alive")
		}
	}
	w.cluster.Move(9 * time.Second) // a is paused
	b.renew()
	if b.take("x") != nil {
		t.Fatal("it was taken before its term was over")
	}
	w.cluster.Move(time.Second)
	b.renew()
	lb := b.take("x")
	if lb == nil {
		t.Fatal("its term is over, and it is not given")
	}
	w.ok(b.write(lb, "b", nothing))
	// a goes on, and does not know.
	if la.Lost() {
		t.Fatal("a cannot know")
	}
	if err := a.write(la, "a", nothing); err != lease.ErrLost {
		t.Errorf("got %v, want that it is lost", err)
	}
	if !la.Lost() || w.worked() != "b" {
		t.Errorf("lost: %t; the work of %q is there", la.Lost(), w.worked())
	}
	a.renew()
	if a.take("x") != nil {
		t.Error("it was taken from a process that is alive")
	}
}

// A process is paused after it has made sure of its lease, and before it commits.
func TestPausedBeforeTheCommit(t *testing.T) {
	for _, own := range []bool{true, false} {
		t.Run(fmt.Sprint("with a view of its own ", own), func(t *testing.T) {
			w := newWorld(t)
			a, b := w.process(), w.process()
			la := a.take("x")
			paused := func() {
				w.cluster.Move(time.Minute)
				b.renew()
				w.ok(b.write(b.take("x"), "b", nothing))
			}
			var err error
			if own {
				err = a.write(la, "a", paused)
			} else {
				batch := &kv.Batch{}
				batch.Set([]byte("work"), []byte("a"))
				w.ok(la.Guard(t.Context(), batch))
				paused()
				err = a.engine.Apply(t.Context(), batch)
			}
			if fault.KindOf(err) != fault.Conflict || w.worked() != "b" {
				t.Errorf("got %v, want a conflict; the work of %q is there", err, w.worked())
			}
			a.renew()
			if !la.Lost() {
				t.Error("the renewal did not notice")
			}
		})
	}
}

// Between the view of a batch and its guard, the lease goes away and comes back.
func TestLostAndTakenBack(t *testing.T) {
	w := newWorld(t)
	a, b := w.process(), w.process()
	a.take("x")
	view, err := a.engine.View(t.Context())
	w.ok(err)
	w.cluster.Move(time.Minute)
	b.renew()
	lb := b.take("x")
	w.ok(b.write(lb, "b", nothing))
	w.ok(lb.Release(t.Context()))
	a.renew()
	la := a.take("x")
	batch := &kv.Batch{Since: view.Mark}
	batch.Set([]byte("work"), []byte("a"))
	w.ok(la.Guard(t.Context(), batch))
	if err := a.engine.Apply(t.Context(), batch); fault.KindOf(err) != fault.Conflict {
		t.Errorf("got %v, want a conflict: the batch rests on a moment before b's work", err)
	}
}

// A renewal is no reason for a batch to begin again, and keeps a lease that is late but not taken.
func TestRenewalDisturbsNoWork(t *testing.T) {
	w := newWorld(t)
	a := w.process()
	la := a.take("x")
	w.ok(a.write(la, "1", func() { w.cluster.Move(time.Minute); a.renew() }))
	b := w.process()
	if b.take("x") != nil || la.Lost() {
		t.Error("a late renewal counts, and this one did not")
	}
	w.cluster.Move(11 * time.Second)
	w.ok(a.write(la, "2", nothing)) // late, and nobody has it
}

func TestCloseGivesBack(t *testing.T) {
	w := newWorld(t)
	a, b := w.process(), w.process()
	la := a.take("x")
	a.take("y")
	w.ok(a.Close(t.Context()))
	if err := a.write(la, "a", nothing); err != lease.ErrLost {
		t.Errorf("got %v, want that it is lost", err)
	}
	if b.take("x") == nil || b.take("y") == nil {
		t.Error("the leases of a closed process are not given")
	}
}

func TestSeize(t *testing.T) {
	w := newWorld(t)
	a, b := w.process(), w.process()
	la := a.take("x")
	if b.seize("x") != nil {
		t.Error("it was taken from a process that has just got it")
	}
	w.cluster.Move(9 * time.Second)
	a.renew()
	w.cluster.Move(time.Second)
	lb := b.seize("x")
	if lb == nil {
		t.Fatal("it was not given")
	}
	if err := a.write(la, "a", nothing); err != lease.ErrLost {
		t.Errorf("got %v, want that it is lost", err)
	}
	if a.seize("x") != nil {
		t.Error("it was taken back at once")
	}
	w.ok(b.write(lb, "b", nothing))
}

func TestOthersAreNotAskedEachTime(t *testing.T) {
	w := newWorld(t)
	a, b := w.process(), w.process()
	la := a.take("x")
	b.renew()
	w.ok(la.Release(t.Context()))
	if b.take("x") != nil {
		t.Error("b has asked the engine between two looks")
	}
	b.renew()
	if b.take("x") == nil {
		t.Error("it is free, and not given")
	}
}

func TestWhatNobodyNeedsGoes(t *testing.T) {
	w := newWorld(t)
	a, b := w.process(), w.process()
	la := a.take("x")
	a.take("y")
	w.gone["x"] = true
	b.renew() // leaves alone what a living process has
	w.ok(a.write(la, "a", nothing))
	a.renew()
	if err := a.write(la, "a", nothing); err != lease.ErrLost {
		t.Errorf("got %v, want that it is lost", err)
	}
	if got := w.stored(); got != 2 { // y and a
		t.Errorf("%d keys, want 2", got)
	}
	w.gone["y"] = true
	w.cluster.Move(time.Minute)
	b.renew()
	b.renew()
	if got := w.stored(); got != 0 {
		t.Errorf("%d keys, want none", got)
	}
}

// stored counts the keys that leases have.
func (w *world) stored() (n int) {
	w.Helper()
	for _, bounds := range []func() ([]byte, []byte){keys.LeaseBounds, keys.HolderBounds} {
		lower, upper := bounds()
		it, err := w.cluster.Process().Iterate(w.Context(), lower, upper)
		w.ok(err)
		for it.Next() {
			n++
		}
		w.ok(it.Close())
	}
	return n
}

func TestNames(t *testing.T) {
	w := newWorld(t)
	a := w.process()
	for _, name := range []string{"", fmt.Sprintf("%065d", 1)} {
		if _, err := a.Take(t.Context(), name); fault.KindOf(err) != fault.Invalid {
			t.Errorf("%q: got %v, want invalid", name, err)
		}
	}
}

// An engine of one process has no keys of leases; there is still one holder at a time.
func TestAlone(t *testing.T) {
	engine := &counted{Engine: memory.New()}
	k := lease.New(lease.Options{Engine: engine})
	k.Start()
	l, err := k.Take(t.Context(), "x")
	if err != nil || l == nil {
		t.Fatalf("got %v, %v", l, err)
	}
	if again, err := k.Take(t.Context(), "x"); again != nil || err != nil {
		t.Errorf("got %v, %v, want nothing", again, err)
	}
	b := &kv.Batch{}
	if err := l.Guard(t.Context(), b); err != nil || len(b.Reads) > 0 || b.Since != 0 {
		t.Errorf("got %v and the batch %v, want nothing", err, b)
	}
	if err := k.Renew(t.Context()); err != nil {
		t.Error(err)
	}
	if err := l.Release(t.Context()); err != nil {
		t.Error(err)
	}
	if again, err := k.Take(t.Context(), "x"); again == nil || err != nil {
		t.Errorf("got %v, %v, want the lease", again, err)
	}
	if err := k.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if engine.calls > 0 {
		t.Errorf("%d calls of the engine, want none", engine.calls)
	}
	if err := engine.Engine.Close(); err != nil {
		t.Error(err)
	}
}

// counted is an engine that counts calls.
type counted struct {
	kv.Engine
	calls int
}

func (e *counted) Get(ctx context.Context, key []byte, use func([]byte) error) (bool, error) {
	e.calls++
	return e.Engine.Get(ctx, key, use)
}

func (e *counted) View(ctx context.Context) (kv.View, error) {
	e.calls++
	return e.Engine.View(ctx)
}

func (e *counted) Apply(ctx context.Context, b *kv.Batch) error {
	e.calls++
	return e.Engine.Apply(ctx, b)
}
