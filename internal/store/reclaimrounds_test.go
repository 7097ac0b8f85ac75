package store_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/store"
)

// reclaim makes one step.
func (w *world) reclaim(limit int) store.Reclaimed {
	w.t.Helper()
	done, err := w.store.Reclaim(context.Background(), w.c, w.now, limit)
	w.ok(err)
	return done
}

// setProperty switches the property from which lives count.
func (w *world) setProperty(ttl expiry.TTL, property string) {
	w.t.Helper()
	_, err := w.catalog.ReplaceContainer(context.Background(), w.now, w.c,
		func(st *catalog.State) (catalog.Definition, error) {
			def := st.Definition
			def.TTL, def.TTLProperty = ttl, property
			return def, nil
		})
	w.ok(err)
}

// TestReclaimByPropertyEnds reclaims where lives count from a property, in steps that are smaller than a range: all
// that is dead goes, and then there is nothing more to do, however many ranges there are.
func TestReclaimByPropertyEnds(t *testing.T) {
	for _, n := range []int{1, 3, 8} {
		t.Run(fmt.Sprintf("ranges=%d", n), func(t *testing.T) {
			const documents, limit = 400, 20
			def := definition(10)
			def.TTLProperty, def.Partitions = "/born", n
			w := newWorld(t, def)
			for i := range documents {
				born := w.now
				if i%50 == 49 {
					born -= 100
				}
				_, err := w.write(w.put(store.Create, fmt.Sprint("p", i), "d", fmt.Sprintf(`"born":%d`, born)))
				w.ok(err)
			}
			for pass := range 2 { // another one finds nothing, and ends too
				freed, steps := uint64(0), 0
				for more := true; more && steps < documents; steps++ {
					done := w.reclaim(limit)
					freed, more = freed+done.Documents, done.More
				}
				if want := uint64(documents / 50 * (1 - pass)); freed != want {
					t.Errorf("pass %d: %d documents are freed, want %d", pass, freed, want)
				}
				if most := documents/(4*limit) + n + 1; steps > most {
					t.Errorf("pass %d: %d steps, want at most %d", pass, steps, most)
				}
			}
			w.consistent()
		})
	}
}

// TestForgottenPolicies changes the property from which lives count again and again, while few documents are reclaimed
// at a time: what a policy has ended stays dead, in all ranges, until it is gone. With a later policy forgotten too
// early, documents would come back.
func TestForgottenPolicies(t *testing.T) {
	s := *seed
	if s == 0 {
		s = rand.Uint64()
	}
	t.Logf("seed %d", s)
	for round := range uint64(times(8)) {
		rng := rand.New(rand.NewPCG(s, round))
		def := definition(20)
		def.TTLProperty, def.Partitions = "/a", 3
		w := newWorld(t, def)
		const documents = 120
		for i := range documents {
			ages := fmt.Sprintf(`"a":%d,"b":%d`, w.now+rng.Int64N(400), w.now+rng.Int64N(400))
			_, err := w.write(w.put(store.Create, fmt.Sprint("p", i), "d", ages))
			w.ok(err)
		}
		gone := map[int]bool{}
		forgot := false
		for step := range 300 {
			if rng.IntN(4) == 0 && len(w.c.State().Policy.Past) < expiry.MaxPast {
				property := []string{"/a", "/b"}[rng.IntN(2)]
				w.setProperty(expiry.TTL(1+rng.IntN(60)), property)
			}
			before := len(w.c.State().Policy.Past)
			w.reclaim(1 + rng.IntN(15))
			forgot = forgot || len(w.c.State().Policy.Past) < before
			for i := range documents {
				if !w.alive(fmt.Sprint("p", i), "d") {
					gone[i] = true
				} else if gone[i] {
					t.Fatalf("round %d, step %d: document %d is back", round, step, i)
				}
			}
			w.now += rng.Int64N(3)
		}
		if !forgot {
			t.Errorf("round %d: no closed policy was forgotten", round)
		}
		w.consistent()
	}
}
