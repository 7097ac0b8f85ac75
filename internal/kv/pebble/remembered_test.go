package pebble

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"github.com/mayflydb/mayfly/internal/kv"
)

// recall reads a key in memory alone, as the state after mark has it.
func (r *remembered) recall(key string, mark uint64) (string, bool) {
	v := r.find(r.hash([]byte(key)), []byte(key), mark)
	if v == nil {
		return "", false
	}
	return string(v.value), true
}

// rememberAll remembers more than the sample from the beginning.
func rememberAll(limit int64) *remembered {
	r := newRemembered(limit, nil)
	r.always()
	return r
}

// always remembers all keys from now on.
func (r *remembered) always() {
	r.deciding.Lock()
	r.all.Store(true)
}

func (r *remembered) see(key, value string, since uint64) {
	r.offer(r.hash([]byte(key)), []byte(key), []byte(value), since)
}

func TestRemembered(t *testing.T) {
	r := rememberAll(1 << 20)
	want := func(when, key string, mark uint64, want string) {
		t.Helper()
		if got, found := r.recall(key, mark); got != want || found != (want != "") {
			t.Errorf("%s: %q, %v; want %q", when, got, found, want)
		}
	}
	r.see("a", "one", 5)
	want("seen once", "a", 9, "")
	r.see("a", "one", 5)
	want("seen twice", "a", 9, "one")
	want("for a state that is as old", "a", 5, "one")
	want("for a state that may be older", "a", 4, "")
	r.change([]kv.Op{{Key: []byte("a"), Value: []byte("two")}}, 6)
	want("changed", "a", 9, "")
	r.see("a", "one", 5)
	want("an old value after a change", "a", 9, "")
	r.see("a", "two", 6)
	want("the new value", "a", 9, "two")
	r.forget()
	if want("forgotten", "a", 9, ""); r.bytes.Load() != 0 {
		t.Errorf("%d bytes after all was forgotten", r.bytes.Load())
	}
}

func TestRememberedGaps(t *testing.T) {
	r := rememberAll(32 << 20) // so that no key makes another one go
	key := func(i int) string { return fmt.Sprintf("%04d", i) }
	remove := func(from, to int, number uint64) {
		r.change([]kv.Op{{Key: []byte(key(from)), End: []byte(key(to))}}, number)
	}
	gone := func(i int) bool {
		_, found := r.recall(key(i), 1<<60)
		return !found
	}
	for i := range 1000 {
		r.see(key(i), "v", 1)
		r.see(key(i), "v", 1)
	}
	removed := map[int]bool{}
	runs := [][2]int{{10, 20}, {40, 50}, {20, 30}, {5, 12}, {45, 60}, {60, 60}, {0, 3}, {2, 6}, {900, 901}}
	for number, run := range runs {
		remove(run[0], run[1], uint64(number)+2)
		for i := run[0]; i < run[1]; i++ {
			removed[i] = true
		}
		for i := range 1000 {
			if gone(i) != removed[i] {
				t.Fatalf("after %v: key %d is gone: %v, want %v", run, i, gone(i), removed[i])
			}
		}
	}
	if n := len(*r.gaps.Load()); n != 3 {
		t.Errorf("%d gaps, want 3: %v", n, *r.gaps.Load())
	}
	r.see(key(15), "again", 20)
	if got, _ := r.recall(key(15), 20); got != "again" {
		t.Errorf("%q where a key came back", got)
	}
	for i := range maxGaps {
		remove(100+2*i, 101+2*i, uint64(30+i))
	}
	if n := len(*r.gaps.Load()); n > maxGaps {
		t.Errorf("%d gaps", n)
	}
	if !gone(101) && gone(100) || !gone(100) {
		t.Error("a key of a gap is there")
	}
}

