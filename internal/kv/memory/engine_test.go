package memory

import (
	"testing"

	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/kv"
	"github.com/mayflydb/mayfly/internal/kv/kvtest"
)

func TestContract(t *testing.T) {
	kvtest.Run(t, func(*testing.T) kv.Engine { return New() })
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
