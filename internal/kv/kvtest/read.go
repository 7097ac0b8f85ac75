package kvtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/mayflydb/mayfly/internal/kv"
)

func get(t *testing.T, e kv.Engine) {
	want(t, e, "a", absent)
	set(t, e, "a", "1", "b", "2")
	want(t, e, "a", "1", "b", "2", "c", absent, "", absent)
	set(t, e, "a", "3")
	want(t, e, "a", "3")
	remove(t, e, "a", "never there")
	want(t, e, "a", absent, "b", "2")
}

func getErrors(t *testing.T, e kv.Engine) {
	set(t, e, "a", "1")
	mine := errors.New("mine")
	found, err := e.Get(context.Background(), []byte("a"), func([]byte) error { return mine })
	if !found || err != mine {
		t.Errorf("get = %v, %v, want the error of use as it is", found, err)
	}
	_, err = e.Get(context.Background(), []byte("absent"), func([]byte) error {
		t.Error("use is called for an absent key")
		return mine
	})
	if err != nil {
		t.Errorf("get of an absent key: %v", err)
	}
	_, err = e.Get(context.Background(), []byte("a"), func([]byte) error {
		want(t, e, "a", "1") // a read within a read
		return nil
	})
	if err != nil {
		t.Errorf("nested get: %v", err)
	}
}

func emptyValue(t *testing.T, e kv.Engine) {
	var b kv.Batch
	b.Set([]byte("nil"), nil)
	b.Set([]byte("empty"), []byte{})
	apply(t, e, &b)
	want(t, e, "nil", "", "empty", "")
	it := iterate(t, e, nil, nil)
	defer it.Close()
	for it.Next() {
		if v := it.Value(); v == nil || len(v) != 0 {
			t.Errorf("value of %q is %#v, want empty and not nil", it.Key(), v)
		}
	}
	remove(t, e, "empty")
	want(t, e, "empty", absent)
}

func anyBytes(t *testing.T, e kv.Engine) {
	keys := []string{"\x00", "\x00\x00", "\x00\xff", "a", "a\x00", "a\x00\x00", "b", "\xff", "\xff\xff",
		strings.Repeat("\xff", longestKey(e))}
	for _, key := range keys {
		set(t, e, key, key+"!")
	}
	for _, key := range keys {
		want(t, e, key, key+"!")
	}
	if got := walk(t, e, nil, nil); !slices.Equal(got, keys) {
		t.Errorf("keys are %.60q, want %.60q", got, keys)
	}
}

func copies(t *testing.T, e kv.Engine) {
	key, value := []byte("key"), []byte("value")
	var b kv.Batch
	b.Set(key, value)
	apply(t, e, &b)
	copy(key, "xxx")
	copy(value, "yyyyy")
	want(t, e, "key", "value", "xxx", absent)

	lower, upper := []byte("k"), []byte("l")
	it, err := e.Iterate(context.Background(), lower, upper)
	if err != nil {
		t.Fatal(err)
	}
	defer it.Close()
	copy(lower, "z")
	copy(upper, "z")
	if !it.Next() || string(it.Key()) != "key" {
		t.Errorf("iterator stands at %q, want \"key\"", it.Key())
	}
}

// letters is the content that iteration tests walk over.
func letters(t *testing.T, e kv.Engine) {
	set(t, e, "b", "B", "d", "D", "f", "F", "h", "H")
	set(t, e, "c", "gone", "e", "gone")
	remove(t, e, "c", "e")
}

func iterate(t *testing.T, r kv.Reader, lower, upper []byte) kv.Iterator {
	t.Helper()
	it, err := r.Iterate(context.Background(), lower, upper)
	if err != nil {
		t.Fatalf("iterate: %v", err)
	}
	return it
}

// walk gives the keys of [lower, upper) in order.
func walk(t *testing.T, r kv.Reader, lower, upper []byte) (keys []string) {
	t.Helper()
	it := iterate(t, r, lower, upper)
	for it.Next() {
		keys = append(keys, string(it.Key()))
	}
	if err := it.Close(); err != nil {
		t.Errorf("iterator: %v", err)
	}
	return keys
}

func forward(t *testing.T, e kv.Engine) {
	if got := walk(t, e, nil, nil); got != nil {
		t.Errorf("empty engine has keys %q", got)
	}
	letters(t, e)
	it := iterate(t, e, nil, nil)
	defer it.Close()
	for _, key := range []string{"b", "d", "f", "h"} {
		if !it.Next() || string(it.Key()) != key || string(it.Value()) != strings.ToUpper(key) {
			t.Fatalf("at %q = %q, want %q", it.Key(), it.Value(), key)
		}
	}
	if again := it.Next(); again || it.Next() || it.Err() != nil {
		t.Errorf("after the end: key %q, error %v", it.Key(), it.Err())
	}
}

