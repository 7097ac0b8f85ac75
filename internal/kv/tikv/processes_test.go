package tikv

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/kv"
)

// TestProcessesPassOneCounter lets three processes pass a counter, each with several batches at a time. The numbers
// have no gap and no double, and who sees a number sees every lower one, through each of the processes.
func TestProcessesPassOneCounter(t *testing.T) {
	const workers, each = 4, 15
	c := newCluster(t)
	processes := []*Engine{c.process(t, Options{}), c.process(t, Options{}), c.process(t, Options{})}
	defer stop(t, processes...)
	var mu sync.Mutex
	var passed []uint64
	var writers, readers sync.WaitGroup
	for _, e := range processes {
		for range workers {
			writers.Go(func() {
				for range each {
					var n uint64
					b := &kv.Batch{}
					b.Follow([]byte("n"), func(last []byte, b *kv.Batch) ([]byte, error) {
						n = number(last) + 1
						return next(last, b)
					})
					if err := e.Apply(t.Context(), b); err != nil {
						t.Error(err)
						return
					}
					mu.Lock()
					passed = append(passed, n)
					mu.Unlock()
				}
			})
		}
	}
	over := make(chan struct{})
	for _, e := range processes {
		readers.Go(func() {
			for {
				if err := gapless(t.Context(), e); err != nil {
					t.Error(err)
					return
				}
				select {
				case <-over:
					return
				default:
				}
			}
		})
	}
	writers.Wait()
	close(over)
	readers.Wait()
	slices.Sort(passed)
	for i, n := range passed {
		if n != uint64(i+1) {
			t.Fatalf("number %d at place %d: a gap or a double", n, i+1)
		}
	}
	if len(passed) != len(processes)*workers*each {
		t.Errorf("%d batches passed", len(passed))
	}
}

// gapless reads the counter, and then checks that its log is complete so far.
func gapless(ctx context.Context, e *Engine) error {
	var n, seen uint64
	if _, err := e.Get(ctx, []byte("n"), func(v []byte) error { n = number(v); return nil }); err != nil {
		return err
	}
	it, err := e.Iterate(ctx, []byte("log/"), []byte("log0"))
	if err != nil {
		return err
	}
	defer it.Close()
	for it.Next() {
		if seen++; number(it.Value()) != seen {
			return fmt.Errorf("%q follows number %d", it.Key(), seen-1)
		}
	}
	if seen < n {
		return fmt.Errorf("the counter is %d, and the log ends at %d", n, seen)
	}
	return it.Err()
}

// TestProcessesLoseNoUpdate lets processes add to the same keys, with a counter and without.
func TestProcessesLoseNoUpdate(t *testing.T) {
	const each = 20
	for _, counter := range []string{"", "n"} {
		t.Run("counter "+counter, func(t *testing.T) {
			c := newCluster(t)
			processes := []*Engine{c.process(t, Options{}), c.process(t, Options{})}
			defer stop(t, processes...)
			var running sync.WaitGroup
			for i := range 4 {
				running.Go(func() {
					for range each {
						if err := addOne(t, processes[i%2], counter); err != nil {
							t.Error(err)
							return
						}
					}
				})
			}
			running.Wait()
			if got := number([]byte(get(t, processes[0], "sum"))); got != 4*each {
				t.Errorf("the sum is %d, want %d", got, 4*each)
			}
		})
	}
}

func addOne(t *testing.T, e *Engine, counter string) error {
	for {
		v, err := e.View(t.Context())
		if err != nil {
			return err
		}
		b := &kv.Batch{Since: v.Mark}
		if counter != "" {
			b.Follow([]byte(counter), next)
		}
		b.Read([]byte("sum"))
		b.Set([]byte("sum"), bytesOf(1))
		if _, err := v.Get(t.Context(), []byte("sum"), func(v []byte) error {
			b.Set([]byte("sum"), bytesOf(number(v)+1))
			return nil
		}); err != nil {
			return err
		}
		if err := e.Apply(t.Context(), b); fault.KindOf(err) != fault.Conflict {
			return err
		}
	}
}
