package lease

import (
	"context"

	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/keys"
	"github.com/mayflydb/mayfly/internal/kv"
)

// Renew renews the leases of this process for another term, learns which it has lost and which others hold, and deletes
// what nobody needs any more. Start calls it; a test may do so instead. Leases that were not renewed in time are still
// held as long as no other process has taken them.
func (k *Keeper) Renew(ctx context.Context) error {
	if !k.shared {
		return nil
	}
	if err := k.beat(ctx); err != nil {
		return err
	}
	view, err := k.engine.View(ctx)
	if err != nil {
		return err
	}
	holders, err := readHolders(ctx, view)
	if err != nil {
		return err
	}
	leases, err := readLeases(ctx, view)
	if err != nil {
		return err
	}
	now := view.Time.UnixMilli()
	k.learn(leases, func(holder string) bool { return holders[holder] > now })
	return k.tidy(ctx, view, leases, holders)
}

// beat writes until when this process lives. It depends on nothing: if another process has taken a lease because this
// one was late, that stays.
func (k *Keeper) beat(ctx context.Context) error {
	k.mu.Lock()
	idle := len(k.held) == 0
	k.mu.Unlock()
	if idle {
		return nil
	}
	view, err := k.engine.View(ctx)
	if err != nil {
		return err
	}
	b := &kv.Batch{Frees: true}
	b.Set(keys.HolderKey(k.id), keys.AppendHolder(nil, view.Time.Add(k.term).UnixMilli()))
	return k.engine.Apply(ctx, b)
}

// learn compares what the process thinks with what it has read.
func (k *Keeper) learn(leases map[string]keys.Lease, alive func(holder string) bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.names = len(leases)
	clear(k.others)
	for name, is := range leases {
		if is.Holder != k.id && alive(is.Holder) {
			k.others[name] = true
		}
		// A lease of a later epoch was taken while this look was under way, and is right.
		if l := k.held[name]; l != nil && (is.Holder != k.id && is.Epoch > l.epoch) {
			l.lost.Store(true)
			delete(k.held, name)
		}
	}
}

// tidyStep is how many keys tidy deletes at a time.
const tidyStep = 500

// tidy deletes leases whose work is over for good, and processes that are dead and hold nothing. A batch that another
// process comes in the way of is left to the next time.
func (k *Keeper) tidy(
	ctx context.Context, view kv.View, leases map[string]keys.Lease, holders map[string]int64,
) error {
	b := &kv.Batch{Since: view.Mark, Frees: true}
	now, needed := view.Time.UnixMilli(), map[string]bool{k.id: true}
	for name, is := range leases {
		mine := is.Holder == k.id
		if k.gone == nil || len(b.Ops) == tidyStep || !k.gone(name) || !mine && holders[is.Holder] > now {
			needed[is.Holder] = true
			continue
		}
		if mine {
			k.Drop(name)
		}
		b.Read(keys.LeaseKey(name))
		b.Delete(keys.LeaseKey(name))
	}
	for holder, until := range holders {
		if !needed[holder] && until <= now && len(b.Ops) < tidyStep {
			b.Read(keys.HolderKey(holder))
			b.Delete(keys.HolderKey(holder))
		}
	}
	if len(b.Ops) == 0 {
		return nil
	}
	if err := k.engine.Apply(ctx, b); fault.KindOf(err) != fault.Conflict {
		return err
	}
	return nil
}

// Drop forgets a lease whose work is over for good. It writes nothing: a later renewal deletes what is Gone.
func (k *Keeper) Drop(name string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if l := k.held[name]; l != nil {
		l.lost.Store(true)
		delete(k.held, name)
	}
}

func readLeases(ctx context.Context, r kv.Reader) (map[string]keys.Lease, error) {
	found := map[string]keys.Lease{}
	lower, upper := keys.LeaseBounds()
	err := each(ctx, r, lower, upper, func(key, value []byte) error {
		name, err := keys.LeaseName(key)
		if err == nil {
			found[name], err = keys.DecodeLease(value)
		}
		return err
	})
	return found, err
}

func readHolders(ctx context.Context, r kv.Reader) (map[string]int64, error) {
	found := map[string]int64{}
	lower, upper := keys.HolderBounds()
	err := each(ctx, r, lower, upper, func(key, value []byte) error {
		name, err := keys.HolderName(key)
		if err == nil {
			found[name], err = keys.DecodeHolder(value)
		}
		return err
	})
	return found, err
}

func each(ctx context.Context, r kv.Reader, lower, upper []byte, take func(key, value []byte) error) error {
	it, err := r.Iterate(ctx, lower, upper)
	if err != nil {
		return err
	}
	defer it.Close()
	for it.Next() {
		value := it.Value()
		if value == nil {
			break // Err says why
		}
		if err := take(it.Key(), value); err != nil {
			return fault.Wrap(fault.Corrupt, err, "a lease cannot be read")
		}
	}
	return it.Err()
}
