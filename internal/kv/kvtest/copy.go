package kvtest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/mayflydb/mayfly/internal/kv"
)

// Copy tests the copies of an engine: of a kv.Checkpointer, opened from its folder, or of a kv.Copier. duplicate makes
// one, and the suite closes it.
func Copy(t *testing.T, open func(t *testing.T) kv.Engine, duplicate func(t *testing.T, e kv.Engine) kv.Engine) {
	t.Run("apart", func(t *testing.T) { copyApart(t, open(t), duplicate) })
	t.Run("under load", func(t *testing.T) { copyUnderLoad(t, open(t), duplicate) })
}

// copyApart checks that neither of two copies sees what is written to the other.
func copyApart(t *testing.T, e kv.Engine, duplicate func(*testing.T, kv.Engine) kv.Engine) {
	defer closeEngine(t, e)
	set(t, e, "a", "1", "b", "1", "c", "1")
	remove(t, e, "c")
	first := duplicate(t, e)
	defer closeEngine(t, first)
	set(t, e, "a", "2", "d", "2")
	remove(t, e, "b")
	second := duplicate(t, first)
	defer closeEngine(t, second)
	set(t, first, "a", "3")
	want(t, e, "a", "2", "b", absent, "c", absent, "d", "2")
	want(t, first, "a", "3", "b", "1", "c", absent, "d", absent)
	want(t, second, "a", "1", "b", "1", "c", absent, "d", absent)
	applySince(t, second, func(v kv.View) *kv.Batch {
		b := &kv.Batch{Since: v.Mark}
		b.Read([]byte("a"))
		b.Set([]byte("a"), []byte("4"))
		return b
	})
	want(t, second, "a", "4")
	want(t, first, "a", "3")
}

// copyUnderLoad takes copies while several goroutines write. Each has whole batches only, every batch that was
// acknowledged before, none without all earlier ones, and it goes on from there.
func copyUnderLoad(t *testing.T, e kv.Engine, duplicate func(*testing.T, kv.Engine) kv.Engine) {
	defer closeEngine(t, e)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	var promised atomic.Uint64
	var running sync.WaitGroup
	ctx, stop := context.WithCancel(t.Context())
	defer running.Wait()
	defer stop()
	permits := make(chan struct{}, 300) // a batch each: bounds what an engine that never waits for a disk writes
	for range 4 {
		own := rand.New(rand.NewPCG(rng.Uint64(), 0))
		running.Go(func() {
			for {
				select {
				case <-ctx.Done():
					return
				case <-permits:
				}
				n, durable, err := writeParts(e, own)
				if err != nil {
					t.Error(err)
					return
				}
				if durable {
					raise(&promised, n)
				}
			}
		})
	}
	for i := range 5 {
		for range cap(permits) - len(permits) {
			permits <- struct{}{}
		}
		for promised.Load() < uint64(20*i) && !t.Failed() {
			runtime.Gosched()
		}
		least := promised.Load()
		c := duplicate(t, e)
		if err := intact(c, least); err != nil {
			t.Errorf("copy %d: %v", i, err)
		}
		if n, _, err := writeParts(c, rng); err != nil || n < least {
			t.Errorf("copy %d: batch %d, %v", i, n, err)
		}
		closeEngine(t, c)
	}
}

func closeEngine(t *testing.T, e kv.Engine) {
	t.Helper()
	if err := e.Close(); err != nil {
		t.Error(fmt.Errorf("close: %w", err))
	}
}
