package store

import (
	"context"
	"math"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/keys"
	"github.com/mayflydb/mayfly/internal/kv"
)

// Usage is the size of a container.
type Usage struct {
	Documents uint64       // living
	Bytes     uint64       // of their bodies
	Stored    uint64       // documents on disk, expired ones included
	Oldest    expiry.Stamp // when the oldest expired one that is still on disk died, 0 if there is none
}

// Backlog is how many expired documents are not reclaimed yet.
func (u Usage) Backlog() uint64 { return u.Stored - u.Documents }

// Usage counts a container's living documents, never expired ones. Its cost grows with the reaper's backlog and
// not with the container, because it subtracts the dead from the counter; where deadlines are in no order it visits all
// documents.
func (s *Store) Usage(ctx context.Context, v catalog.View) (Usage, error) {
	return s.usage(ctx, v, false)
}

// A RangeUsage is the size of a range.
type RangeUsage struct {
	Number uint16
	Usage
}

func (s *Store) usage(ctx context.Context, v catalog.View, estimates bool) (sum Usage, err error) {
	list, err := s.usageByRange(ctx, v, estimates)
	for _, u := range list {
		sum.Documents, sum.Bytes, sum.Stored = sum.Documents+u.Documents, sum.Bytes+u.Bytes, sum.Stored+u.Stored
		if sum.Oldest == 0 || u.Oldest != 0 && u.Oldest < sum.Oldest {
			sum.Oldest = u.Oldest
		}
	}
	return sum, err
}

// UsageByRange is Usage for each range, in order of their keys.
func (s *Store) UsageByRange(ctx context.Context, v catalog.View) ([]RangeUsage, error) {
	return s.usageByRange(ctx, v, false)
}

func (s *Store) usageByRange(ctx context.Context, v catalog.View, estimates bool) (list []RangeUsage, err error) {
	snapshot, marks, err := s.reclaimed(ctx, v)
	if err != nil {
		return nil, err
	}
	defer snapshot.Close()
	for i := range marks {
		counter, err := counterOf(ctx, snapshot, marks[i].rng)
		if err != nil {
			return nil, err
		}
		dc := deadCounter{v: v, rng: marks[i].rng, usage: storedUsage(counter), left: math.MaxInt,
			estimates: estimates}
		if !v.Policy.Ordered() { // no queue has the dead: each document has to be looked at
			err = dc.scan(ctx, snapshot)
		} else {
			err = dc.queues(ctx, snapshot, marks[i:i+1])
		}
		if err != nil {
			return nil, err
		}
		list = append(list, RangeUsage{marks[i].rng.Range, dc.usage})
	}
	return list, nil
}

// reclaimed returns a snapshot, and how far the queues of each range are reclaimed in it. The reaper continues while
// the caller counts.
func (s *Store) reclaimed(ctx context.Context, v catalog.View) (at kv.Snapshot, marks []rangeMarks, err error) {
	for layout := v.State; ; {
		known := layout
		marks, err = s.whileNotReclaiming(ctx, v.Container, known.Ranges(), nil, func() (err error) {
			at, layout, err = s.snapshotOf(ctx, v.Container, known)
			return err
		})
		if err != nil || layout == known {
			return at, marks, err
		}
		at.Close()
	}
}

// sumOf adds up what the counters of all ranges say of documents and bytes.
func sumOf(ctx context.Context, r kv.Reader, ranges []rangeMarks) (sum keys.Counter, err error) {
	for i := range ranges {
		counter, err := counterOf(ctx, r, ranges[i].rng)
		if err != nil {
			return keys.Counter{}, err
		}
		sum.Documents, sum.Bytes = sum.Documents+counter.Documents, sum.Bytes+counter.Bytes
	}
	return sum, nil
}

// storedUsage is the usage before the dead are subtracted.
func storedUsage(c keys.Counter) Usage {
	return Usage{Documents: c.Documents, Bytes: c.Bytes, Stored: c.Documents}
}

// A deadCounter counts the dead that are still on disk out of a usage.
type deadCounter struct {
	v     catalog.View
	rng   keys.Range // that it is in
	usage Usage
	left  int // entries that it may still look at

	estimates bool // documents with a date are counted by their entries
}

// goOn counts an entry, and ends the walk when no more may be looked at.
func (dc *deadCounter) goOn() error {
	if dc.left--; dc.left <= 0 {
		return errStopped
	}
	return nil
}

// queues counts the dead by the entries in the order of death, and looks at the oldest of each queue of each range in
// any case.
func (dc *deadCounter) queues(ctx context.Context, r kv.Reader, at []rangeMarks) error {
	for i := range at {
		dc.rng = at[i].rng
		for _, queue := range []func(context.Context, kv.Reader, queueMarks) error{dc.own, dc.inheriting, dc.dates} {
			if err := queue(ctx, r, at[i].queueMarks); err != nil && err != errStopped {
				return err
			}
		}
	}
	return nil
}

func (dc *deadCounter) out(bytes uint64, died expiry.Stamp) {
	dc.usage.Documents -= min(dc.usage.Documents, 1)
	dc.usage.Bytes -= min(dc.usage.Bytes, bytes)
	if dc.usage.Oldest == 0 || died < dc.usage.Oldest {
		dc.usage.Oldest = died
	}
}

func (dc *deadCounter) own(ctx context.Context, r kv.Reader, at queueMarks) error {
	rng := dc.rng
	_, until := dc.v.Policy.Floors(dc.v.Now)
	from := at.ownNext
	if from == nil {
		from = rng.Deadline(nil, at.own+1, 0)
	}
	return walk(ctx, r, from, rng.Deadline(nil, until+1, 0), func(it kv.Iterator) error {
		e, err := keys.DecodeDeadline(it.Value())
		if err != nil {
			return corrupt(err, "deadline entry")
		}
		died, err := keys.Deadline(it.Key())
		if err != nil {
			return corrupt(err, "deadline entry")
		}
		dc.out(uint64(e.Bytes), died)
		return dc.goOn()
	})
}

func (dc *deadCounter) inheriting(ctx context.Context, r kv.Reader, at queueMarks) error {
	rng := dc.rng
	_, upper := rng.Bounds(keys.KindFeed)
	err := walk(ctx, r, rng.Feed(nil, at.feed+1), upper, func(it kv.Iterator) error {
		e, err := keys.DecodeFeed(it.Value())
		if err != nil {
			return corrupt(err, "change feed entry")
		}
		if !dc.v.Policy.DeadByTTL(e.Stamp, expiry.Unset, dc.v.Now) {
			return errAlive // and so is every later document
		}
		if e.TTL == int32(expiry.Unset) {
			died, ok := dc.v.Policy.Default.Deadline(e.Stamp)
			if !ok { // a floor has ended it, and the default that it had is not known any more
				died = e.Stamp
			}
			dc.out(uint64(e.Bytes), died)
		}
		return dc.goOn()
	})
	if err == errAlive {
		return nil
	}
	return err
}

// errAlive ends a walk in the order of death at the first document that is alive.
var errAlive = fault.New(fault.Internal, "alive")

func (dc *deadCounter) scan(ctx context.Context, r kv.Reader) error {
	return eachRecordIn(ctx, r, dc.rng, func(_ uint64, h keys.Header, body doc.Doc) error {
		if dead(dc.v, h, body) {
			dc.out(uint64(len(body)), dc.v.Now)
		}
		return nil
	})
}
