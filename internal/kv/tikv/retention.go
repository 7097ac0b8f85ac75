package tikv

import (
	"context"
	"crypto/rand"
	"maps"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/mayflydb/mayfly/internal/clock"
)

// retention keeps what old snapshots read from the garbage collector: one service safe point at PD, at the oldest of
// them. It ends by itself some time after the process has died.
type retention struct {
	service string // the name at PD, of this engine alone

	mu        sync.Mutex
	snapshots map[*keptSnapshot]struct{}
	safe      uint64          // what PD has agreed to keep, 0 for nothing
	renewed   clock.Stopwatch // when it last did
	lasts     time.Duration   // for how long
}

// A keptSnapshot is a snapshot that is open.
type keptSnapshot struct {
	ts     uint64
	opened clock.Stopwatch
}

func newRetention() *retention {
	return &retention{service: "mayfly-" + rand.Text(), snapshots: map[*keptSnapshot]struct{}{}}
}

func (k *retention) add(ts uint64) *keptSnapshot {
	s := &keptSnapshot{ts: ts, opened: clock.Start()}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.snapshots[s] = struct{}{}
	return s
}

func (k *retention) remove(s *keptSnapshot) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.snapshots, s)
}

// protects reports whether PD keeps the state at a snapshot at this moment.
func (k *retention) protects(s *keptSnapshot) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.safe != 0 && k.safe <= s.ts && k.renewed.Elapsed() < k.lasts
}

// oldest is the timestamp of the oldest snapshot that has been open for a while, 0 if there is none.
func (k *retention) oldest(open time.Duration) (ts uint64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	old := slices.DeleteFunc(slices.Collect(maps.Keys(k.snapshots)), func(s *keptSnapshot) bool {
		return s.opened.Elapsed() < open
	})
	for _, s := range old {
		if ts == 0 || s.ts < ts {
			ts = s.ts
		}
	}
	return ts
}

func (k *retention) agreed(safe uint64, since clock.Stopwatch, lasts time.Duration) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.safe, k.renewed, k.lasts = safe, since, lasts
}

// retain looks after old snapshots until the engine closes. It looks often enough for each to be known to PD when it is
// half as old as what GC may collect.
func (e *Engine) retain() {
	for clock.Pause(e.ctx, e.options.Retain/4) == nil {
		e.renew(e.ctx)
	}
	// Whatever it holds would keep garbage for as long as it lasts.
	ctx, cancel := context.WithTimeout(context.Background(), e.options.Timeout)
	defer cancel()
	e.renew(ctx)
}

// renew tells PD of the oldest snapshot. If PD does not answer, or keeps only later states, reads of the snapshots that
// it does not keep fail.
func (e *Engine) renew(ctx context.Context) {
	oldest := e.kept.oldest(e.options.Retain / 8)
	pd := e.store.GetPDClient()
	began := clock.Start()
	if oldest == 0 {
		if e.kept.registered() {
			if _, err := pd.UpdateServiceGCSafePoint(ctx, e.kept.service, 0, math.MaxUint64); err == nil {
				e.kept.agreed(0, began, 0)
			}
		}
		return
	}
	lasts := max(e.options.Retain, time.Minute).Truncate(time.Second)
	least, err := pd.UpdateServiceGCSafePoint(ctx, e.kept.service, int64(lasts/time.Second), oldest)
	switch {
	case err != nil: // the agreement before lasts for as long as it lasts
	case least > oldest:
		e.kept.agreed(0, began, 0)
	default:
		e.kept.agreed(oldest, began, lasts)
	}
}

func (k *retention) registered() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.safe != 0
}
