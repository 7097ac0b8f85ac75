package store

import (
	"context"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/expiry"
)

// A Survey is the size of all containers together. It is cheap enough to be taken often: its cost is bounded, and it
// waits for no request and no change of a container.
type Survey struct {
	Databases, Containers int

	// Documents, Bytes, Stored and Oldest are as in Usage. Expired documents that the survey did not look at count as
	// living. Documents that a date has ended are counted by their entries in the index, without reading them.
	Usage
	// Bounded says that the survey did not look at some: more than it was allowed to, or those of a container that is
	// damaged, or whose deadlines are in no order.
	Bounded bool
}

// Survey looks at no more than most entries of expired documents, the oldest of each container first. It looks at one
// entry of each queue in any case, to find Oldest.
func (s *Store) Survey(ctx context.Context, now expiry.Stamp, most int) (Survey, error) {
	out := Survey{Databases: len(s.catalog.Databases())}
	for _, c := range s.catalog.AllContainers() {
		st := c.State()
		if st.Deleted {
			continue
		}
		out.Containers++
		left, err := s.survey(ctx, catalog.View{Container: c, State: st, Now: now}, &out, most)
		switch {
		case ctx.Err() != nil:
			return Survey{}, ctx.Err()
		case err != nil: // the reaper meets the same error and logs it
			out.Bounded = true
		default:
			most = max(left, 1)
		}
	}
	return out, nil
}

// survey adds a container, and returns how many entries may still be looked at.
func (s *Store) survey(ctx context.Context, v catalog.View, out *Survey, most int) (left int, err error) {
	snapshot, at, err := s.reclaimed(ctx, v)
	if err != nil {
		return 0, err
	}
	defer snapshot.Close()
	counter, err := sumOf(ctx, snapshot, at)
	if err != nil {
		return 0, err
	}
	dc := deadCounter{v: v, usage: storedUsage(counter), left: most, estimates: true}
	if !v.Policy.Ordered() {
		out.Bounded = true
	} else if err := dc.queues(ctx, snapshot, at); err != nil {
		return 0, err
	}
	out.Documents += dc.usage.Documents
	out.Bytes += dc.usage.Bytes
	out.Stored += dc.usage.Stored
	if dc.usage.Oldest != 0 && (out.Oldest == 0 || dc.usage.Oldest < out.Oldest) {
		out.Oldest = dc.usage.Oldest
	}
	out.Bounded = out.Bounded || dc.left <= 0
	return dc.left, nil
}

// Waiting reports whether a document that was dead at an instant is still on disk. It looks at few entries. Where
// deadlines are in no order it reports true, since there may be one.
func (s *Store) Waiting(ctx context.Context, c *catalog.Container, at expiry.Stamp) (bool, error) {
	v, err := c.Enter(ctx, at)
	if err != nil || !v.Policy.Ordered() {
		return err == nil, err
	}
	snapshot, from, err := s.reclaimed(ctx, v)
	if err != nil {
		return false, err
	}
	defer snapshot.Close()
	dc := deadCounter{v: v, left: waitingEntries, estimates: true}
	err = dc.queues(ctx, snapshot, from)
	return dc.usage.Oldest != 0, err
}

// waitingEntries is how many entries Waiting looks at. More than one, because the first may belong to a document that
// lives.
const waitingEntries = 100
