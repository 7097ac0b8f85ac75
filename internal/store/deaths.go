package store

import (
	"context"
	"math"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/keys"
	"github.com/mayflydb/mayfly/internal/kv"
)

// A DeathCursor says how far the dead of one container have been counted. The zero DeathCursor starts at the oldest
// document that is not reclaimed.
type DeathCursor struct {
	ranges map[uint16]*rangeCursor
}

// of gives the cursor of a range.
func (t *DeathCursor) of(number uint16) *rangeCursor {
	at := t.ranges[number]
	if at == nil {
		if t.ranges == nil {
			t.ranges = map[uint16]*rangeCursor{}
		}
		at = &rangeCursor{}
		t.ranges[number] = at
	}
	return at
}

// A rangeCursor is the part of a DeathCursor for one range.
type rangeCursor struct {
	queueMarks
	dates map[uint32]dateCursor
}

// A dateCursor says that the entries of an index are counted up to a date, in milliseconds, and which date comes next.
type dateCursor struct {
	upto, goal int64
	next       []byte // the entry to go on from, nil for the first behind upto
}

// Deaths counts the documents of a container that have died by now and that t has not counted yet, and looks at no more
// than most entries of the queues; more says that there is more to count. It is an estimate for planning the work of
// Reclaim: a document with both a ttl of its own and a date may count twice, one that is created again after its death
// still counts, and where deadlines are in no order nothing counts.
func (s *Store) Deaths(
	ctx context.Context, c *catalog.Container, now expiry.Stamp, t *DeathCursor, most int,
) (count uint64, more bool, err error) {
	v, err := c.Enter(ctx, now)
	if err != nil || !v.Policy.Ordered() {
		return 0, false, err
	}
	k := deathCounter{v: v, left: most}
	for _, x := range v.Ranges() {
		k.t, k.rng = t.of(x.Number), c.KeysOf(x.Number)
		if err := s.join(ctx, c, k.rng, k.t); err != nil {
			return k.count, false, err
		}
		for _, queue := range []func(context.Context, kv.Reader) error{k.own, k.inheriting, k.dates} {
			if err := queue(ctx, s.engine); err != nil && err != errStopped && err != errAlive {
				return k.count, false, err
			}
			if k.more {
				return k.count, true, nil
			}
		}
	}
	return k.count, false, nil
}

// join moves a cursor up to what is reclaimed already.
func (s *Store) join(ctx context.Context, c *catalog.Container, rng keys.Range, t *rangeCursor) error {
	r := s.reclaimOf(c, rng.Range)
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := s.loadReclaim(ctx, rng, r); err != nil {
		return err
	}
	// The entries of what is reclaimed are gone, so they cannot be counted.
	t.feed = max(t.feed, r.feed)
	if r.own > t.own {
		t.own, t.ownNext = r.own, nil
	}
	return nil
}

// A deathCounter continues the count of a cursor.
type deathCounter struct {
	t     *rangeCursor
	v     catalog.View
	rng   keys.Range
	count uint64
	left  int  // entries that it may still look at
	more  bool // there is one that it may not look at
}

// full counts an entry, and reports whether it was one too many.
func (k *deathCounter) full() bool {
	k.left--
	k.more = k.left < 0
	return k.more
}

func (k *deathCounter) own(ctx context.Context, r kv.Reader) error {
	_, until := k.v.Policy.Floors(k.v.Now)
	if until <= k.t.own {
		return nil
	}
	from := k.t.ownNext
	if from == nil {
		from = k.rng.Deadline(nil, k.t.own+1, 0)
	}
	err := walk(ctx, r, from, k.rng.Deadline(nil, until+1, 0), func(it kv.Iterator) error {
		if k.full() {
			k.t.ownNext = append([]byte(nil), it.Key()...)
			return errStopped
		}
		k.count++
		return nil
	})
	if err == nil {
		k.t.own, k.t.ownNext = until, nil
	}
	return err
}

func (k *deathCounter) inheriting(ctx context.Context, r kv.Reader) error {
	_, upper := k.rng.Bounds(keys.KindFeed)
	return walk(ctx, r, k.rng.Feed(nil, k.t.feed+1), upper, func(it kv.Iterator) error {
		e, err := keys.DecodeFeed(it.Value())
		if err != nil {
			return corrupt(err, "change feed entry")
		}
		if !k.v.Policy.DeadByTTL(e.Stamp, expiry.Unset, k.v.Now) {
			return errAlive // and so is every later one
		}
		if k.full() {
			return errStopped
		}
		sequence, err := keys.FeedSequence(it.Key())
		if err != nil {
			return corrupt(err, "change feed entry")
		}
		if k.t.feed = sequence; e.TTL == int32(expiry.Unset) {
			k.count++
		}
		return nil
	})
}

// dates counts the due entries of the indexes that have rules of dates, from where the last count ended.
func (k *deathCounter) dates(ctx context.Context, r kv.Reader) error {
	rules := k.v.Policy.Dates
	for i := range rules {
		at, ok := k.t.dates[rules[i].Index]
		if !ok {
			at.upto = math.MinInt64
		}
		if at.next == nil {
			at.goal = rules[i].LastDue(k.v.Now)
		}
		if at.goal <= at.upto {
			continue
		}
		lower, upper := datedEntries(k.v, &rules[i], max(at.upto, math.MinInt64+1)+1, at.goal)
		if at.next != nil {
			lower = at.next
		}
		err := walk(ctx, r, lower, upper, func(it kv.Iterator) error {
			if k.full() {
				at.next = append([]byte(nil), it.Key()...)
				return errStopped
			}
			k.count++
			return nil
		})
		if err == nil {
			at = dateCursor{upto: at.goal}
		}
		if k.t.dates == nil {
			k.t.dates = map[uint32]dateCursor{}
		}
		k.t.dates[rules[i].Index] = at
		if err != nil {
			return err
		}
	}
	return nil
}
