package kvtest

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/mayflydb/mayfly/internal/kv"
)

// Crash tests what a durable engine keeps when the machine stops. Several
// goroutines write batches that pass one counter, some durable at once, some by
// the Sync of a kv.Syncer, and some not; copies of the file system are taken at
// random moments, each with everything that was synced and a random share of what
// was not. An engine opened on a copy must have every batch acknowledged as durable
// before, every batch that came before one it has, and no batch in part. It then
// goes on from one of the copies.
//
// open opens the engine that lives on fs, which may hold one already.
func Crash(t *testing.T, open func(t *testing.T, fs vfs.FS) kv.Engine) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	fs := vfs.NewCrashableMem()
	for range 3 {
		crashes := live(t, rng, open(t, Cloneable{fs}), fs)
		for i, c := range crashes {
			e := open(t, Cloneable{c.fs})
			if err := intact(e, c.promised); err != nil {
				t.Errorf("crash %d with %d%% of unsynced data: %v", i, c.percent, err)
			}
			if err := e.Close(); err != nil {
				t.Errorf("close after a crash: %v", err)
			}
		}
		if len(crashes) > 0 {
			fs = crashes[rng.IntN(len(crashes))].fs
		}
	}
}

// Cloneable is a memory file system that CrashClone can copy at any moment.
// MemFS itself locks twice when a log is used again, and a CrashClone in between
// makes it wait forever.
type Cloneable struct{ *vfs.MemFS }

// ReuseForWrite renames a file and opens it, as vfs.FS has it.
func (fs Cloneable) ReuseForWrite(from, to string, category vfs.DiskWriteCategory) (vfs.File, error) {
	if err := fs.Rename(from, to); err != nil {
		return nil, err
	}
	return fs.OpenReadWrite(to, category)
}

// A crash is a copy of the file system and the newest number that had been
// acknowledged as durable when it was taken.
type crash struct {
	fs       *vfs.MemFS
	percent  int
	promised uint64
}

// live writes to e and closes it, and takes crashes in the meantime.
func live(t *testing.T, rng *rand.Rand, e kv.Engine, fs *vfs.MemFS) (crashes []crash) {
	const writers, each, every = 4, 80, 50
	var promised atomic.Uint64
	var mu sync.Mutex
	var running sync.WaitGroup
	for range writers {
		own := rand.New(rand.NewPCG(rng.Uint64(), 0))
		running.Go(func() {
			for range each {
				number, durable, err := writeParts(e, own)
				if s, ok := e.(kv.Syncer); ok && err == nil && !durable && own.IntN(3) == 0 {
					durable, err = true, s.Sync(context.Background())
				}
				if err != nil {
					t.Error(err)
					return
				}
				if durable {
					raise(&promised, number)
				}
				if own.IntN(every) > 0 {
					continue
				}
				mu.Lock()
				c := crash{percent: []int{0, 5, 50, 95, 100}[own.IntN(5)], promised: promised.Load()}
				c.fs = fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: c.percent, RNG: own})
				crashes = append(crashes, c)
				mu.Unlock()
			}
		})
	}
	running.Wait()
	if err := e.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
	return crashes
}

func raise(to *atomic.Uint64, n uint64) {
	for {
		old := to.Load()
		if old >= n || to.CompareAndSwap(old, n) {
			return
		}
	}
}

// writeParts applies batch number n of counter "n": log/n says how many part/n/i
// there are, and head/n takes the place of head/(n-1).
func writeParts(e kv.Engine, rng *rand.Rand) (n uint64, durable bool, err error) {
	sizes := make([]int, 1+rng.IntN(5))
	for i := range sizes {
		sizes[i] = rng.IntN(3000)
	}
	if rng.IntN(50) == 0 {
		sizes[0] = 100 << 10 // more than a small memtable takes
	}
	b := kv.Batch{NoSync: rng.IntN(2) == 0, SyncLater: rng.IntN(3) == 0}
	b.Follow([]byte("n"), func(last []byte, b *kv.Batch) ([]byte, error) {
		n = number(last) + 1
		b.Set(fmt.Appendf(nil, "log/%08d", n), []byte{byte(len(sizes))})
		b.Set(fmt.Appendf(nil, "head/%08d", n), nil)
		b.Delete(fmt.Appendf(nil, "head/%08d", n-1))
		for i, size := range sizes {
			b.Set(fmt.Appendf(nil, "part/%08d/%d", n, i), bytes.Repeat(bytesOf(n), size/8))
		}
		return bytesOf(n), nil
	})
	return n, !b.NoSync && !b.SyncLater, e.Apply(context.Background(), &b)
}

// intact checks that e holds exactly the batches up to its counter, each in
// full, and at least those promised.
func intact(e kv.Engine, promised uint64) error {
	newest, err := count(e, "n")
	if err != nil {
		return err
	}
	if newest < promised {
		return fmt.Errorf("ends at batch %d, batch %d was acknowledged", newest, promised)
	}
	it, err := e.Iterate(context.Background(), nil, nil)
	if err != nil {
		return err
	}
	defer it.Close()
	var heads, parts, announced int
	var logs uint64
	for it.Next() {
		switch key := it.Key(); key[0] {
		case 'h':
			if heads++; string(key) != fmt.Sprintf("head/%08d", newest) {
				return fmt.Errorf("counter is %d and the head %q", newest, key)
			}
		case 'l':
			if logs++; string(key) != fmt.Sprintf("log/%08d", logs) {
				return fmt.Errorf("batch %d is missing before %q", logs, key)
			}
			announced += int(it.Value()[0])
		case 'p':
			parts++
			if err := intactPart(key, it.Value()); err != nil {
				return err
			}
		}
	}
	if newest > 0 && heads != 1 || logs != newest || parts != announced {
		return fmt.Errorf("counter %d, heads %d, batches %d, parts %d of %d", newest, heads, logs, parts, announced)
	}
	return it.Err()
}

func intactPart(key, value []byte) error {
	var n uint64
	var i int
	if _, err := fmt.Sscanf(string(key), "part/%d/%d", &n, &i); err != nil {
		return fmt.Errorf("key %q: %w", key, err)
	}
	if !bytes.Equal(value, bytes.Repeat(bytesOf(n), len(value)/8)) {
		return fmt.Errorf("%q has another batch's bytes", key)
	}
	return nil
}
