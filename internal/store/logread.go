package store

import (
	"context"
	"iter"

	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/keys"
	"github.com/mayflydb/mayfly/internal/kv"
)

// Log walks the entries after a time, in order, as they are when the walk begins; ErrLogTrimmed when some of them have
// been dropped. What it hands out is valid until the next step.
func (s *Store) Log(ctx context.Context, after LogTime) iter.Seq2[LogEntry, error] {
	return func(yield func(LogEntry, error) bool) {
		if err := s.walkLog(ctx, after, yield); err != nil && err != errStopped {
			yield(LogEntry{}, err)
		}
	}
}

func (s *Store) walkLog(ctx context.Context, after LogTime, yield func(LogEntry, error) bool) error {
	snapshot, err := s.engine.Snapshot(ctx)
	if err != nil {
		return err
	}
	defer snapshot.Close()
	counter, err := logCounterOf(ctx, snapshot)
	switch {
	case err != nil:
		return err
	// The counter is from the same snapshot as the entries, so a trim in between cannot hide a loss.
	case uint64(after) < counter.Trimmed:
		return ErrLogTrimmed
	case uint64(after) >= counter.Newest:
		return nil
	}
	// Only now: what became visible after a sync, and before the snapshot, would be missing in it.
	if err := s.SyncRead(ctx); err != nil {
		return err
	}
	_, upper := keys.LogBounds()
	return walk(ctx, snapshot, keys.LogKey(uint64(after)+1), upper, func(it kv.Iterator) error {
		value := it.Value()
		if value == nil {
			return it.Err()
		}
		e, err := decodeLogEntry(it.Key(), value)
		if err != nil {
			return corrupt(err, "log entry")
		}
		if !yield(e, nil) {
			return errStopped
		}
		return nil
	})
}

func logCounterOf(ctx context.Context, r kv.Reader) (c keys.LogCounter, err error) {
	_, err = r.Get(ctx, keys.LogCounterKey(), func(value []byte) (err error) {
		if c, err = keys.DecodeLogCounter(value); err != nil {
			return corrupt(err, "log counter")
		}
		return nil
	})
	return c, err
}

// LogNewest is the time of the newest entry. A reader that starts there misses nothing that happens from now on.
func (s *Store) LogNewest(ctx context.Context) (LogTime, error) {
	c, err := logCounterOf(ctx, s.engine)
	return LogTime(c.Newest), err
}

// LogOldest is the earliest time after which every entry is still there.
func (s *Store) LogOldest(ctx context.Context) (LogTime, error) {
	c, err := logCounterOf(ctx, s.engine)
	return LogTime(c.Trimmed), err
}

// LogChanged returns a channel that is closed when the log gets an entry after the call. Take the channel, read the
// log, then wait: in this order no entry is missed.
func (s *Store) LogChanged() <-chan struct{} {
	j := &s.log
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.next == nil {
		j.next = make(chan struct{})
	}
	return j.next
}

// trimStep is how many entries one batch deletes on engines that cannot drop a range.
const trimStep = 1_000

// TrimLog drops the entries before a time.
func (s *Store) TrimLog(ctx context.Context, before LogTime) error {
	first, err := s.firstLogged(ctx)
	if err != nil || first == 0 || first >= before {
		return err
	}
	ranges, ok := s.engine.(kv.RangeDeleter)
	whole := ok && ranges.DeletesRanges()
	lower, _ := keys.LogBounds()
	var upper []byte
	b := s.logBatch(func(c *keys.LogCounter, b *kv.Batch) {
		until := min(uint64(before)-1, c.Newest)
		c.Trimmed = max(c.Trimmed, until)
		if upper = keys.LogKey(until + 1); whole {
			b.DeleteRange(lower, upper)
		}
	})
	b.NoSync = true // after a crash it is trimmed again
	// The counter says so before single entries go, so a reader sees ErrLogTrimmed rather than a hole.
	if err := s.engine.Apply(ctx, b); err != nil || whole {
		return err
	}
	for more := true; more && err == nil; {
		more, err = s.trimSome(ctx, lower, upper)
	}
	return err
}

// firstLogged is the time of the oldest entry, 0 if there is none.
func (s *Store) firstLogged(ctx context.Context) (first LogTime, err error) {
	lower, upper := keys.LogBounds()
	err = walk(ctx, s.engine, lower, upper, func(it kv.Iterator) error {
		time, err := keys.LogTime(it.Key())
		if err != nil {
			return corrupt(err, "log entry")
		}
		first = LogTime(time)
		return errStopped
	})
	if err == errStopped {
		err = nil
	}
	return first, err
}

func (s *Store) trimSome(ctx context.Context, lower, upper []byte) (more bool, err error) {
	b := &kv.Batch{NoSync: true, Frees: true}
	err = walk(ctx, s.engine, lower, upper, func(it kv.Iterator) error {
		if len(b.Ops) == trimStep {
			more = true
			return errStopped
		}
		b.Delete(append([]byte(nil), it.Key()...))
		return nil
	})
	if err != nil && err != errStopped || len(b.Ops) == 0 {
		return false, err
	}
	return more, s.engine.Apply(ctx, b)
}

// TrimDue drops what LogOptions do not keep at now.
func (s *Store) TrimDue(ctx context.Context, now expiry.Stamp) error {
	o := s.log.options.Load()
	if o == nil {
		return nil
	}
	if holds, err := s.Holds(ctx, logLease); !holds {
		return err
	}
	large, err := s.logCut(ctx, o.Bytes)
	if err != nil {
		return err
	}
	return s.TrimLog(ctx, max(large, LogTime(wholeSecond(now-o.Retention))))
}

// logCut is the time before which entries have to be dropped for the rest to take at most that many bytes; 0 if none
// has to. Each entry has the number of bytes before it, so the cut is found by halving.
func (s *Store) logCut(ctx context.Context, bytes uint64) (LogTime, error) {
	counter, err := logCounterOf(ctx, s.engine)
	if err != nil || counter.Bytes <= bytes {
		return 0, err
	}
	lower, upper := keys.LogBounds()
	it, err := s.engine.Iterate(ctx, lower, upper)
	if err != nil {
		return 0, err
	}
	defer it.Close()
	low, high := counter.Trimmed, counter.Newest+1 // the answer is in [low, high]
	for low < high {
		mid := low + (high-low)/2
		if it.Seek(keys.LogKey(mid)) {
			before, _, _, err := keys.DecodeLog(it.Value())
			if err != nil {
				return 0, corrupt(err, "log entry")
			}
			if before < counter.Bytes-bytes {
				low = mid + 1
				continue
			}
		}
		high = mid
	}
	return LogTime(low), it.Err()
}
