// Package lease lets one process at a time do a named piece of background work: free the space of a container, build
// its indexes, collect garbage. Where one process alone has the data, a lease costs nothing and is always there. Where
// several share it, a lease is a key of the engine, and every batch of the work depends on that key. So a process that
// has lost a lease, because it was paused or could not reach the engine, cannot write as if it still had it. No
// machine's clock decides who has a lease.
package lease

import (
	"context"
	"sync/atomic"

	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/keys"
	"github.com/mayflydb/mayfly/internal/kv"
)

// ErrLost is the error of work whose lease another process has now, or nobody.
var ErrLost = fault.New(fault.Precondition, "Another process does this work now.")

// A Lease is the right to do one piece of work. Its methods are safe for concurrent use.
type Lease struct {
	keeper *Keeper
	name   string
	epoch  uint64
	lost   atomic.Bool
}

// Lost reports whether the process knows that it has lost the lease. It may learn that late; Guard is exact.
func (l *Lease) Lost() bool { return l.lost.Load() }

// Guard makes a batch of the work depend on the lease: Apply fails with fault.Conflict if the lease changes hands
// before the commit. If it has done so already, Guard fails with ErrLost. A batch that rests on a view has its Since
// already; another one gets it here.
func (l *Lease) Guard(ctx context.Context, b *kv.Batch) error {
	if l.lost.Load() {
		return ErrLost
	}
	k := l.keeper
	if !k.shared {
		return nil
	}
	// The key is read after the moment that the batch rests on. If it is right now, and has not changed from that
	// moment to the commit, then it is right at the commit.
	var r kv.Reader = k.engine
	if b.Since == 0 {
		view, err := k.engine.View(ctx)
		if err != nil {
			return err
		}
		b.Since, r = view.Mark, view
	}
	key := keys.LeaseKey(l.name)
	is, err := readLease(ctx, r, key)
	if err != nil {
		return err
	}
	if is.Holder != k.id || is.Epoch != l.epoch {
		k.lose(l)
		return ErrLost
	}
	b.Read(key)
	return nil
}

// Release gives the lease back, so that another process can take it at once.
func (l *Lease) Release(ctx context.Context) error {
	k := l.keeper
	if !k.lose(l) || !k.shared {
		return nil
	}
	view, err := k.engine.View(ctx)
	if err != nil {
		return err
	}
	key := keys.LeaseKey(l.name)
	is, err := readLease(ctx, view, key)
	if err != nil || is.Holder != k.id || is.Epoch != l.epoch {
		return err
	}
	b := &kv.Batch{Since: view.Mark}
	b.Read(key)
	is.Holder = ""
	b.Set(key, is.Append(nil))
	if err := k.engine.Apply(ctx, b); fault.KindOf(err) != fault.Conflict { // else another process has it by now
		return err
	}
	return nil
}

func readLease(ctx context.Context, r kv.Reader, key []byte) (is keys.Lease, err error) {
	_, err = r.Get(ctx, key, func(value []byte) (err error) {
		if is, err = keys.DecodeLease(value); err != nil {
			return fault.Wrap(fault.Corrupt, err, "a lease cannot be read")
		}
		return nil
	})
	return is, err
}

func readHolder(ctx context.Context, r kv.Reader, holder string) (until int64, err error) {
	_, err = r.Get(ctx, keys.HolderKey(holder), func(value []byte) (err error) {
		if until, err = keys.DecodeHolder(value); err != nil {
			return fault.Wrap(fault.Corrupt, err, "the holder of leases cannot be read")
		}
		return nil
	})
	return until, err
}
