package remote

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/mayflydb/mayfly/internal/clock"
)

const (
	// retryTime is the pause before a broken stream of events is requested again.
	retryTime = time.Second
	// cancelTime is how long a cancellation may take when the caller has given up.
	cancelTime = 5 * time.Second
)

// An Operation is long work of the server.
type Operation struct {
	ID      string          `json:"id"`
	Kind    string          `json:"kind"`
	Target  string          `json:"target,omitempty"`
	State   string          `json:"state"`
	Started time.Time       `json:"started"`
	Ended   *time.Time      `json:"ended,omitempty"`
	Seconds float64         `json:"seconds"`
	Done    int64           `json:"done"`
	Total   int64           `json:"total"` // 0 if unknown
	Unit    string          `json:"unit,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *Problem        `json:"error,omitempty"`
}

// Over reports whether the operation has ended.
func (o Operation) Over() bool { return o.Ended != nil }

// Failure is the error that the operation ended with, nil if it succeeded.
func (o Operation) Failure() error {
	switch {
	case o.Error != nil:
		return o.Error
	case o.State == "cancelled":
		return fmt.Errorf("the operation was cancelled")
	}
	return nil
}

// OperationPath is the path of an operation.
func OperationPath(id string) string { return Path("operations", id) }

// Run sends a request that starts an operation, waits for its end, and returns it with its error. progress, if not nil,
// is called for each change. If ctx ends first, Run cancels the operation.
func (c *Client) Run(
	ctx context.Context, method, path string, body any, progress func(Operation),
) (o Operation, err error) {
	if err := c.Call(ctx, method, path, body, &o); err != nil {
		return o, err
	}
	if o.ID == "" {
		return o, fmt.Errorf("%s %s started no operation", method, path)
	}
	o, err = c.Follow(ctx, o, progress)
	if err != nil && ctx.Err() != nil && !o.Over() {
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), cancelTime)
		defer cancel()
		_ = c.Call(last, http.MethodDelete, OperationPath(o.ID), nil, nil) // the caller gets the reason why it ended
	}
	return o, err
}

// Follow waits until an operation ends, and returns it with its error. A stream of events that breaks off is requested
// again for as long as the server answers.
func (c *Client) Follow(ctx context.Context, o Operation, progress func(Operation)) (Operation, error) {
	tell := func() {
		if progress != nil {
			progress(o)
		}
	}
	for tell(); !o.Over(); tell() {
		for event, err := range c.Events(ctx, OperationPath(o.ID)+"/events") {
			if err != nil {
				break // what it means is found out below
			}
			if json.Unmarshal(event.Data, &o) == nil && !o.Over() {
				tell()
			}
		}
		if o.Over() {
			continue
		}
		if err := c.Get(ctx, OperationPath(o.ID), &o); err != nil {
			return o, err
		}
		if !o.Over() {
			if err := clock.Pause(ctx, retryTime); err != nil {
				return o, err
			}
		}
	}
	return o, o.Failure()
}
