package admin

import (
	"context"
	"net/http"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/fault"
)

// Ranges are the ranges of containers of the API for NoSQL.
type Ranges interface {
	// List describes the ranges of a container, and the split that is under way.
	List(ctx context.Context, c *catalog.Container) (RangeList, error)
	// Split begins to split a range, and returns what waits for the end. at is where, see splitRequest. If the
	// operation is cancelled, the split is, too.
	Split(ctx context.Context, c *catalog.Container, id, at string) (
		wait func(context.Context, *Operation) (any, error), cancel func(context.Context) error, err error)
}

// A RangeList is the ranges of a container in order of their keys.
type RangeList struct {
	Ranges []RangeState `json:"ranges"`
	Split  *SplitState  `json:"split,omitempty"` // that is under way
}

// A RangeState is a range as clients of the API for NoSQL see it, and its size.
type RangeState struct {
	ID      string   `json:"id"`
	Min     string   `json:"minInclusive"` // effective partition keys in hexadecimal digits
	Max     string   `json:"maxExclusive"`
	Parents []string `json:"parents"` // ranges that were split into this one, oldest first
	Items   int64    `json:"items"`
	Bytes   int64    `json:"bytes"`
}

// A SplitState is a split that is under way.
type SplitState struct {
	ID     string   `json:"id"`     // of the range
	Into   []string `json:"into"`   // ids of the new ranges
	At     string   `json:"at"`     // where the second one begins
	Sealed bool     `json:"sealed"` // writes to the range wait for the end
	Done   int64    `json:"done"`   // items that are copied
	Total  int64    `json:"total"`  // about as many as there are
}

// A splitRequest says where to split a range: in the "middle" of its keys, which is the default, at the "median" of its
// items, or at an effective partition key in hexadecimal digits.
type splitRequest struct {
	At string `json:"at"`
}

func (a *admin) listRanges(r *http.Request) (any, error) {
	if a.Ranges == nil {
		return nil, missing("list of ranges")
	}
	c, err := a.container(r)
	if err != nil {
		return nil, err
	}
	return a.Ranges.List(r.Context(), c)
}

// splitRange answers 202 with an operation.
func (a *admin) splitRange(w http.ResponseWriter, r *http.Request) error {
	if a.Ranges == nil {
		return missing("split of ranges")
	}
	c, err := a.container(r)
	if err != nil {
		return err
	}
	var body splitRequest
	if r.ContentLength != 0 {
		if body, err = read[splitRequest](r, `{"at": "median"}`); err != nil {
			return err
		}
	}
	id := r.PathValue("id")
	wait, cancel, err := a.Ranges.Split(r.Context(), c, id, body.At)
	if err != nil {
		return err
	}
	target := c.Database.Name + "/" + c.State().Name + "/" + id
	p, err := a.operations.Start(r.Context(), "split", target, "items", wait)
	if err != nil { // without an operation nobody would know of the split
		if err := cancel(r.Context()); err != nil && fault.KindOf(err) != fault.Precondition {
			return err
		}
	}
	return a.accept(w, p, err)
}

// Cancelled reports whether a client has cancelled the operation; else its context ends because mayfly stops.
func (p *Operation) Cancelled() bool {
	p.of.mu.Lock()
	defer p.of.mu.Unlock()
	return p.shown.State == stateCancelling
}