// TestRememberedLimit reads more than may be remembered, and often a few keys of it.
func TestRememberedLimit(t *testing.T) {
	const limit, hot = 256 << 10, 20
	r := rememberAll(limit)
	value := string(make([]byte, 1<<10))
	for i := range 5000 {
		for range 2 {
			r.see(fmt.Sprint("cold", i), value, 1)
		}
		for j := range hot {
			key := fmt.Sprint("hot", j)
			if _, found := r.recall(key, 1); !found {
				r.see(key, value, 1)
			}
		}
		if n := r.bytes.Load(); n > limit+2<<10 {
			t.Fatalf("%d bytes, and %d are allowed", n, limit)
		}
	}
	there, bytes := 0, int64(0)
	for i := range r.sets {
		for j := range r.sets[i].entries {
			if v := r.sets[i].entries[j].Load(); v != nil {
				bytes += v.size()
			}
		}
	}
	for j := range hot {
		if _, found := r.recall(fmt.Sprint("hot", j), 1); found {
			there++
		}
	}
	if bytes != r.bytes.Load() || bytes < limit/2 {
		t.Errorf("%d bytes are there, %d are counted, of %d", bytes, r.bytes.Load(), limit)
	}
	if there < hot*3/4 {
		t.Errorf("%d of %d keys that are read all the time are remembered", there, hot)
	}
	r.see("large", string(make([]byte, rememberedBytes+1)), 1)
	r.see("large", string(make([]byte, rememberedBytes+1)), 1)
	if _, found := r.recall("large", 1); found {
		t.Error("a value above the limit is remembered")
	}
}

// TestRememberedPays reads few keys again and again, then so many that few of them could be remembered, then few again.
// What it does not remember, blocks have the space of.
func TestRememberedPays(t *testing.T) {
	const limit = 512 << 10
	blocks := pebble.NewCache(1 << 20)
	defer blocks.Unref()
	r := newRemembered(limit, blocks)
	value := string(make([]byte, 1<<10))
	read := func(keys, reads int) (found int) {
		for i := range reads {
			key := fmt.Sprint("key", i*7919%keys)
			if _, ok := r.recall(key, 1); ok {
				found++
			} else {
				r.see(key, value, 1)
			}
		}
		return found
	}
	// Of 300 keys, the sample has 19 on average, and hardly ever none. A single one is read 4,096 times, which is two
	// decisions, in 1,228,800 reads.
	for round, c := range []struct {
		keys, reads int
		all         bool
	}{{100_000, 100_000, false}, {300, 1_300_000, true}, {100_000, 100_000, false}, {300, 1_300_000, true}} {
		read(c.keys, c.reads)
		n := read(c.keys, 10_000)
		if r.all.Load() != c.all || (n > 5_000) != c.all {
			t.Errorf("round %d, %d keys: %d of 10,000 reads found a value; all are remembered: %v",
				round, c.keys, n, r.all.Load())
		}
		if n := r.bytes.Load(); n > r.allowed()+2<<10 {
			t.Errorf("round %d: %d bytes are remembered, and %d are allowed", round, n, r.allowed())
		}
		if (r.release != nil) != c.all {
			t.Errorf("round %d: space of the blocks is taken: %v", round, r.release != nil)
		}
	}
}

// TestRememberedDespiteHotKeys reads hot keys beside keys of which few could be remembered: four that are in the
// sample, such as every query may read some, and many that have three of five reads.
func TestRememberedDespiteHotKeys(t *testing.T) {
	value := string(make([]byte, 1<<10))
	for _, c := range []struct {
		name    string
		hot     int
		sampled bool // hot keys are in the sample
		reads   int  // of hot keys in a round
		cold    int  // of others
		all     bool
	}{
		{"four in the sample", 4, true, 4, 96, false},
		{"many", 300, false, 3, 2, true},
		{"only four in the sample", 4, true, 1, 0, true},
	} {
		r := newRemembered(512<<10, nil)
		read := func(key string) {
			if _, ok := r.recall(key, 1); !ok {
				r.see(key, value, 1)
			}
		}
		var hot []string
		for i := 0; len(hot) < c.hot; i++ {
			if key := fmt.Sprint("hot", i); !c.sampled || sampled(r.hash([]byte(key))) {
				hot = append(hot, key)
			}
		}
		rounds := 1_000_000 / (c.reads + c.cold)
		begun := 0
		for i := range rounds {
			for j := range c.reads {
				read(hot[(i*c.reads+j)%len(hot)])
			}
			for j := range c.cold {
				read(fmt.Sprint("cold", (i*c.cold+j)*7919%100_000))
			}
			if i >= rounds/2 && r.all.Load() {
				begun++
			}
		}
		if got := begun > rounds/4; got != c.all {
			t.Errorf("%s: all keys are remembered: %v", c.name, got)
		}
	}
}

