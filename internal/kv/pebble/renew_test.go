package pebble

import (
	"errors"
	"sync"
	"testing"
)

// TestRenewalKeepsTheCache exchanges the memtables while the cache is full of blocks.
func TestRenewalKeepsTheCache(t *testing.T) {
	e := start(t, Options{Dir: t.TempDir(), NoSync: true, MemTableBytes: 4 << 20, CacheBytes: 24 << 20})
	defer stop(t, e)
	const documents = 32 << 10
	many(t, e, documents)
	rest(e, pauseChecks+1)
	set(t, e, "key", "value")
	for i := range documents {
		if _, err := e.Get(t.Context(), benchKey(i), func([]byte) error { return nil }); err != nil {
			t.Fatal(err)
		}
	}
	before := e.cache.Size()
	if before < 8<<20 {
		t.Fatalf("the cache has %d bytes, too few for this test", before)
	}
	if done, err := e.renew(t.Context()); !done || err != nil {
		t.Fatalf("done: %v, %v", done, err)
	}
	if after := e.cache.Size(); after < before*9/10 {
		t.Errorf("the cache has %d bytes, and had %d", after, before)
	}
}

// TestRenewalGivesWay ends early, and holds no memtables, while somebody writes much.
func TestRenewalGivesWay(t *testing.T) {
	e := start(t, Options{Dir: t.TempDir(), NoSync: true, MemTableBytes: 1 << 20})
	defer stop(t, e)
	var running sync.WaitGroup
	ended := make(chan struct{})
	running.Go(func() {
		for {
			select {
			case <-ended:
				return
			default:
				many(t, e, 1000)
			}
		}
	})
	gaveWay := false
	for range 100 {
		done, err := e.renew(t.Context())
		if err != nil {
			t.Error(err)
		}
		if gaveWay = !done; gaveWay {
			break
		}
	}
	close(ended)
	running.Wait()
	if !gaveWay {
		t.Error("it never ended early")
	}
}

// TestRenewalAfterAFailure is refused, since Pebble would end the process.
func TestRenewalAfterAFailure(t *testing.T) {
	e := start(t, Options{Dir: t.TempDir()})
	defer e.Close()
	e.fail(errors.New("broken"))
	if done, err := e.renew(t.Context()); done || err == nil {
		t.Errorf("done: %v, %v", done, err)
	}
}
