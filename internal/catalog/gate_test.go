package catalog_test

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/kv"
)

// A valve stops the next batch until it is told how to go on.
type valve struct {
	kv.Engine
	shut    atomic.Bool
	reached chan struct{}
	outcome chan error // nil lets the batch through
}

func (v *valve) Apply(ctx context.Context, b *kv.Batch) error {
	if v.shut.CompareAndSwap(true, false) {
		v.reached <- struct{}{}
		if err := <-v.outcome; err != nil {
			return err
		}
	}
	return v.Engine.Apply(ctx, b)
}

func newValve(h *house) *valve {
	v := &valve{Engine: h.engine, reached: make(chan struct{}), outcome: make(chan error)}
	var err error
	h.Catalog, err = catalog.Open(ctx, v, nil)
	h.ok(err)
	return v
}

// TestGate looks at a container from all sides while its replacement is on its way to the disk.
func TestGate(t *testing.T) {
	broken := errors.New("the disk is full")
	for _, c := range []struct {
		name string
		disk error
		want expiry.TTL
	}{
		{"success", nil, 5},
		{"failure", broken, expiry.Never},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := newHouse(t, false)
			v := newValve(h)
			ct := h.container(h.database("d"), "c")
			early, err := ct.Enter(ctx, 1000)
			h.ok(err)
			v.shut.Store(true)
			replaced := make(chan error)
			go func() {
				_, err := h.ReplaceContainer(ctx, 1000, ct, func(st *catalog.State) (catalog.Definition, error) {
					def := st.Definition
					def.TTL = 5
					return def, nil
				})
				replaced <- err
			}()
			<-v.reached
			if ct.State().TTL != expiry.Never {
				t.Error("a change was seen before it was durable")
			}
			if _, err := early.Refresh(); fault.KindOf(err) != fault.Conflict {
				t.Errorf("a write may go on under the gate: %v", err)
			}
			entered := make(chan catalog.View, 8)
			for n := range cap(entered) {
				go func() {
					late, err := ct.Enter(ctx, 1001+expiry.Stamp(n))
					if err != nil {
						t.Error(err)
					}
					entered <- late
				}()
			}
			for range 1000 {
				runtime.Gosched()
			}
			if n := len(entered); n > 0 {
				t.Errorf("%d requests have passed the gate", n)
			}
			v.outcome <- c.disk
			if err := <-replaced; !errors.Is(err, c.disk) {
				t.Errorf("replaced: %v", err)
			}
			for range cap(entered) {
				if late := <-entered; late.TTL != c.want || late.Now < 1001 {
					t.Errorf("entered at %d with ttl %d", late.Now, late.TTL)
				}
			}
			if _, err := early.Refresh(); (err == nil) != (c.disk != nil) {
				t.Errorf("an early write afterwards: %v", err)
			}
		})
	}
}

// TestDeleteIsSeenAtOnce asks for a container whose deletion is on its way to the disk.
func TestDeleteIsSeenAtOnce(t *testing.T) {
	broken := errors.New("the disk is full")
	for _, disk := range []error{nil, broken} {
		h := newHouse(t, false)
		v := newValve(h)
		ct := h.container(h.database("d"), "c")
		early, err := ct.Enter(ctx, 1000)
		h.ok(err)
		v.shut.Store(true)
		deleted := make(chan error)
		go func() { deleted <- h.DeleteContainer(ctx, ct) }()
		<-v.reached
		if _, err := early.Refresh(); fault.KindOf(err) != fault.Conflict {
			t.Errorf("a write may slip in behind the deletion: %v", err)
		}
		v.outcome <- disk
		if err := <-deleted; !errors.Is(err, disk) {
			t.Errorf("deleted: %v", err)
		}
		_, err = ct.Enter(ctx, 1000)
		if (err == nil) != (disk != nil) {
			t.Errorf("entered after the deletion: %v", err)
		}
		_, err = h.Container(ct.Database, "c")
		if (err == nil) != (disk != nil) {
			t.Errorf("found after the deletion: %v", err)
		}
	}
}

// TestAWaitAtTheGateEnds gives up requests that wait for a change, or for a write that is under way.
func TestAWaitAtTheGateEnds(t *testing.T) {
	h := newHouse(t, false)
	v := newValve(h)
	ct := h.container(h.database("d"), "c")
	v.shut.Store(true)
	replaced := make(chan error)
	go func() {
		_, err := h.ReplaceContainer(ctx, 1000, ct, func(st *catalog.State) (catalog.Definition, error) {
			return st.Definition, nil
		})
		replaced <- err
	}()
	<-v.reached
	request, giveUp := context.WithCancel(ctx)
	entered := make(chan error)
	go func() {
		_, err := ct.Enter(request, 1001)
		entered <- err
	}()
	giveUp()
	if err := <-entered; !errors.Is(err, context.Canceled) {
		t.Errorf("entered: %v", err)
	}
	v.outcome <- nil
	h.ok(<-replaced)

	ct.BeginWrite() // from now on a new instant waits for what is on its way
	defer ct.EndWrite(0)
	v.shut.Store(true)
	first, later := make(chan error), make(chan error)
	go func() {
		_, err := ct.Enter(ctx, 2000)
		first <- err
	}()
	<-v.reached
	request, giveUp = context.WithCancel(ctx)
	go func() {
		_, err := ct.Enter(request, 2000)
		later <- err
	}()
	giveUp()
	if err := <-later; !errors.Is(err, context.Canceled) {
		t.Errorf("a request behind another: %v", err)
	}
	v.outcome <- errors.New("nothing was written")
	if err := <-first; err != nil {
		t.Errorf("the first one: %v", err)
	}
}

// Instants never go back, whoever brings them, and a closed policy knows the newest.
func TestInstantsUnderChange(t *testing.T) {
	h := newHouse(t, false)
	ct := h.container(h.database("d"), "c")
	var clock atomic.Int64
	clock.Store(1000)
	var work sync.WaitGroup
	for range 4 {
		work.Go(func() {
			last := catalog.View{State: ct.State()}
			for range 2000 {
				v, err := ct.Enter(ctx, clock.Add(1)-3)
				if err != nil {
					t.Error(err)
					return
				}
				if v.Now < last.Now || v.Sequence < last.Sequence || v.Policy.OwnFloor < last.Policy.OwnFloor {
					t.Errorf("went back from %d, sequence %d, floor %d to %d, %d, %d", last.Now, last.Sequence,
						last.Policy.OwnFloor,
						v.Now, v.Sequence, v.Policy.OwnFloor)
				}
				if v.State != last.State && v.Policy.OwnFloor < last.Now && v.Sequence != last.Sequence &&
					last.Now > 0 {
					t.Errorf("a policy was closed at %d after a request at %d", v.Policy.OwnFloor, last.Now)
				}
				last = v
			}
		})
	}
	work.Go(func() {
		for n := range 200 {
			_, err := h.ReplaceContainer(ctx, clock.Load(), ct, func(st *catalog.State) (catalog.Definition, error) {
				def := st.Definition
				def.TTL = 10 + expiry.TTL(n)
				return def, nil
			})
			if err != nil {
				t.Error(err)
			}
		}
	})
	work.Wait()
}