func backward(t *testing.T, e kv.Engine) {
	letters(t, e)
	it := iterate(t, e, nil, nil)
	defer it.Close()
	for _, key := range []string{"h", "f", "d", "b"} {
		if !it.Prev() || string(it.Key()) != key || string(it.Value()) != strings.ToUpper(key) {
			t.Fatalf("at %q = %q, want %q", it.Key(), it.Value(), key)
		}
	}
	if again := it.Prev(); again || it.Prev() || it.Err() != nil {
		t.Errorf("before the start: key %q, error %v", it.Key(), it.Err())
	}
}

func bounds(t *testing.T, e kv.Engine) {
	letters(t, e)
	for _, c := range []struct{ name, lower, upper, want string }{
		{"open", "", "", "bdfh"},
		{"lower is inclusive", "d", "", "dfh"},
		{"upper is exclusive", "", "f", "bd"},
		{"both", "c", "g", "df"},
		{"of a deleted key", "c", "d", ""},
		{"of one key", "d", "d\x00", "d"},
		{"nothing between", "i", "z", ""},
		{"equal", "d", "d", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var lower, upper []byte
			if c.lower != "" {
				lower = []byte(c.lower)
			}
			if c.upper != "" {
				upper = []byte(c.upper)
			}
			if got := strings.Join(walk(t, e, lower, upper), ""); got != c.want {
				t.Errorf("forward %q, want %q", got, c.want)
			}
			it := iterate(t, e, lower, upper)
			defer it.Close()
			got := ""
			for it.Prev() {
				got = string(it.Key()) + got
			}
			if got != c.want {
				t.Errorf("backward %q, want %q", got, c.want)
			}
		})
	}
}

// turns checks each step of a walk that changes direction, within [c, i).
func turns(t *testing.T, e kv.Engine) {
	letters(t, e)
	set(t, e, "a", "out", "z", "out")
	for _, c := range []struct{ name, walk string }{
		{"forth and back", ">d >f <d >f >h <f"},
		{"over the end", ">d >f >h >- <h <f"},
		{"over the start", "<h <f <d <- >d >f"},
		{"twice over the end", ">d >f >h >- >- <h"},
		{"after a seek", "?e=f <d >f ?d=d >f"},
		{"after a seek beyond the end", "?i=- <h"},
		{"after a seek before the start", "?a=d <- >d"},
	} {
		t.Run(c.name, func(t *testing.T) {
			it := iterate(t, e, []byte("c"), []byte("i"))
			defer it.Close()
			for _, step := range strings.Fields(c.walk) {
				if got, want := take(it, step), step[len(step)-1:]; got != want {
					t.Fatalf("%s: at %q", step, got)
				}
			}
		})
	}
}

// take does one step, written as in turns, and says where it led.
func take(it kv.Iterator, step string) string {
	var ok bool
	switch step[0] {
	case '>':
		ok = it.Next()
	case '<':
		ok = it.Prev()
	default:
		ok = it.Seek([]byte(step[1:2]))
	}
	if !ok {
		return "-"
	}
	return string(it.Key())
}

func seek(t *testing.T, e kv.Engine) {
	letters(t, e)
	it := iterate(t, e, []byte("c"), []byte("g"))
	defer it.Close()
	for _, step := range []string{"?d=d", "?e=f", "?a=d", "?f=f", "?g=-", "?z=-", "?d=d"} {
		if got, want := take(it, step), step[len(step)-1:]; got != want {
			t.Errorf("%s: at %q", step, got)
		}
	}
	if it.Err() != nil {
		t.Error(it.Err())
	}
}

func iteratorStable(t *testing.T, e kv.Engine) {
	letters(t, e)
	it := iterate(t, e, nil, nil)
	defer it.Close()
	if !it.Next() {
		t.Fatal("no first key")
	}
	set(t, e, "a", "new", "d", "new", "g", "new")
	remove(t, e, "f", "h")
	var got []string
	for ok := true; ok; ok = it.Next() {
		got = append(got, string(it.Key())+string(it.Value()))
	}
	if want := []string{"bB", "dD", "fF", "hH"}; !slices.Equal(got, want) {
		t.Errorf("old iterator sees %q, want %q", got, want)
	}
	if got := strings.Join(walk(t, e, nil, nil), ""); got != "abdg" {
		t.Errorf("new iterator sees %q", got)
	}
}

func closeTwice(t *testing.T, e kv.Engine) {
	letters(t, e)
	it := iterate(t, e, nil, nil)
	for range 2 {
		if err := it.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	}
	s := snapshot(t, e)
	for range 2 {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	}
}

