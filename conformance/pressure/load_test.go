package pressure

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// A load is one way to put a mayfly under pressure.
type load struct {
	name    string
	prepare func(context.Context, *server) error
	// burst has n clients at once, and returns when each of them has its answer,
	// or when ctx ends: clients go away then.
	burst   func(ctx context.Context, s *server, n int, t *tally)
	clients int
}

// What MongoDB's errors tell.
const (
	timeExpired = 50                      // MaxTimeMSExpired
	overloaded  = "SystemOverloadedError" // a label: nothing is wrong with the request
)

// A tally counts what clients were told, after the retries of their SDKs.
type tally struct {
	mu                             sync.Mutex
	done, refused, stopped, failed int
	example                        string // of a failure
}

// count counts an answer. A client that has gone has none; drivers go a little before ctx ends.
func (t *tally) count(ctx context.Context, err error) {
	if err != nil && (ctx.Err() != nil || errors.Is(err, context.DeadlineExceeded)) {
		return
	}
	var cosmos *azcore.ResponseError
	var server mongo.ServerError
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case err == nil:
		t.done++
	case errors.As(err, &cosmos) && cosmos.StatusCode == http.StatusTooManyRequests,
		is(err, http.StatusTooManyRequests),
		errors.As(err, &server) && server.HasErrorLabel(overloaded):
		t.refused++
	case errors.As(err, &server) && server.HasErrorCode(timeExpired), is(err, http.StatusRequestTimeout):
		t.stopped++
	default:
		t.failed++
		text := err.Error()
		t.example = text[:min(len(text), 300)]
	}
}

func (t *tally) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	text := fmt.Sprint(t.done, " done")
	for _, c := range []struct {
		n    int
		what string
	}{{t.refused, "refused"}, {t.stopped, "ended by a time limit"}, {t.failed, "failed"}} {
		if c.n > 0 {
			text += fmt.Sprintf(", %d %s", c.n, c.what)
		}
	}
	return text
}

// together does n things at once and waits for them.
func together(n int, do func(i int)) {
	var clients sync.WaitGroup
	for i := range n {
		clients.Go(func() { do(i) })
	}
	clients.Wait()
}
