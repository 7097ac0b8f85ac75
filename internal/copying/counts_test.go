package copying_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/mayflydb/mayfly/internal/copying"
)

// An interruption during a batch waits until the target has answered, so that the figures at the end are true.
func TestInterruptedDuringABatch(t *testing.T) {
	from, to := newBox(t), newBox(t)
	many(from, 60, from, to)
	to.create("shop", azcosmos.ContainerProperties{ID: "carts", DefaultTimeToLive: seconds(1000)})
	imports := 0
	o := copying.Options{
		From: from.nosql("shop"), To: to.nosql("shop"), Batch: 10,
		Checkpoint: filepath.Join(t.TempDir(), "checkpoint"),
	}
	run := func() (copying.Result, error) {
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		o.ToAdmin = func(ctx context.Context, method, path, kind string, body io.Reader) (*http.Response, error) {
			answer, err := to.admin(context.WithoutCancel(ctx), method, path, kind, body)
			if imports++; imports%2 == 0 {
				stop()
			}
			if ctx.Err() != nil {
				return nil, errors.Join(ctx.Err(), answer.Body.Close())
			}
			return answer, err
		}
		return copying.Run(ctx, o)
	}
	for range 10 {
		result, err := run()
		if err != nil && !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		if err == nil {
			if p := result.Containers[0]; p.Read != 60 || p.Written != 60 || p.Skipped != 0 || imports != 6 {
				t.Errorf("after %d imports: %+v", imports, p)
			}
			return
		}
	}
	t.Error("it does not end")
}

// What a killed run has written, without having seen the answer, is written and not skipped.
func TestAnswerIsLost(t *testing.T) {
	from, to := newBox(t), newBox(t)
	many(from, 60, from, to)
	lost := errors.New("the answer is lost")
	imports := 0
	o := copying.Options{
		From: from.nosql("shop"), To: to.nosql("shop"), Batch: 10,
		Checkpoint: filepath.Join(t.TempDir(), "checkpoint"),
		ToAdmin: func(ctx context.Context, method, path, kind string, body io.Reader) (*http.Response, error) {
			answer, err := to.admin(ctx, method, path, kind, body)
			if imports++; imports == 3 {
				return nil, errors.Join(lost, answer.Body.Close())
			}
			return answer, err
		},
	}
	if _, err := copying.Run(t.Context(), o); !errors.Is(err, lost) {
		t.Fatal(err)
	}
	result, err := copying.Run(t.Context(), o)
	if p := result.Containers[0]; err != nil || p.Read != 60 || p.Written != 60 || p.Skipped != 0 {
		t.Errorf("error %v, %+v", err, p)
	}
	// The same copy again finds everything there.
	result, err = copying.Run(t.Context(), o)
	if p := result.Containers[0]; err != nil || p.Read != 60 || p.Written != 0 || p.Skipped != 60 || p.Created {
		t.Errorf("error %v, %+v", err, p)
	}
}

// A target that is busy for long is asked again and again.
func TestBusyTarget(t *testing.T) {
	from, to := newBox(t), newBox(t)
	many(from, 10, from, to)
	target := divide(to, 0)
	for n := 3; n < 30; n++ {
		target.slow = append(target.slow, n)
	}
	o := copying.Options{From: from.nosql("shop"), To: target.nosql("shop"), Clients: 1}
	result, err := copying.Run(t.Context(), o)
	if err != nil || result.Containers[0].Written != 10 {
		t.Error(result, err, fmt.Sprint(strings.Count(strings.Join(target.log, " "), "slow")))
	}
}