func snapshotStable(t *testing.T, e kv.Engine) {
	set(t, e, "a", "1", "b", "1")
	s := snapshot(t, e)
	defer s.Close()
	set(t, e, "a", "2", "c", "2")
	remove(t, e, "b")
	later := snapshot(t, e)
	defer later.Close()
	set(t, e, "a", "3")
	want(t, s, "a", "1", "b", "1", "c", absent)
	want(t, later, "a", "2", "b", absent, "c", "2")
	want(t, e, "a", "3", "b", absent, "c", "2")
	if got := strings.Join(walk(t, s, nil, nil), ""); got != "ab" {
		t.Errorf("snapshot has keys %q", got)
	}
	if got := strings.Join(walk(t, later, nil, nil), ""); got != "ac" {
		t.Errorf("later snapshot has keys %q", got)
	}
}

// random compares an engine with a map, and snapshots with copies of the map,
// under batches of random changes.
func random(t *testing.T, e kv.Engine) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	model := map[string]string{}
	type moment struct {
		fixed kv.Snapshot
		model map[string]string
	}
	var kept []moment
	for round := range 200 {
		var b kv.Batch
		b.NoSync = rng.IntN(2) == 0
		for range rng.IntN(20) {
			key := fmt.Sprintf("%x", rng.IntN(200))
			if rng.IntN(3) == 0 {
				b.Delete([]byte(key))
				delete(model, key)
			} else {
				value := strings.Repeat(fmt.Sprint(round), rng.IntN(30))
				b.Set([]byte(key), []byte(value))
				model[key] = value
			}
		}
		apply(t, e, &b)
		if round%40 == 0 {
			kept = append(kept, moment{snapshot(t, e), maps.Clone(model)})
		}
	}
	same(t, e, model, rng)
	for _, k := range kept {
		same(t, k.fixed, k.model, rng)
		k.fixed.Close()
	}
}

// same compares r with model in both directions, from random places, and by key.
func same(t *testing.T, r kv.Reader, model map[string]string, rng *rand.Rand) {
	t.Helper()
	keys := slices.Sorted(maps.Keys(model))
	if got := walk(t, r, nil, nil); !slices.Equal(got, keys) {
		t.Fatalf("keys are %q, want %q", got, keys)
	}
	it := iterate(t, r, nil, nil)
	defer it.Close()
	for range 50 {
		from := fmt.Sprintf("%x", rng.IntN(200))
		at, _ := slices.BinarySearch(keys, from)
		if ok := it.Seek([]byte(from)); ok != (at < len(keys)) {
			t.Fatalf("seek %q = %v", from, ok)
		}
		for at < len(keys) && rng.IntN(5) > 0 {
			if string(it.Key()) != keys[at] || string(it.Value()) != model[keys[at]] {
				t.Fatalf("at %q = %q, want %q = %q", it.Key(), it.Value(), keys[at], model[keys[at]])
			}
			step, move := 1, it.Next
			if rng.IntN(3) == 0 {
				step, move = -1, it.Prev
			}
			at += step
			if ok := move(); ok != (at >= 0 && at < len(keys)) {
				t.Fatalf("move to index %d of %d = %v", at, len(keys), ok)
			}
			if at < 0 {
				break
			}
		}
		value, found := model[from]
		if !found {
			value = absent
		}
		want(t, r, from, value)
	}
}

func compact(t *testing.T, e kv.Engine) {
	c, ok := e.(kv.Compacter)
	if !ok {
		t.Skip("not a Compacter")
	}
	var b kv.Batch
	for i := range 1000 {
		b.Set(bytesOf(uint64(i)), bytes.Repeat([]byte{byte(i)}, 500))
	}
	apply(t, e, &b)
	b = kv.Batch{}
	for i := range 999 {
		b.Delete(bytesOf(uint64(i)))
	}
	apply(t, e, &b)
	for _, bounds := range [][2][]byte{{bytesOf(0), bytesOf(500)}, {nil, nil}, {bytesOf(5), bytesOf(5)}} {
		if err := c.Compact(context.Background(), bounds[0], bounds[1]); err != nil {
			t.Errorf("compact: %v", err)
		}
	}
	if got := walk(t, e, nil, nil); len(got) != 1 {
		t.Errorf("%d keys are left, want 1", len(got))
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := c.Compact(ctx, nil, nil); err != nil && !errors.Is(err, context.Canceled) {
		t.Errorf("compact with an ended context: %v", err)
	}
}

func load(t *testing.T, e kv.Engine) {
	s, ok := e.(kv.Sizer)
	if !ok {
		t.Skip("not a Sizer")
	}
	set(t, e, "a", strings.Repeat("x", 100_000))
	if l := s.Load(); l.MemoryBytes == 0 && l.DiskBytes == 0 {
		t.Errorf("load is %+v", l)
	}
}
