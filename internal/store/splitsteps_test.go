package store_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/clock"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/keys"
	"github.com/mayflydb/mayfly/internal/kv"
	"github.com/mayflydb/mayfly/internal/kv/pebble"
	"github.com/mayflydb/mayfly/internal/store"
)

// A stepping engine holds each step of a split until the test lets it go.
type stepping struct {
	*pebble.Engine
	arrived, leave chan struct{}
}

func (e stepping) Apply(ctx context.Context, b *kv.Batch) error {
	copies := func(op kv.Op) bool {
		rng, kind, _, err := keys.Split(op.Key)
		return err == nil && kind == keys.KindBuilding && op.Value != nil &&
			string(op.Key) == string(rng.Splitting(nil))
	}
	if slices.ContainsFunc(b.Ops, copies) {
		select {
		case e.arrived <- struct{}{}:
		case <-ctx.Done():
			return ctx.Err()
		}
		select {
		case <-e.leave:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return e.Engine.Apply(ctx, b)
}

// A stepper is a world whose splits go on when the test says so.
type stepper struct {
	*world
	engine stepping
	ready  bool // a step waits
}

// newStepper makes steps of so many documents.
func newStepper(t *testing.T, def catalog.Definition, documents int) *stepper {
	t.Cleanup(store.SplitInSteps(documents))
	s := &stepper{world: newWorld(t, def)}
	s.enter()
	s.again = func() {
		s.world.close()
		s.open()
		s.enter()
	}
	return s
}

// enter puts the engine of the world behind one that holds steps.
func (s *stepper) enter() {
	s.engine = stepping{s.world.engine, make(chan struct{}), make(chan struct{})}
	s.ready = false
	s.through(s.engine)
	s.wait()
}

// wait waits until a step of a split waits, or none is under way.
func (s *stepper) wait() {
	s.t.Helper()
	for range 10_000 {
		if s.c.State().Splitting == nil {
			return
		}
		select {
		case <-s.engine.arrived:
			s.ready = true
			return
		default:
		}
		s.ok(s.store.ResumeBuilds(context.Background())) // it may have stopped with the engine before
		s.ok(clock.Pause(context.Background(), time.Millisecond))
	}
	s.t.Fatal("the split does not go on")
}

// begin begins to split a range, nothing of which is copied yet.
func (s *stepper) begin(parent uint16) error {
	_, err := s.store.Split(context.Background(), s.c, parent, nil)
	if err == nil {
		s.wait()
	}
	return err
}

// step does one step, and reports whether the split goes on.
func (s *stepper) step() bool {
	s.t.Helper()
	if s.c.State().Splitting == nil {
		return false
	}
	if !s.ready {
		s.wait()
	}
	if s.ready {
		s.ready = false
		s.engine.leave <- struct{}{}
		s.wait()
	}
	return s.c.State().Splitting != nil
}

// unseal goes on while writes wait.
func (s *stepper) unseal() {
	for split := s.c.State().Splitting; split != nil && split.Sealed; split = s.c.State().Splitting {
		s.step()
	}
}

// release lets go of a step of a split that is over.
func (s *stepper) release() {
	if s.ready {
		s.ready = false
		s.engine.leave <- struct{}{}
	}
}

func (s *stepper) finish() {
	s.t.Helper()
	for n := 0; s.step(); n++ {
		if n > 10_000 {
			s.t.Fatal("the split has no end")
		}
	}
	s.consistent()
}

// TestModelOverSplits does what TestModel does while ranges are being split, one document after the other.
func TestModelOverSplits(t *testing.T) {
	for range times(*runs) {
		s := *seed
		if s == 0 {
			s = rand.Uint64()
		}
		t.Run(fmt.Sprintf("seed=%d", s), func(t *testing.T) {
			w := newStepper(t, definition(expiry.Never), 1+int(s%3))
			p := newPlayer(w.world, s)
			p.unordered = true
			rng := rand.New(rand.NewPCG(s, 5))
			p.play(func() {
				ranges := w.c.State().Ranges()
				switch {
				case w.c.State().Splitting != nil:
					if rng.IntN(3) > 0 {
						p.note("step of a split")
						w.step()
					}
					w.unseal()
				case rng.IntN(12) == 0 && len(ranges) < 20:
					p.note("split")
					err := w.begin(ranges[rng.IntN(len(ranges))].Number)
					if err != nil && fault.KindOf(err) != fault.Exists && fault.KindOf(err) != fault.Invalid {
						t.Fatal(err)
					}
				}
			})
			w.finish()
		})
		if *seed != 0 {
			return
		}
	}
}

// TestOlderCopyIsNoGhost copies a document that never ends, gives it a short life before the next step, and lets the
// reaper work. The copy, which is of the version before, must not stay.
func TestOlderCopyIsNoGhost(t *testing.T) {
	for _, ttl := range []expiry.TTL{expiry.Never, 1_000} {
		w := newStepper(t, definition(ttl), 3)
		for i := range 20 {
			_, err := w.write(w.put(store.Create, fmt.Sprint("p", i), "a", ""))
			w.ok(err)
		}
		w.ok(w.begin(0))
		for range 3 {
			w.step()
		}
		for i := range 20 {
			_, err := w.write(w.put(store.Replace, fmt.Sprint("p", i), "a", `"ttl":2`))
			w.ok(err)
		}
		w.now += 2
		for more := true; more; {
			done, err := w.store.Reclaim(t.Context(), w.c, w.now, 100)
			w.ok(err)
			more = done.More
		}
		w.finish()
		for i := range 20 {
			if w.alive(fmt.Sprint("p", i), "a") {
				t.Errorf("ttl %d: document %d lives again after the split", ttl, i)
			}
		}
		if got := w.scan(access.Access{}); got != "" {
			t.Errorf("ttl %d: the scan has %q", ttl, got)
		}
	}
}

// TestPolicyChangesDuringASplit ends documents by a policy in the middle of a split, and switches to another policy
// under which they would live.
func TestPolicyChangesDuringASplit(t *testing.T) {
	for _, property := range []string{"", "/at"} {
		t.Run("property="+property, func(t *testing.T) {
			w := newStepper(t, definition(expiry.Never), 2)
			for i := range 20 {
				_, err := w.write(w.put(store.Create, fmt.Sprint("p", i), "a",
					fmt.Sprintf(`"at":%d,"n":%d`, w.now-1+int64(i), i)))
				w.ok(err)
			}
			policy := func(ttl expiry.TTL, property string) {
				_, err := w.catalog.ReplaceContainer(t.Context(), w.now, w.c,
					func(st *catalog.State) (catalog.Definition, error) {
						def := st.Definition
						def.TTL, def.TTLProperty = ttl, property
						return def, nil
					})
				w.ok(err)
			}
			w.ok(w.begin(0))
			for range 4 {
				w.step()
			}
			policy(10, property)
			for range 2 {
				w.step()
			}
			w.now += 10
			dead := map[int]bool{}
			for i := range 20 {
				dead[i] = !w.alive(fmt.Sprint("p", i), "a")
			}
			if len(dead) == 0 || !dead[0] {
				t.Fatal("the policy ends nothing")
			}
			policy(expiry.Never, "")
			for done, n := (store.Reclaimed{More: true}), 0; done.More && n < 100; n++ {
				var err error
				done, err = w.store.Reclaim(t.Context(), w.c, w.now, 100)
				w.ok(err)
			}
			w.finish()
			check := func(when string) {
				for i := range 20 {
					if alive := w.alive(fmt.Sprint("p", i), "a"); alive == dead[i] {
						t.Errorf("%s document %d is alive: %v", when, i, alive)
					}
				}
			}
			check("after the split")
			for done, n := (store.Reclaimed{More: true}), 0; done.More && n < 100; n++ {
				var err error
				done, err = w.store.Reclaim(t.Context(), w.c, w.now, 100)
				w.ok(err)
			}
			check("after reclaiming")
			w.consistent()
		})
	}
}

// TestUniqueKeysDuringASplit moves unique values from document to document while they are copied.
func TestUniqueKeysDuringASplit(t *testing.T) {
	def := definition(expiry.Never)
	def.Unique = [][]string{{"/u"}}
	w := newStepper(t, def, 1)
	for i := range 6 {
		_, err := w.write(w.put(store.Create, "p", fmt.Sprint(i), fmt.Sprintf(`"u":%d`, i)))
		w.ok(err)
	}
	w.ok(w.begin(0))
	value := func(id, u int) {
		_, err := w.write(w.put(store.Upsert, "p", fmt.Sprint(id), fmt.Sprintf(`"u":%d`, u)))
		w.ok(err)
	}
	w.step()
	w.step()
	value(0, 10)
	value(1, 0) // takes the value over before document 0 is copied again
	value(0, 1)
	w.step()
	_, err := w.write(store.Op{Verb: store.Delete, Key: key("p", "2")})
	w.ok(err)
	value(3, 2)
	w.step()
	_, err = w.store.WriteAll(t.Context(), w.c, w.now, []store.Op{
		{Verb: store.Delete, Key: key("p", "4")}, w.put(store.Create, "p", "4", `"u":3`),
	})
	w.ok(err)
	w.finish()
	for u, owner := range map[int]string{0: "1", 1: "0", 2: "3", 3: "4", 5: "5"} {
		_, err := w.write(w.put(store.Create, "p", "new", fmt.Sprintf(`"u":%d`, u)))
		if fault.KindOf(err) != fault.Exists {
			t.Errorf("the value %d of document %s is free: %v", u, owner, err)
		}
	}
	for _, u := range []int{4, 10} {
		if _, err := w.write(w.put(store.Upsert, "p", "new", fmt.Sprintf(`"u":%d`, u))); err != nil {
			t.Errorf("the value %d is not free: %v", u, err)
		}
	}
}

// TestChangesOfAContainerDuringASplit changes the indexing, restarts, and deletes the container in the middle.
func TestChangesOfAContainerDuringASplit(t *testing.T) {
	w := newStepper(t, definition(expiry.Never), 2)
	for i := range 20 {
		_, err := w.write(w.put(store.Create, fmt.Sprint("p", i), "a", fmt.Sprintf(`"n":%d`, i%3)))
		w.ok(err)
	}
	w.ok(w.begin(0))
	if err := w.begin(0); fault.KindOf(err) != fault.Exists {
		t.Errorf("a second split: %v", err)
	}
	for range 4 {
		w.step()
	}
	first := *w.c.State().Splitting
	_, err := w.catalog.ReplaceContainer(t.Context(), w.now, w.c, func(st *catalog.State) (catalog.Definition, error) {
		def := st.Definition
		def.Indexing.Excluded = []string{"/other/*"}
		return def, nil
	})
	w.ok(err)
	if second := *w.c.State().Splitting; second.New == first.New {
		t.Error("the split has not begun again")
	}
	w.built()
	w.step()
	w.reopen()
	w.step()
	w.finish()
	if n, ok, err := w.store.Count(t.Context(), w.view(), only(is("1", "n"))); err != nil || !ok || n != 7 {
		t.Errorf("the index counts %d (%v, %v), want 7", n, ok, err)
	}
	w.ok(w.begin(w.c.State().Ranges()[0].Number))
	w.step()
	split := w.c.State().Splitting
	w.ok(w.store.CancelSplit(t.Context(), w.c, split))
	w.release()
	w.consistent()
	if got := strings.Fields(w.scan(access.Access{})); len(got) != 20 {
		t.Errorf("%d documents after a split was cancelled", len(got))
	}
	w.ok(w.begin(w.c.State().Ranges()[0].Number))
	id := w.c.ID
	w.ok(w.catalog.DeleteContainer(t.Context(), w.c))
	w.release()
	w.nothingLeft(id)
}
