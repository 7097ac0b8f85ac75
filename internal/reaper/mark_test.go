package reaper_test

import (
	"bytes"
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/kv"
	"github.com/mayflydb/mayfly/internal/store"
)

// A walked engine counts the entries of a queue that anyone looks at.
type walked struct {
	kv.Engine
	lower, upper []byte // of the queue
	seen         *int
	from         *[]byte // where the last walk began
}

func (e walked) Iterate(ctx context.Context, lower, upper []byte) (kv.Iterator, error) {
	it, err := e.Engine.Iterate(ctx, lower, upper)
	if err != nil || bytes.Compare(lower, e.lower) < 0 || bytes.Compare(lower, e.upper) >= 0 {
		return it, err
	}
	*e.from = bytes.Clone(lower)
	return steps{it, e.seen}, nil
}

type steps struct {
	kv.Iterator
	seen *int
}

func (s steps) Next() bool {
	more := s.Iterator.Next()
	if more {
		*s.seen++
	}
	return more
}

// TestQueuesAreWalkedOnce fills a queue with documents that stay, so that
// whoever begins from its start again is seen at it.
func TestQueuesAreWalkedOnce(t *testing.T) {
	const never, dying = 400, 100
	cases := []struct {
		name string
		kind byte
		ttls []int                         // of those that die
		most int                           // entries that a look may take when there is nothing to do
		past func(*store.Container) []byte // where the walk must have come to
	}{
		{"feed", 'f', []int{0}, 1, func(c *store.Container) []byte { return c.Keys().Feed(nil, never+dying+1) }},
		{"deadlines", 'x', []int{5}, 0, func(c *store.Container) []byte {
			return c.Keys().Deadline(nil, 1_000_005, 0)
		}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var seen int
			var from []byte
			queue := walked{seen: &seen, from: &from}
			y := newYard(t, func(y *yard) {
				y.wrap = func(e kv.Engine) kv.Engine {
					queue.Engine = e
					return queue
				}
			})
			ct := y.container("c")
			queue.lower = ct.Keys().AppendPrefix(nil, 0)
			queue.lower[len(queue.lower)-1] = c.kind
			queue.upper = bytes.Clone(queue.lower)
			queue.upper[len(queue.upper)-1]++
			y.fill(ct, 0, never, -1)
			y.fill(ct, never, dying, c.ttls...)
			y.ok(y.clock.Advance(10 * time.Second))
			y.reopen()
			ct = y.only()

			y.ok(y.ReclaimNow(ctx))
			if y.stored(ct) != never {
				t.Fatalf("%d documents are left, want %d", y.stored(ct), never)
			}
			y.fill(ct, never+dying, 1, 20) // the newest: alive for long
			look := func(when string) {
				t.Helper()
				seen, from = 0, nil
				done, err := y.store.Reclaim(ctx, ct, y.now(), 1000)
				y.ok(err)
				if done.Documents != 0 || done.More {
					t.Errorf("%s: %+v", when, done)
				}
				if seen > c.most {
					t.Errorf("%s: reclaiming looks at %d entries of the queue, want at most %d", when, seen, c.most)
				}
				if from != nil && bytes.Compare(from, c.past(ct)) < 0 {
					t.Errorf("%s: the walk begins among what is gone: %q", when, from)
				}
				seen = 0
				s, err := y.Stats(ctx)
				y.ok(err)
				if s.Backlog != 0 || seen > c.most {
					t.Errorf("%s: counting a backlog of %d looks at %d entries", when, s.Backlog, seen)
				}
			}
			look("at once")
			y.reopen()
			ct = y.only()
			look("after a restart")
			y.ok(y.clock.Advance(2 * time.Second))
			look("later")
			y.ok(y.clock.Advance(time.Minute))
			y.ok(y.ReclaimNow(ctx))
			y.swept(ct, never)
		})
	}
}

func (y *yard) reopen() {
	y.t.Helper()
	y.close()
	y.open()
}

// only is the container, when there is just one.
func (y *yard) only() *store.Container {
	y.t.Helper()
	list := y.store.Containers()
	if len(list) != 1 {
		y.t.Fatalf("%d containers", len(list))
	}
	return list[0]
}

// TestStats has sums that can be told by hand.
func TestStats(t *testing.T) {
	y := newYard(t, nil)
	a, b := y.container("a"), y.container("b")
	y.fill(a, 0, 10, 5)
	y.ok(y.clock.Advance(2 * time.Second))
	y.fill(b, 0, 7, 0)
	y.ok(y.clock.Advance(time.Second))
	y.fill(b, 7, 3, 1)
	var bytes int64
	for i := range 10 {
		bytes += int64(len(body(t, i, `,"ttl":5`)))
	}
	steps := []struct {
		name    string
		advance time.Duration
		reclaim bool
		want    [4]int64 // documents, bytes, backlog, lag in seconds
	}{
		{"all live", 0, false, [4]int64{0, 0, 0, 0}},
		{"the last of b", time.Second, false, [4]int64{0, 0, 3, 0}},
		{"the whole of a", time.Second, false, [4]int64{0, 0, 13, 1}},
		{"four seconds on", 4 * time.Second, false, [4]int64{0, 0, 13, 5}},
		{"the rest of b", 3 * time.Second, false, [4]int64{0, 0, 20, 8}},
		{"reclaimed", 0, true,
			[4]int64{20, bytes + 7*int64(len(body(t, 0, ``))) + 3*int64(len(body(t, 0, `,"ttl":1`))), 0, 0}},
		{"again", time.Hour, true,
			[4]int64{20, bytes + 7*int64(len(body(t, 0, ``))) + 3*int64(len(body(t, 0, `,"ttl":1`))), 0, 0}},
	}
	for _, step := range steps {
		y.ok(y.clock.Advance(step.advance))
		if step.reclaim {
			y.ok(y.ReclaimNow(ctx))
		}
		s, err := y.Stats(ctx)
		y.ok(err)
		if got := [4]int64{s.Documents, s.Bytes, s.Backlog, int64(s.Lag / time.Second)}; got != step.want {
			t.Errorf("%s: documents, bytes, backlog, lag: %v, want %v", step.name, got, step.want)
		}
	}
	// Each document had a lookup, a posting and a unique key, and an index entry for each member.
	if s, err := y.Stats(ctx); err != nil || s.Entries != 20*3+7*3+13*4 {
		t.Errorf("%d entries swept, %v", s.Entries, err)
	}
}

// body is what fill writes as number i.
func body(t testing.TB, i int, rest string) doc.Doc {
	t.Helper()
	d, err := doc.FromJSON(nil, fmt.Appendf(nil, `{"id":"%d","pk":"p%d","n":%d%s}`, i, i%3, i, rest),
		doc.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return d
}
