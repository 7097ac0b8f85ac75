package pebble

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/mayflydb/mayfly/internal/kv"
	"github.com/mayflydb/mayfly/internal/kv/kvtest"
)

var lives = flag.Int("lives", 10,
	"how often TestPowerFailure opens, writes and closes, with a dozen power failures each time")

// TestPowerFailure takes the power away before random operations of the file system: while the engine opens, works and
// closes, and with a random share of what was not synced. None of what is left is taken for damage, and it has
// everything that was acknowledged, and nothing behind a gap.
func TestPowerFailure(t *testing.T) {
	for _, c := range []struct{ noSync, direct bool }{{false, false}, {true, false}, {false, true}} {
		t.Run(fmt.Sprintf("noSync=%v,direct=%v", c.noSync, c.direct), func(t *testing.T) {
			seed := rand.Uint64()
			t.Logf("seed %d", seed)
			p := &power{rng: rand.New(rand.NewPCG(seed, 0))}
			mem := vfs.NewCrashableMem()
			for range *lives {
				p.failOnceIn(5)
				var fs vfs.FS = errorfs.Wrap(kvtest.Cloneable{MemFS: mem}, p.over(mem))
				if c.direct {
					fs = directMem{fs}
				}
				e := start(t, Options{FS: fs, NoSync: c.noSync, MemTableBytes: 32 << 10})
				p.failOnceIn(60)
				written := p.intact(t, e)
				if int64(written) < p.acknowledged.Load() {
					t.Errorf("%d writes are there, %d were acknowledged", written, p.acknowledged.Load())
				}
				for range 150 {
					var b kv.Batch
					b.Set(numbered(written), []byte(strings.Repeat(fmt.Sprint(written), p.below(600))))
					if err := e.Apply(context.Background(), &b); err != nil {
						t.Fatal(err)
					}
					written++
					if !c.noSync {
						p.acknowledged.Store(int64(written))
					}
				}
				p.failOnceIn(3)
				stop(t, e)
				mem = p.examine(t, mem)
			}
		})
	}
}

func numbered(i int) []byte { return fmt.Appendf(nil, "k%06d", i) }

// power fails now and then.
type power struct {
	acknowledged atomic.Int64

	mu       sync.Mutex
	rng      *rand.Rand
	often    int // fails at one operation of so many
	failures []powerFailure
}

// A powerFailure is what it has left, and how many writes were acknowledged by then.
type powerFailure struct {
	fs           *vfs.MemFS
	acknowledged int64
	before       string
}

func (p *power) failOnceIn(operations int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.often = operations
}

func (p *power) below(n int) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.rng.IntN(n)
}

func (p *power) over(mem *vfs.MemFS) errorfs.Injector {
	return errorfs.InjectorFunc(func(op errorfs.Op) error {
		if op.Kind.ReadOrWrite() != errorfs.OpIsWrite {
			return nil
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.rng.IntN(p.often) > 0 {
			return nil
		}
		f := powerFailure{acknowledged: p.acknowledged.Load(), before: fmt.Sprintf("%v %s", op.Kind, op.Path)}
		f.fs = mem.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: []int{0, 5, 50, 95, 100}[p.rng.IntN(5)],
			RNG: p.rng})
		p.failures = append(p.failures, f)
		return nil
	})
}

// examine opens what is left by each failure, and gives one of them to go on with, or what is there after the clean
// end.
func (p *power) examine(t *testing.T, mem *vfs.MemFS) *vfs.MemFS {
	t.Helper()
	defer func() { p.failures = nil }()
	next := p.rng.IntN(len(p.failures) + 1)
	for i, f := range p.failures {
		if i == next { // to be opened under more failures
			mem = f.fs
			p.acknowledged.Store(f.acknowledged)
			continue
		}
		e, err := Open(Options{FS: kvtest.Cloneable{MemFS: f.fs}, MemTableBytes: 32 << 10})
		if err != nil {
			t.Fatalf("power failure before %s: %v", f.before, err)
		}
		if n := p.intact(t, e); int64(n) < f.acknowledged {
			t.Errorf("power failure before %s: %d writes are there, %d were acknowledged", f.before, n, f.acknowledged)
		}
		stop(t, e)
	}
	return mem
}

// intact counts the writes, which are numbered from 0.
func (p *power) intact(t *testing.T, e *Engine) (n int) {
	t.Helper()
	it, err := e.Iterate(context.Background(), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer it.Close()
	for ; it.Next(); n++ {
		if string(it.Key()) != string(numbered(n)) {
			t.Fatalf("%s comes in place of %s", it.Key(), numbered(n))
		}
	}
	if it.Err() != nil {
		t.Fatal(it.Err())
	}
	return n
}
