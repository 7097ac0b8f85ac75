package reaper_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/store"
)

// TestRangesTakeTurns lets a wave end in one range and a few documents in the others: those do not wait for the end of
// the wave.
func TestRangesTakeTurns(t *testing.T) {
	y := newYard(t, func(y *yard) { y.ranges = 4 })
	c := y.container("c")
	st := c.State()
	create := func(id, pk string) {
		t.Helper()
		body, err := doc.FromJSON(nil, fmt.Appendf(nil, `{"id":%q,"pk":%q}`, id, pk), doc.ParseOptions{})
		y.ok(err)
		key := store.Key{Partition: []doc.Value{doc.String(pk)}, ID: id}
		_, err = y.store.Write(ctx, c, y.now(), store.Op{Verb: store.Create, Key: key, Body: body})
		y.ok(err)
	}
	homes := map[uint16]string{}
	for i := 0; len(homes) < 4; i++ {
		pk := fmt.Sprint("p", i)
		homes[st.RangeOf([]doc.Value{doc.String(pk)})] = pk
	}
	const wave, few, step = 400, 3, 20
	for i := range wave {
		create(fmt.Sprint("wave", i), homes[0])
	}
	for number := uint16(1); number < 4; number++ {
		for i := range few {
			create(fmt.Sprint("few", i), homes[number])
		}
	}
	y.ok(y.clock.Advance(time.Minute))
	for range 2 { // the wave's turn, then that of all others
		done, err := y.store.Reclaim(ctx, c, y.now(), step)
		y.ok(err)
		if done.Documents > step || !done.More {
			t.Fatalf("a step of %d: %+v", step, done)
		}
	}
	// The second step began with the ranges after that of the wave, and had room for all of theirs.
	if left, most := y.stored(c), uint64(wave-step-(step-3*few)); left != most {
		t.Errorf("%d documents are left after two steps, want %d", left, most)
	}
	y.ok(y.ReclaimNow(ctx))
	y.swept(c, 0)
}
