package tikv

import (
	"bytes"
	"context"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tikv/client-go/v2/tikvrpc"

	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/kv"
)

// noise is a value of so many bytes that no two chunks of it are alike.
func noise(size int, seed uint64) []byte {
	rng := rand.New(rand.NewPCG(seed, 0))
	value := make([]byte, size)
	for i := range value {
		value[i] = byte(rng.Uint32())
	}
	return value
}

// stored counts the keys of one kind.
func stored(t *testing.T, e *Engine, kind byte) (n int) {
	t.Helper()
	from, to := e.space.bounds(kind, nil, nil)
	now, err := e.now(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for {
		page, err := e.reader(now).page(t.Context(), from, to, false, largePage)
		if err != nil {
			t.Fatal(err)
		}
		if n += len(page); len(page) < largePage {
			return n
		}
		from = append(bytes.Clone(page[len(page)-1].key), 0)
	}
}

func TestLargeValues(t *testing.T) {
	e := newCluster(t).process(t, Options{})
	defer stop(t, e)
	sizes := []int{chunkBytes - 1, chunkBytes, chunkBytes + 1, 3 * chunkBytes, chunksAtOnce*chunkBytes + 7}
	b := &kv.Batch{}
	want := map[string][]byte{}
	for i, size := range sizes {
		key := string(rune('a' + 2*i))
		want[key] = noise(size, uint64(i))
		b.Set([]byte(key), want[key])
		b.Set([]byte{key[0] + 1}, []byte("small"))
	}
	apply(t, e, b)
	for key, value := range want {
		if get(t, e, key) != string(value) {
			t.Errorf("the value of %d bytes is damaged", len(value))
		}
	}
	for _, back := range []bool{false, true} {
		it, err := e.Iterate(t.Context(), nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		move := it.Next
		if back {
			move = it.Prev
		}
		keys := ""
		for move() {
			keys += string(it.Key())
			if value, large := want[string(it.Key())]; large && !bytes.Equal(it.Value(), value) {
				t.Errorf("the value of %d bytes is damaged in an iterator", len(value))
			}
		}
		if err := it.Close(); err != nil || len(keys) != 2*len(sizes) {
			t.Errorf("keys are %q, %v", keys, err)
		}
	}
}

// TestLargeValuesAreCollected overwrites and deletes large values. GC removes their chunks, and no others.
func TestLargeValuesAreCollected(t *testing.T) {
	e := newCluster(t).process(t, Options{})
	defer stop(t, e)
	value := noise(2*chunkBytes+1, 1)
	for _, key := range []string{"overwritten", "shrunk", "deleted", "kept"} {
		set(t, e, key, value)
	}
	old, err := e.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer old.Close()
	other := noise(chunkBytes+1, 2)
	b := &kv.Batch{}
	b.Set([]byte("overwritten"), other)
	b.Set([]byte("shrunk"), []byte("small"))
	b.Delete([]byte("deleted"))
	b.Set([]byte("twice"), value)
	b.Set([]byte("twice"), other) // the first value is never there
	apply(t, e, b)
	if _, err := e.GC(t.Context(), time.Now()); err != nil {
		t.Fatal(err)
	}
	if chunks, records := stored(t, e, chunkKeys), stored(t, e, recordKeys); chunks != 3+2+2 || records != 3 {
		t.Errorf("%d chunks and %d records are left, want 7 and 3", chunks, records)
	}
	for key, want := range map[string]string{
		"overwritten": string(other), "shrunk": "small", "deleted": absent, "kept": string(value),
		"twice": string(other),
	} {
		if get(t, e, key) != want {
			t.Errorf("%q is damaged", key)
		}
	}
	for _, key := range []string{"overwritten", "shrunk", "deleted"} {
		if get(t, old, key) != string(value) {
			t.Errorf("%q is damaged in a snapshot from before", key)
		}
	}
}

// TestCollectionFailsInPart lets the removal of chunks fail. The safe point moves nevertheless, so that what was
// overwritten is freed. Each value has the time of a call: one that takes long takes it from no other.
func TestCollectionFailsInPart(t *testing.T) {
	var fails, watched atomic.Bool
	var mu sync.Mutex
	ends := map[uint64]time.Time{} // of transactions, by their starts
	e := newCluster(t).over(t, Options{}, func(
		ctx context.Context, req *tikvrpc.Request, send func() (*tikvrpc.Response, error),
	) (*tikvrpc.Response, error) {
		if req.Type == tikvrpc.CmdPrewrite && watched.Load() {
			mu.Lock()
			ends[req.Prewrite().StartVersion], _ = ctx.Deadline()
			mu.Unlock()
			if fails.Load() {
				return nil, context.Canceled
			}
		}
		return send()
	})
	defer stop(t, e)
	keys := []string{"a", "b", "c"}
	for i, key := range keys {
		set(t, e, key, noise(chunkBytes+1, uint64(i)))
		set(t, e, key, nil)
	}
	watched.Store(true)
	fails.Store(true)
	before := view(t, e).Time.Add(-time.Hour)
	kept, err := e.GC(t.Context(), before)
	wantKind(t, err, fault.Unavailable)
	safe, err := e.store.GetPDClient().UpdateGCSafePoint(t.Context(), 0)
	if err != nil || !kept.Equal(before) || !timeOf(safe).Equal(before) {
		t.Errorf("the safe point is at %v, kept is %v, want %v; %v", timeOf(safe), kept, before, err)
	}
	fails.Store(false)
	clear(ends)
	if _, err := e.GC(t.Context(), before); err != nil {
		t.Fatal(err)
	}
	if stored(t, e, chunkKeys) != 0 || len(ends) != len(keys) {
		t.Errorf("%d chunks are left after %d transactions", stored(t, e, chunkKeys), len(ends))
	}
	differ := map[time.Time]bool{}
	for _, end := range ends {
		differ[end] = true
	}
	if len(differ) != len(keys) || differ[time.Time{}] {
		t.Errorf("transactions end at %v, want an end for each", ends)
	}
}

// TestDamagedValues reads what no engine writes.
func TestDamagedValues(t *testing.T) {
	e := newCluster(t).process(t, Options{})
	defer stop(t, e)
	good := header{size: chunkBytes + 1, chunk: chunkBytes}.encode()
	for _, stored := range [][]byte{
		{7}, {chunked}, good[:len(good)-1], good, header{size: 1 << 40, chunk: 1}.encode(), header{size: 5}.encode(),
	} {
		if _, err := e.reader(1).assemble(t.Context(), []byte("k"), stored); fault.KindOf(err) != fault.Corrupt {
			t.Errorf("%x: %v", stored, err)
		}
	}
}
