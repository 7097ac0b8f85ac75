package kvtest

import (
	"context"
	"testing"

	"github.com/mayflydb/mayfly/internal/kv"
)

// Embedded tests what an engine within the process promises in addition: it finishes what it has begun, reads whatever
// becomes of the context, and opens a view for nothing. The suite closes what open gives.
func Embedded(t *testing.T, open func(t *testing.T) kv.Engine) {
	for _, c := range []struct {
		name string
		test func(t *testing.T, e kv.Engine)
	}{
		{"apply finishes", finishes},
		{"reads ignore the context", readsOn},
		{"view costs nothing", viewIsFree},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := open(t)
			defer closeEngine(t, e)
			c.test(t, e)
		})
	}
}

func finishes(t *testing.T, e kv.Engine) {
	ctx, cancel := context.WithCancel(context.Background())
	var b kv.Batch
	b.Follow([]byte("n"), func(_ []byte, b *kv.Batch) ([]byte, error) {
		cancel()
		return bytesOf(1), nil
	})
	if err := e.Apply(ctx, &b); err != nil {
		t.Errorf("apply that has begun: %v", err)
	}
	want(t, e, "n", string(bytesOf(1)))
}

func readsOn(t *testing.T, e kv.Engine) {
	set(t, e, "a", "1")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	v, err := e.View(ctx)
	if err != nil {
		t.Fatal(err)
	}
	s, err := e.Snapshot(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, r := range []kv.Reader{e, v, s} {
		if found, err := r.Get(ctx, []byte("a"), func([]byte) error { return nil }); !found || err != nil {
			t.Errorf("get from %T: %v, %v", r, found, err)
		}
	}
}

func viewIsFree(t *testing.T, e kv.Engine) {
	v := view(t, e)
	if v.Reader != kv.Reader(e) || !v.Time.IsZero() {
		t.Errorf("the view is %T at %v, want the engine without a time", v.Reader, v.Time)
	}
	ctx := context.Background()
	if n := testing.AllocsPerRun(100, func() {
		if _, err := e.View(ctx); err != nil {
			t.Error(err)
		}
	}); n != 0 {
		t.Errorf("a view allocates %v times", n)
	}
}
