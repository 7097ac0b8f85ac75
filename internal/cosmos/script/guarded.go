package script

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/dop251/goja"

	"github.com/mayflydb/mayfly/internal/fault"
)

// grace is how long a script may take to notice that its time is up. It does at
// its next step, unless a single built-in function is at work. A variable for its test.
var grace = 2 * time.Second

// A lane counts the scripts that were given up and run on. Each burns a
// processor, so beyond most of them no other script is let in.
type lane struct {
	hanging atomic.Int32
	most    int32
}

// Scripts that are compiled already run on when others cannot be compiled in time.
var (
	runs     = lane{most: 4}
	compiles = lane{most: 2}
)

// guarded calls f in a goroutine of its own, and stop once when ctx ends. If f
// does not come back in time after that, it is left behind; it must then harm nobody.
func (h *lane) guarded(ctx context.Context, stop func(), f func() error) error {
	if err := ctx.Err(); err != nil {
		return ended(err)
	}
	if h.hanging.Load() >= h.most {
		return errHanging
	}
	var left atomic.Bool
	done := make(chan error, 1)
	go func() {
		done <- recovered(f)
		if left.CompareAndSwap(true, false) {
			h.hanging.Add(-1)
		}
	}()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	if stop != nil {
		stop()
	}
	patience, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	select {
	case err := <-done:
		return err
	case <-patience.Done():
	}
	h.hanging.Add(1)
	left.Store(true)
	select {
	case err := <-done: // in the last moment; one of the two counts it out
		if left.CompareAndSwap(true, false) {
			h.hanging.Add(-1)
		}
		return err
	default:
		return ended(ctx.Err())
	}
}

// recovered calls f; a panic becomes an error. The runtime panics with an error
// when it is told to stop.
func recovered(f func() error) (err error) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case *goja.InterruptedError:
			err = p
		case *goja.StackOverflowError:
			err = p
		default:
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return f()
}

// ended tells why a context has ended.
func ended(err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return errTime
	}
	return fault.Wrap(fault.Timeout, err, "The request was given up before its script was done.")
}
