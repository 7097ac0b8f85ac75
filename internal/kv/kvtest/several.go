package kvtest

import (
	"bytes"
	"context"
	"testing"

	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/kv"
)

// getAll reads several keys at once, through the engine, a view and a snapshot, where the engine can.
func getAll(t *testing.T, e kv.Engine) {
	large := bytes.Repeat([]byte("0123456789abcdef"), 40_000) // more than engines may keep in one piece
	set(t, e, "a", "1", "b", "", "c", "3", "large", string(large), "e", "5")
	s := snapshot(t, e)
	defer s.Close()
	readers := map[string]kv.Reader{"snapshot": s}
	if v := view(t, e); !v.Time.IsZero() { // else it may see what comes later
		readers["view"] = v.Reader
	}
	_, far := s.(kv.MultiReader)
	set(t, e, "a", "new", "large", "new", "x", "new")
	remove(t, e, "c")
	if many, ok := e.(kv.MultiReader); ok {
		got, err := many.GetAll(t.Context(), [][]byte{[]byte("a"), []byte("c")})
		if err != nil {
			t.Fatal(err)
		}
		if value, err := got.Value(0); err != nil || string(value) != "new" {
			t.Errorf("the engine has %q, %v of a key that is %q", value, err, "new")
		}
		if value, err := got.Value(1); err != nil || value != nil {
			t.Errorf("the engine has %q, %v of a key that is gone", value, err)
		}
	}
	for name, r := range readers {
		many, ok := r.(kv.MultiReader)
		if ok != far {
			t.Errorf("a %s reads several keys: %v; a snapshot: %v", name, ok, far)
		}
		if !ok {
			continue
		}
		keys := [][]byte{[]byte("e"), []byte("large"), []byte("x"), []byte("a"), []byte("b"), []byte("c"), []byte("e")}
		want := []any{"5", string(large), nil, "1", "", "3", "5"}
		got, err := many.GetAll(t.Context(), keys)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, i := range []int{6, 1, 2, 0, 3, 4, 5, 1} {
			value, err := got.Value(i)
			if err != nil || (value == nil) != (want[i] == nil) || value != nil && string(value) != want[i] {
				t.Errorf("%s: %q has %.20q (%d bytes), %v", name, keys[i], value, len(value), err)
			}
		}
		if got.PageBytes() <= 0 {
			t.Errorf("%s: the values take %d bytes", name, got.PageBytes())
		}
		if none, err := many.GetAll(t.Context(), nil); err != nil || none.PageBytes() != 0 {
			t.Errorf("%s: no key: %v", name, err)
		}
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := many.GetAll(ended, keys); err != nil && fault.KindOf(err) != fault.Unavailable &&
			err != context.Canceled {
			t.Errorf("%s: after the end of its context: %v", name, err)
		}
	}
}
