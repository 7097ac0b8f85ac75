package store

import (
	"bytes"
	"context"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/keys"
	"github.com/mayflydb/mayfly/internal/kv"
)

// A Rebased says what Rebase has done for the documents that were alive.
type Rebased struct {
	Kept  uint64 // keep what remained of their lives
	Dated uint64 // have a date by which they expire, which is in the document and so stays
}

// Rebase moves all stamps, and so all deadlines that count from one, later by some seconds: the data was at rest for so
// long. at is the last instant before. Nothing else uses the store, and if Rebase fails, the data is of no use.
func (s *Store) Rebase(ctx context.Context, at, by expiry.Stamp) (done Rebased, err error) {
	for _, c := range s.catalog.AllContainers() {
		if err := s.cancelSplits(ctx, c); err != nil {
			return done, err
		}
	}
	if err := s.bury(ctx, at); err != nil {
		return done, err
	}
	snapshot, err := s.engine.Snapshot(ctx)
	if err != nil {
		return done, err
	}
	defer snapshot.Close()
	for _, c := range s.catalog.AllContainers() {
		b := rebase{s: s, ctx: ctx, snapshot: snapshot, state: c.State(), at: at, by: by, done: &done}
		for _, x := range b.state.Ranges() {
			b.rng = c.KeysOf(x.Number)
			for _, step := range []func() error{b.records, b.feed, b.deadlines, b.counters, b.flush} {
				if err := step(); err != nil {
					return done, err
				}
			}
		}
	}
	return done, s.catalog.MoveFloors(ctx, by)
}

// cancelSplits cancels the split of a container that is under way: what it has copied has stamps, too.
func (s *Store) cancelSplits(ctx context.Context, c *catalog.Container) error {
	for split := c.State().Splitting; split != nil; split = c.State().Splitting {
		err := s.catalog.CancelSplit(ctx, c, split)
		if err != nil && fault.KindOf(err) != fault.Precondition { // it has just ended
			return err
		}
	}
	return nil
}

// buryLimit is how many documents one step of bury removes.
const buryLimit = 4096

// bury reclaims everything that is dead at an instant. A closed policy that counted from a property ends a document
// without it by its stamp, up to a fixed second: with a later stamp the document would come back.
func (s *Store) bury(ctx context.Context, at expiry.Stamp) error {
	for _, c := range s.catalog.AllContainers() {
		for more := true; more; {
			done, err := s.Reclaim(ctx, c, at, buryLimit)
			if err != nil {
				return err
			}
			more = done.More
		}
		s.reclaims.Delete(c) // its marks are about to move
	}
	return nil
}

// rebaseBytes is about how many bytes one batch of a rebase has.
const rebaseBytes = 4 << 20

// A rebase moves the stamps of one container.
type rebase struct {
	s        *Store
	ctx      context.Context
	snapshot kv.Snapshot
	rng      keys.Range
	state    *catalog.State
	at, by   expiry.Stamp
	done     *Rebased
	b        *kv.Batch
	bytes    int
}

// records moves the stamps in the headers of the documents.
func (r *rebase) records() error {
	return r.each(keys.KindRecord, func(key, value []byte) error {
		h, body, err := keys.DecodeHeader(value)
		if err != nil {
			return corrupt(err, "record")
		}
		r.count(versionOf(h, body))
		h.Stamp += r.by
		return r.set(key, append(keys.AppendHeader(make([]byte, 0, len(value)), h), body...))
	})
}

func (r *rebase) count(d expiry.Document) {
	p := &r.state.Policy
	if p.Dead(d, r.at) {
		return
	}
	_, dated := p.DateDeadline(d.Body)
	lives := p.Effective(d.TTL) > expiry.Unset
	switch {
	case dated, lives && p.Property != "":
		r.done.Dated++
	case lives:
		r.done.Kept++
	}
}

// feed moves the stamps of the feed.
func (r *rebase) feed() error {
	return r.each(keys.KindFeed, func(key, value []byte) error {
		e, err := keys.DecodeFeed(value)
		if err != nil {
			return corrupt(err, "feed entry")
		}
		e.Stamp += r.by
		return r.set(key, keys.AppendFeed(nil, e))
	})
}

// deadlines moves the queue of own deadlines. All keys change, and a new one may be an old one of the same document: so
// all go before the first comes.
func (r *rebase) deadlines() error {
	err := r.each(keys.KindDeadline, func(key, _ []byte) error {
		r.batch().Delete(bytes.Clone(key))
		return r.grown(len(key))
	})
	if err != nil {
		return err
	}
	return r.each(keys.KindDeadline, func(key, value []byte) error {
		deadline, err := keys.Deadline(key)
		if err != nil {
			return corrupt(err, "deadline")
		}
		number, err := keys.Number(key)
		if err != nil {
			return corrupt(err, "deadline")
		}
		return r.set(r.rng.Deadline(nil, deadline+r.by, number), bytes.Clone(value))
	})
}

// counters moves the newest stamp, and where the reaper continues.
func (r *rebase) counters() error {
	_, err := r.snapshot.Get(r.ctx, r.rng.Order(nil), func(value []byte) error {
		c, err := keys.DecodeCounter(value)
		if err != nil {
			return corrupt(err, "order counter")
		}
		c.Stamp += r.by
		return r.set(r.rng.Order(nil), c.Append(nil))
	})
	if err != nil {
		return err
	}
	_, err = r.snapshot.Get(r.ctx, r.rng.Mark(nil), func(value []byte) error {
		m, err := keys.DecodeReclaimMark(value)
		if err != nil {
			return corrupt(err, "reclaim mark")
		}
		if m.Own != 0 {
			m.Own += r.by
		}
		return r.set(r.rng.Mark(nil), m.Append(nil))
	})
	return err
}

func (r *rebase) each(kind keys.Kind, do func(key, value []byte) error) error {
	lower, upper := r.rng.Bounds(kind)
	return walk(r.ctx, r.snapshot, lower, upper, func(it kv.Iterator) error {
		value := it.Value()
		if value == nil {
			return it.Err()
		}
		return do(it.Key(), value)
	})
}

func (r *rebase) batch() *kv.Batch {
	if r.b == nil {
		r.b = &kv.Batch{NoSync: true}
	}
	return r.b
}

func (r *rebase) set(key, value []byte) error {
	r.batch().Set(bytes.Clone(key), value)
	return r.grown(len(key) + len(value))
}

func (r *rebase) grown(n int) error {
	if r.bytes += n; r.bytes < rebaseBytes {
		return nil
	}
	return r.flush()
}

// flush writes what is gathered.
func (r *rebase) flush() error {
	if r.b == nil {
		return nil
	}
	b := r.b
	r.b, r.bytes = nil, 0
	return r.s.engine.Apply(r.ctx, b)
}