// TestRememberedLinearizable reads and writes few keys from many goroutines. Each batch raises a pair of counters
// together. No reader sees an older value than one that was acknowledged or seen before, and no snapshot has two
// different counters, however it reads them. A third key of each pair is deleted as a range and written again.
func TestRememberedLinearizable(t *testing.T) {
	e, err := Open(Options{Memory: true})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}()
	e.remembered.always()
	const pairs = 4
	duration := 2 * time.Second
	if testing.Short() {
		duration = 500 * time.Millisecond
	}
	ctx, cancel := context.WithTimeout(t.Context(), duration)
	defer cancel()
	name := func(pair int, of string) []byte { return fmt.Appendf(nil, "%s%d", of, pair) }
	var seen [pairs]atomic.Uint64 // the highest that was acknowledged or read
	raise := func(pair int, n uint64) {
		for old := seen[pair].Load(); old < n && !seen[pair].CompareAndSwap(old, n); old = seen[pair].Load() {
		}
	}
	value := func(r kv.Reader, key []byte) (n uint64, found bool) {
		found, err := r.Get(context.Background(), key, func(value []byte) error {
			n = binary.BigEndian.Uint64(value)
			return nil
		})
		if err != nil {
			t.Error(err)
		}
		return n, found
	}
	var wait sync.WaitGroup
	for pair := range pairs {
		wait.Go(func() {
			for n := uint64(1); ctx.Err() == nil; n++ {
				var b kv.Batch
				bytes := binary.BigEndian.AppendUint64(nil, n)
				b.Set(name(pair, "a"), bytes)
				b.Set(name(pair, "b"), bytes)
				if n%2 == 0 {
					b.DeleteRange(name(pair, "c"), append(name(pair, "c"), 0))
				} else {
					b.Set(name(pair, "c"), bytes)
				}
				if err := e.Apply(context.Background(), &b); err != nil {
					t.Error(err)
					return
				}
				raise(pair, n)
				for i := 0; n%8 == 0 && i < 200; i++ { // so that readers remember something
					runtime.Gosched()
				}
			}
		})
	}
	var recalled atomic.Int64
	for range 4 {
		wait.Go(func() {
			for ctx.Err() == nil {
				pair := rand.IntN(pairs)
				before := seen[pair].Load()
				n, _ := value(e, name(pair, "a"))
				if n < before {
					t.Errorf("%d was read after %d", n, before)
					return
				}
				raise(pair, n)
				before = seen[pair].Load()
				if c, found := value(e, name(pair, "c")); found && c < before-min(before, 1) {
					t.Errorf("%d was read from a deleted key after %d", c, before)
					return
				}
			}
		})
		wait.Go(func() {
			for ctx.Err() == nil {
				pair := rand.IntN(pairs)
				before := seen[pair].Load()
				s, err := e.Snapshot(context.Background())
				if err != nil {
					t.Error(err)
					return
				}
				a, _ := value(s, name(pair, "a"))
				for range rand.IntN(3) {
					value(e, name(pair, "b")) // remembers what is newer than the snapshot
				}
				b, _ := value(s, name(pair, "b"))
				c, found := value(s, name(pair, "c"))
				key, memory := name(pair, "b"), s.(kv.Rememberer)
				again, ok := uint64(0), false
				if v := memory.Recall(key); v != nil {
					again, ok = binary.BigEndian.Uint64(v.Value()), true
					recalled.Add(1)
				} else {
					memory.Remember(key, binary.BigEndian.AppendUint64(nil, b))
				}
				_ = s.Close()
				if a != b || a < before || ok && again != b || a > 0 && found != (a%2 == 1) ||
					found && c != a {
					t.Errorf("a snapshot has %d, %d, %d, %v and recalls %v, after %d", a, b, c, found, again, before)
					return
				}
			}
		})
	}
	wait.Wait()
	if recalled.Load() == 0 {
		t.Error("nothing was recalled")
	}
}

