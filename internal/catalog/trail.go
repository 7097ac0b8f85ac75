package catalog

import (
	"context"
	"iter"
	"sort"
	"time"

	"github.com/mayflydb/mayfly/internal/audit"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/keys"
	"github.com/mayflydb/mayfly/internal/kv"
)

// A trail is where the audit trail begins and ends. The events have the numbers from first up to, and not including,
// next, without gaps.
type trail struct {
	first, next uint64
	bytes       uint64    // of all events ever written
	dropped     uint64    // of those before first
	newest      time.Time // of the newest event
}

// A revision is one change of the catalog while it is made: the counters after it, and its events.
type revision struct {
	counters
	events []audit.Event
	batch  *kv.Batch
	newest uint64 // sequence of any range that the change has passed, where several processes share the data
}

// note adds an event to the change.
func (r *revision) note(action, kind, target string, changes ...audit.Change) {
	r.events = append(r.events, audit.Event{Action: action, Kind: kind, Target: target, Changes: changes})
}

// SetClock says by which clock events of the audit trail are dated. Before it is called, none are written.
func (c *Catalog) SetClock(instant func() time.Time) {
	c.changes <- struct{}{}
	defer c.endChange()
	c.instant = instant
}

func (c *Catalog) loadTrail(ctx context.Context) (err error) {
	c.trail, err = readTrail(ctx, c.engine)
	return err
}

func readTrail(ctx context.Context, r kv.Reader) (t trail, err error) {
	t = trail{first: 1, next: 1}
	lower, upper := keys.AuditBounds(0)
	it, err := r.Iterate(ctx, lower, upper)
	if err != nil {
		return t, err
	}
	defer it.Close()
	if !it.Next() {
		return t, it.Err()
	}
	first, before, _, err := readEvent(it)
	if err != nil {
		return t, err
	}
	t.first, t.dropped = first.Number, before
	last, err := r.Iterate(ctx, lower, upper)
	if err != nil {
		return t, err
	}
	defer last.Close()
	if !last.Prev() {
		return t, last.Err()
	}
	newest, before, size, err := readEvent(last)
	t.next, t.bytes, t.newest = newest.Number+1, before+size, newest.Time
	return t, err
}

// readEvent decodes the event that it stands on. before is the bytes of all earlier events, and size its own.
func readEvent(it kv.Iterator) (e audit.Event, before, size uint64, err error) {
	number, err := keys.AuditNumber(it.Key())
	if err == nil {
		e, before, size, err = decodeEvent(it.Value())
	}
	if err == nil && e.Number != number {
		err = keys.ErrCorrupt
	}
	if err != nil {
		return e, 0, 0, fault.Wrap(fault.Corrupt, err, "an event of the audit trail cannot be read")
	}
	return e, before, size, nil
}

func decodeEvent(value []byte) (e audit.Event, before, size uint64, err error) {
	before, text, err := keys.DecodeAudit(value)
	if err == nil {
		e, err = audit.Decode(text)
	}
	return e, before, uint64(len(text)), err
}

// write adds events to b, and the deletion of the oldest ones that they displace. It returns the trail after that.
// Without SetClock it does nothing.
func (c *Catalog) write(ctx context.Context, b *kv.Batch, events []audit.Event) (trail, error) {
	t := c.trail // only changes write it, and they hold c.changes
	if len(events) == 0 || c.instant == nil {
		return t, nil
	}
	who, now := audit.Of(ctx), c.instant().UTC()
	if now.After(t.newest) {
		t.newest = now
	}
	for _, e := range events {
		e.Number, e.Time, e.Who = t.next, t.newest, who
		text := e.Encode()
		b.Set(keys.AuditKey(e.Number), keys.AppendAudit(nil, t.bytes, text))
		t.next, t.bytes = t.next+1, t.bytes+uint64(len(text))
	}
	return t, c.trim(ctx, b, &t)
}

// trim adds to b the deletion of the oldest events beyond the limits of the trail. The newest stays.
func (c *Catalog) trim(ctx context.Context, b *kv.Batch, t *trail) error {
	over := func() bool { return t.next-t.first > c.maxEvents || t.bytes-t.dropped > c.maxTrail }
	if !over() {
		return nil
	}
	lower, upper := keys.AuditBounds(t.first)
	it, err := c.engine.Iterate(ctx, lower, upper)
	if err != nil {
		return err
	}
	defer it.Close()
	for over() && it.Next() {
		e, before, size, err := readEvent(it)
		if err != nil {
			return err
		}
		b.Delete(keys.AuditKey(e.Number))
		t.first, t.dropped = e.Number+1, before+size
	}
	return it.Err()
}

// Audit writes events about changes outside of the catalog, and returns when they are durable. It is called before the
// change takes effect, so that no change is without its event.
func (c *Catalog) Audit(ctx context.Context, events ...audit.Event) error {
	return c.exclusively(ctx, func() error {
		return c.apply(ctx, &kv.Batch{Frees: true}, events, func() {})
	})
}

// apply makes b and events durable; then seen makes the change visible.
func (c *Catalog) apply(ctx context.Context, b *kv.Batch, events []audit.Event, seen func()) error {
	next, err := c.write(ctx, b, events)
	if err != nil {
		return err
	}
	if len(b.Ops) > 0 {
		if err := c.authority.append(ctx, c, b); err != nil {
			return err
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.trail = next
	seen()
	return nil
}

// A Stretch is a part of the audit trail. The zero value is all of it.
type Stretch struct {
	Since time.Time // events at this instant or later
	After uint64    // events with a higher number
	Max   int       // at most so many events, 0 for all; without Since and After the newest, else the first
}

// Events gives a part of the audit trail in order. Events that are written or dropped during the call may be missing.
func (c *Catalog) Events(ctx context.Context, s Stretch) iter.Seq2[audit.Event, error] {
	return func(yield func(audit.Event, error) bool) {
		from, err := c.firstOf(ctx, s)
		if err != nil {
			yield(audit.Event{}, err)
			return
		}
		lower, upper := keys.AuditBounds(from)
		it, err := c.engine.Iterate(ctx, lower, upper)
		if err != nil {
			yield(audit.Event{}, err)
			return
		}
		defer it.Close()
		for n := 0; (s.Max == 0 || n < s.Max) && it.Next(); n++ {
			if e, _, _, err := readEvent(it); !yield(e, err) || err != nil {
				return
			}
		}
		if err := it.Err(); err != nil {
			yield(audit.Event{}, err)
		}
	}
}

// firstOf is the number with which a part of the trail begins.
func (c *Catalog) firstOf(ctx context.Context, s Stretch) (uint64, error) {
	t, err := c.authority.trail(ctx, c)
	if err != nil {
		return 0, err
	}
	first := max(t.first, s.After+1)
	if kept := t.next - min(t.next, first); s.Since.IsZero() && s.After == 0 && s.Max > 0 && kept > uint64(s.Max) {
		return t.next - uint64(s.Max), nil
	}
	if s.Since.IsZero() || first >= t.next {
		return first, nil
	}
	var failed error
	passed := sort.Search(int(t.next-first), func(i int) bool {
		later := false
		found, err := c.engine.Get(ctx, keys.AuditKey(first+uint64(i)), func(value []byte) error {
			e, _, _, err := decodeEvent(value)
			later = !e.Time.Before(s.Since)
			return err
		})
		if err != nil {
			failed = fault.Wrap(fault.Corrupt, err, "an event of the audit trail cannot be read")
		}
		return found && later // one that has been dropped since is an old one
	})
	return first + uint64(passed), failed
}
