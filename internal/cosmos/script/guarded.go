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

// grace is how long a script may take to stop once its time is up. It stops at its next step, unless a single
// built-in function is running. It is a variable so that tests can change it.
var grace = 2 * time.Second

// A limiter counts scripts that did not stop and were abandoned. Each of them occupies a processor, so no other
// script may start when there are too many.
type limiter struct {
	abandoned atomic.Int32
	most      int32
}

// Running and compiling have separate limits, so that compiled scripts still run when compilation hangs.
var (
	runs     = limiter{most: 4}
	compiles = limiter{most: 2}
)

// guarded calls f in a new goroutine, and calls stop when ctx ends. If f does not return soon after that, guarded
// abandons it. An abandoned f must be harmless.
func (h *limiter) guarded(ctx context.Context, stop func(), f func() error) error {
	if err := ctx.Err(); err != nil {
		return ended(err)
	}
	if h.abandoned.Load() >= h.most {
		return errAbandoned
	}
	var left atomic.Bool
	done := make(chan error, 1)
	go func() {
		done <- recovered(f)
		if left.CompareAndSwap(true, false) {
			h.abandoned.Add(-1)
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
	h.abandoned.Add(1)
	left.Store(true)
	select {
	case err := <-done: // f ended just now; either this code or the goroutine decrements the counter
		if left.CompareAndSwap(true, false) {
			h.abandoned.Add(-1)
		}
		return err
	default:
		return ended(ctx.Err())
	}
}

// recovered calls f and converts a panic to an error. The runtime panics with an error when it is interrupted.
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

// ended is the error for a context that has ended.
func ended(err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return errTime
	}
	return fault.Wrap(fault.Timeout, err, "The request was cancelled before its script was done.")
}
