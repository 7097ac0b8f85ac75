package conformance

import (
	"net/http"
	"sync"
	"testing"
	"time"
)

// On the real clock: polled without pause, an item is there for every answer
// that came before its second, gone for every question asked at or after it,
// and never back.
func TestRealClock(t *testing.T) {
	t.Parallel()
	s := start(t, "--data", t.TempDir())
	cells := []struct {
		name       string
		defaultTTL *int32
		body       item
		dies       int64 // seconds after _ts; 0: not in this test
	}{
		{"off, none", nil, item{}, 0},
		{"off, -1", nil, item{"ttl": -1}, 0},
		{"off, 1", nil, item{"ttl": 1}, 0},
		{"no default, none", ptr(int32(-1)), item{}, 0},
		{"no default, -1", ptr(int32(-1)), item{"ttl": -1}, 0},
		{"no default, 2", ptr(int32(-1)), item{"ttl": 2}, 2},
		{"2, none", ptr(int32(2)), item{}, 2},
		{"2, -1", ptr(int32(2)), item{"ttl": -1}, 0},
		{"2, 3", ptr(int32(2)), item{"ttl": 3}, 3},
	}
	var all sync.WaitGroup
	defer all.Wait()
	for _, cell := range cells {
		b := lives(t, s, cell.defaultTTL)
		all.Go(func() {
			cell.body["id"] = "x"
			poll(t, cell.name, b, b.create(t, cell.body), cell.dies)
		})
	}
}

// poll reads the item until two seconds after its deadline, or for five seconds.
func poll(t *testing.T, name string, b *box, written item, dies int64) {
	deadline := time.Unix(written.stamp()+dies, 0)
	end := deadline.Add(2 * time.Second)
	if dies == 0 {
		end = time.Now().Add(5 * time.Second)
	}
	before, after := 0, 0
	for time.Now().Before(end) {
		asked := time.Now()
		_, err := b.ReadItem(within(t, patience), partitionP, "x", nil)
		answered := time.Now()
		alive := err == nil
		if !alive {
			if got := status(t, err); got != http.StatusNotFound {
				t.Errorf("%s: %d", name, got)
				return
			}
		}
		switch {
		case dies == 0 || answered.Before(deadline):
			before++
			if !alive {
				t.Errorf("%s: gone %v before its deadline", name, deadline.Sub(answered))
				return
			}
		case !asked.Before(deadline):
			after++
			if alive {
				t.Errorf("%s: there %v after its deadline", name, asked.Sub(deadline))
				return
			}
		}
		time.Sleep(5 * time.Millisecond)
	}
	if before == 0 || dies != 0 && after == 0 {
		t.Errorf("%s: %d answers before and %d after the deadline prove nothing", name, before, after)
	}
}

// The wall-clock walk of the JavaScript SDK's own TTL suite, here with azcosmos:
// an upsert at 1 s moves the deadline of a 3 s item, its id is free afterwards.
func TestRealClockUpsertMovesDeadline(t *testing.T) {
	t.Parallel()
	b := lives(t, shared(t), ptr(int32(3)))
	first := b.create(t, item{"id": "x"})
	time.Sleep(time.Until(time.Unix(first.stamp()+2, 0)))
	r, err := b.UpsertItem(within(t, patience), partitionP, item{"id": "x", "pk": "p"}.bytes(t), withBody)
	ok(t, "upsert", err)
	second := parse(t, r.Value)
	if second.stamp() < first.stamp()+2 {
		t.Errorf("_ts went from %d to %d over 2 s", first.stamp(), second.stamp())
	}
	poll(t, "upserted", b, second, 3)
	r, err = b.CreateItem(within(t, patience), partitionP, item{"id": "x", "pk": "p"}.bytes(t), nil)
	ok(t, "create the id again", err)
	if r.RawResponse.StatusCode != http.StatusCreated {
		t.Errorf("create the id again: %d", r.RawResponse.StatusCode)
	}
}

// Seconds that pass while the process is dead count.
func TestRealClockAcrossAKill(t *testing.T) {
	t.Parallel()
	s := start(t, "--data", t.TempDir())
	b := lives(t, s, ptr(int32(60)))
	stored := b.create(t, item{"id": "short", "ttl": 2})
	b.create(t, item{"id": "long"})
	s.crash(t)
	b = b.again(t)
	if time.Now().Unix() < stored.stamp()+1 {
		b.wantLiving(t, "at once after a kill", nil, words("long short"))
	}
	s.kill()
	time.Sleep(time.Until(time.Unix(stored.stamp()+2, 0)))
	ok(t, "start again", s.run())
	b.again(t).wantLiving(t, "started after the deadline", words("long short"), words("long"))
}
