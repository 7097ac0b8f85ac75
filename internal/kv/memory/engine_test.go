package memory

import (
	"testing"

	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/kv"
	"github.com/mayflydb/mayfly/internal/kv/kvtest"
)

func TestContract(t *testing.T) {
	kvtest.Run(t, func(*testing.T) kv.Engine { return New() })
	kvtest.Embedded(t, func(*testing.T) kv.Engine { return New() })
}

func TestCopy(t *testing.T) {
	kvtest.Copy(t, func(*testing.T) kv.Engine { return New() }, func(t *testing.T, e kv.Engine) kv.Engine {
		c, err := e.(kv.Copier).Copy()
		if err != nil {
			t.Fatal(err)
		}
		return c
	})
}

// The copy of an engine with a limit has the same limit and counts what it holds.
func TestCopyKeepsTheLimit(t *testing.T) {
	e := NewWithin(10_000)
	var b kv.Batch
	b.Set([]byte("a"), make([]byte, 10_000))
	if err := e.Apply(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	c, err := e.Copy()
	if err != nil {
		t.Fatal(err)
	}
	if c.(kv.Refuser).Refuses() == nil || c.(kv.Sizer).Load() != e.Load() {
		t.Errorf("the copy refuses %v and has %v", c.(kv.Refuser).Refuses(), c.(kv.Sizer).Load())
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Copy(); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("copy of a closed engine: %v", err)
	}
}

// A full engine refuses what grows, takes what frees, and goes on when there is space again.
func TestFullMemory(t *testing.T) {
	e := NewWithin(10_000)
	defer e.Close()
	put := func(n int) error {
		var b kv.Batch
		b.Set([]byte{byte(n)}, make([]byte, 1000))
		return e.Apply(t.Context(), &b)
	}
	n := 0
	for ; n < 100; n++ {
		if err := put(n); err != nil {
			if fault.KindOf(err) != fault.OutOfSpace || e.Refuses() == nil {
				t.Fatalf("%v, and Refuses says %v", err, e.Refuses())
			}
			break
		}
	}
	if n == 0 || n == 100 {
		t.Fatalf("%d keys of 1,000 bytes in 10,000", n)
	}
	free := kv.Batch{Frees: true}
	for i := range n / 2 {
		free.Delete([]byte{byte(i)})
	}
	if err := e.Apply(t.Context(), &free); err != nil {
		t.Fatal(err)
	}
	if err := put(0); err != nil || e.Refuses() != nil {
		t.Errorf("after deletes: %v, %v", err, e.Refuses())
	}
}