// TestRememberedRenewed changes values that are remembered. The new ones are, too, where the batch leaves no doubt what
// they are.
func TestRememberedRenewed(t *testing.T) {
	const limit = 64 << 10
	op := func(key, value string) kv.Op { return kv.Op{Key: []byte(key), Value: []byte(value)} }
	for _, c := range []struct {
		name string
		ops  []kv.Op
		want string
	}{
		{"another value", []kv.Op{op("b", "x"), op("a", "two")}, "two"},
		{"an empty value", []kv.Op{op("a", "")}, ""},
		{"a deletion", []kv.Op{{Key: []byte("a")}}, "gone"},
		{"two values", []kv.Op{op("a", "two"), op("a", "three")}, "gone"},
		{"a value, then a deletion", []kv.Op{op("a", "two"), {Key: []byte("a")}}, "gone"},
		{"a value, then the range", []kv.Op{op("a", "two"), {Key: []byte("a"), End: []byte("c")}}, "gone"},
		{"a large value", []kv.Op{op("a", string(make([]byte, rememberedBytes)))}, "gone"},
		{"a large batch", append(slices.Repeat([]kv.Op{op("b", "x")}, maxRenewing), op("a", "two")), "gone"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := rememberAll(limit)
			r.see("a", "one", 4)
			r.see("a", "one", 4)
			r.change(c.ops, 7)
			if got, found := r.recall("a", 1<<60); found {
				t.Errorf("%q is found before the batch is visible", got)
			}
			r.renew(c.ops, 7)
			got, found := r.recall("a", 7)
			if !found {
				got = "gone"
			}
			if got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
			if got, found := r.recall("a", 6); found {
				t.Errorf("%q in a state before the batch", got)
			}
			if got, found := r.recall("b", 7); found {
				t.Errorf("%q, which nobody has read", got)
			}
		})
	}
	r := rememberAll(limit)
	for i := range 500 { // they fit while they are small
		r.see(fmt.Sprint(i), "v", 1)
		r.see(fmt.Sprint(i), "v", 1)
	}
	for i := range 500 {
		ops := []kv.Op{op(fmt.Sprint(i), string(make([]byte, 4<<10)))}
		r.change(ops, uint64(2+i))
		r.renew(ops, uint64(2+i))
	}
	if n := r.size(); n > limit+8<<10 {
		t.Errorf("%d bytes, and %d are allowed", n, limit)
	}
}

// TestRememberedTexts keeps texts with values: they go with their values, and take no more room than there is.
func TestRememberedTexts(t *testing.T) {
	const limit = 64 << 10
	r := rememberAll(limit)
	entry := func(key string) *rememberedValue {
		t.Helper()
		v := r.find(r.hash([]byte(key)), []byte(key), 1<<60)
		if v == nil {
			t.Fatalf("%s is not remembered", key)
		}
		return v
	}
	twice := func(key, value string, since uint64) {
		r.see(key, value, since)
		r.see(key, value, since)
	}
	twice("a", "one", 1)
	old := entry("a")
	if text := old.Text(); text != nil {
		t.Errorf("a new value has the text %q", text)
	}
	text := []byte("text of one")
	old.Keep(text)
	text[0] = 'n'
	old.Keep(text)
	if got := entry("a").Text(); string(got) != "text of one" {
		t.Errorf("the text is %q", got)
	}
	r.change([]kv.Op{{Key: []byte("a"), Value: []byte("two")}}, 2)
	twice("a", "two", 2)
	if got := entry("a").Text(); got != nil {
		t.Errorf("the next value has the text %q", got)
	}
	twice("b", "one", 2)
	gone := entry("b")
	r.change([]kv.Op{{Key: []byte("b")}}, 3)
	if gone.Keep([]byte("late")); gone.Text() != nil || r.texts.Load() != 0 {
		t.Errorf("a value that is gone has the text %q, %d bytes", gone.Text(), r.texts.Load())
	}
	twice("c", "one", 3)
	if entry("c").Keep(make([]byte, rememberedBytes+1)); entry("c").Text() != nil {
		t.Error("a text above the limit is kept")
	}
	kept := 0
	for i := range 100 {
		key := fmt.Sprint("many", i)
		twice(key, "v", 3)
		v := entry(key)
		if v.Keep(make([]byte, 1<<10)); v.Text() != nil {
			kept++
		}
	}
	if n := r.texts.Load(); n > limit || n < limit-2<<10 || kept < 60 {
		t.Errorf("%d texts of 1 KiB are kept, in %d bytes of %d", kept, n, limit)
	}
	if r.forget(); r.size() != 0 {
		t.Errorf("%d bytes after all was forgotten", r.size())
	}
}

func BenchmarkRecall(b *testing.B) {
	r := rememberAll(16 << 20)
	var keys [][]byte
	for i := range 10_000 {
		key := fmt.Appendf(nil, "container and %08d", i)
		keys = append(keys, key)
		for range 2 {
			r.offer(r.hash(key), key, make([]byte, 1<<10), 1)
		}
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		key := keys[i*6151%len(keys)]
		r.find(r.hash(key), key, 1)
	}
}

func BenchmarkChange(b *testing.B) {
	r := rememberAll(16 << 20)
	ops := make([]kv.Op, 17)
	for i := range ops {
		ops[i].Key = make([]byte, 50)
	}
	b.ReportAllocs()
	for n := uint64(0); b.Loop(); n++ {
		for i := range ops {
			binary.BigEndian.PutUint64(ops[i].Key[i:], n)
		}
		r.change(ops, n)
	}
}
