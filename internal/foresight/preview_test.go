package foresight_test

import (
	"context"
	"fmt"
	"math"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/foresight"
)

// documentsIn lists the numbers of the windows.
func documentsIn(p *foresight.Preview) string {
	var list []uint64
	for _, w := range p.Windows {
		list = append(list, w.Documents)
	}
	return fmt.Sprint(list)
}

// TestDormantTTL previews switching TTL on where items have a ttl that has had no effect.
func TestDormantTTL(t *testing.T) {
	w := newWorld(t, noSQL(expiry.Unset))
	w.item("p", "over", bson.E{Key: "ttl", Value: int64(10)})
	w.item("p", "hour", bson.E{Key: "ttl", Value: int64(3700)})
	w.item("p", "never", bson.E{Key: "ttl", Value: int64(-1)})
	w.item("p", "invalid", bson.E{Key: "ttl", Value: "10"})
	w.item("p", "plain")
	w.now += 100
	for _, c := range []struct {
		ttl  expiry.TTL
		want string
	}{
		{expiry.Never, "[1 2 2 2 2]"}, {100, "[3 4 4 4 4]"}, {100 + 86400, "[1 2 4 4 4]"},
		{expiry.Unset, "[0 0 0 0 0]"},
	} {
		p, err := w.f.Preview(ctx, w.c, w.now, foresight.Change{Default: &c.ttl}, 0)
		w.ok(err)
		if got := documentsIn(p); got != c.want || !p.Exact || p.Look.Method != foresight.ByQueues {
			t.Errorf("a default of %d: %s, want %s", c.ttl, got, c.want)
		}
	}
}

// TestTheDeadDoNotCount: expiry is final, so a preview is about the living alone.
func TestTheDeadDoNotCount(t *testing.T) {
	w := newWorld(t, noSQL(10))
	w.item("p", "dead")
	w.item("p", "dead-by-its-own", bson.E{Key: "ttl", Value: int64(5)})
	w.now += 10
	w.item("p", "alive")
	p, err := w.f.Preview(ctx, w.c, w.now, foresight.Change{Default: pointer(expiry.TTL(1))}, 0)
	w.ok(err)
	if got := documentsIn(p); got != "[0 1 1 1 1]" || p.Living.Documents != 1 {
		t.Errorf("%s of %d", got, p.Living.Documents)
	}
	w.ok(w.replace(expiry.Unset, ""))
	p, err = w.f.Preview(ctx, w.c, w.now, foresight.Change{Default: pointer(expiry.TTL(1))}, 0)
	w.ok(err)
	if got := documentsIn(p); got != "[0 1 1 1 1]" || p.Living.Documents != 1 {
		t.Errorf("after the policy was closed: %s of %d", got, p.Living.Documents)
	}
}

// TestLimitInTheMiddleOfASecond spends the entries among documents that end together.
func TestLimitInTheMiddleOfASecond(t *testing.T) {
	w := newWorld(t, noSQL(expiry.Never))
	for i := range 400 {
		w.item("p", fmt.Sprint(i), bson.E{Key: "ttl", Value: int64(3600)})
	}
	for limit := 1; limit < 420; limit += 7 {
		p, err := w.f.Preview(ctx, w.c, w.now, foresight.Change{}, limit)
		w.ok(err)
		if x := p.Windows[1]; x.Exact && x.Documents != 400 {
			t.Errorf("with %d entries: %d documents, said to be exact", limit, x.Documents)
		}
		if x := p.Windows[0]; !x.Exact || x.Documents != 0 {
			t.Errorf("with %d entries: at once %d documents, exact %v", limit, x.Documents, x.Exact)
		}
	}
}

// TestEstimates holds estimates against the truth, on data whose lives change over time, with holes of deleted items.
func TestEstimates(t *testing.T) {
	w := newWorld(t, func() catalog.Definition {
		def := noSQL(3000)
		def.Indexing = catalog.Indexing{Excluded: []string{"/*"}}
		return def
	}())
	const items = 20_000
	for i := range items {
		if i%10 == 0 {
			w.now++
		}
		if i%4 == 0 { // in the second half, they live longer
			w.item("p", fmt.Sprint(i), bson.E{Key: "ttl", Value: int64(4000 + 10*i)})
			continue
		}
		w.item("p", fmt.Sprint(i), bson.E{Key: "rest", Value: make([]byte, i%100)})
	}
	for _, change := range []foresight.Change{
		{}, {Default: pointer(expiry.TTL(1000))}, {Default: pointer(expiry.TTL(86400))}, {Property: pointer("/from")},
	} {
		truth, err := w.f.Preview(ctx, w.c, w.now, change, 10*items)
		w.ok(err)
		guess, err := w.f.Preview(ctx, w.c, w.now, change, 5000)
		w.ok(err)
		again, err := w.f.Preview(ctx, w.c, w.now, change, 5000)
		w.ok(err)
		if !truth.Exact || guess.Exact || guess.Look.Method != foresight.BySample || show(guess) != show(again) {
			t.Fatalf("exact: %s\nestimate: %s\nagain: %s", show(truth), show(guess), show(again))
		}
		if truth.LivingMargin != 0 || guess.LivingExact != (guess.LivingMargin == 0) {
			t.Errorf("margins of the living: %s and %s", show(truth), show(guess))
		}
		tolerance := 0.05 * items
		for i, x := range truth.Windows {
			y := guess.Windows[i]
			if off := math.Abs(float64(x.Documents) - float64(y.Documents)); off > tolerance {
				t.Errorf("%s within %s: %d documents, estimated %d", show(change), x.Name, x.Documents, y.Documents)
			}
			off := max(x.Documents, y.Documents) - min(x.Documents, y.Documents)
			if y.Exact && y.Margin != 0 || !y.Exact && (off > y.Margin || y.Margin > items/3) || x.Margin != 0 {
				t.Errorf("%s within %s: %d documents, estimated %d ± %d", show(change), x.Name, x.Documents,
					y.Documents, y.Margin)
			}
			mean := float64(truth.Living.Bytes) / items
			if off := math.Abs(float64(x.Bytes) - float64(y.Bytes)); off > tolerance*mean {
				t.Errorf("%s within %s: %d bytes, estimated %d", show(change), x.Name, x.Bytes, y.Bytes)
			}
		}
	}
}

// TestTimeIsBounded ends the context in the middle.
func TestTimeIsBounded(t *testing.T) {
	w := newWorld(t, noSQL(10))
	for i := range 5000 {
		w.item("p", fmt.Sprint(i))
	}
	short, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := w.f.Preview(short, w.c, w.now, foresight.Change{}, 0); err == nil {
		t.Error("the preview goes on after its context has ended")
	}
	if _, err := w.f.Forecast(short, foresight.Scope{}, w.now, foresight.ByDay, 0, 0); err == nil {
		t.Error("the forecast goes on after its context has ended")
	}
}
