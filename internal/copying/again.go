package copying

import (
	"context"
	"net/http"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"

	"github.com/mayflydb/mayfly/internal/clock"
)

// again is the policy that sends the write of an item again after a broken connection, or an answer that says to try
// again. The client does not: it cannot know that doing the write twice changes nothing.
type again struct{}

// writeTries bounds them. The pauses between them begin with firstPause and double, so that they take ten seconds.
const (
	writeTries = 7
	firstPause = 160 * time.Millisecond
)

func (again) Do(r *policy.Request) (*http.Response, error) {
	ctx := r.Raw().Context()
	if ctx.Value(partitionKeyKey{}) == nil {
		return r.Next()
	}
	answer, err := r.Clone(ctx).Next()
	for try, pause := 1, firstPause; try < writeTries && passes(ctx, answer, err); try, pause = try+1, 2*pause {
		if answer != nil {
			_ = answer.Body.Close() // the next answer counts
		}
		if err := clock.Pause(ctx, pause); err != nil {
			return nil, err
		}
		if err := r.RewindBody(); err != nil {
			return nil, err
		}
		answer, err = r.Clone(ctx).Next()
	}
	return answer, err
}

// passes reports whether what has failed may succeed when the same request is sent once more.
// https://learn.microsoft.com/rest/api/cosmos-db/http-status-codes-for-cosmosdb
func passes(ctx context.Context, answer *http.Response, err error) bool {
	if ctx.Err() != nil || isUntrusted(err) {
		return false
	}
	code := status(err)
	if err == nil {
		code = answer.StatusCode
	}
	switch code {
	case 0, http.StatusRequestTimeout, http.StatusGone, http.StatusTooManyRequests, 449, // Retry With
		http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return false
}
