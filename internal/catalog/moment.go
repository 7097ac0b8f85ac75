package catalog

import (
	"context"
	"time"

	"github.com/mayflydb/mayfly/internal/clock"
	"github.com/mayflydb/mayfly/internal/keys"
	"github.com/mayflydb/mayfly/internal/kv"
)

// A Moment is the beginning of a request. Where several processes share the data, it has the view in which the catalog
// was found to be up to date. The request may read its first documents in the same view: that was opened when the
// request had come, so it has everything that was acknowledged before. Whoever may have changed something for the
// request since then must not enter a container with the moment. It serves once, because a mark serves one batch, and
// only for a second, so that a request that has waited sees what is there after the wait.
type Moment struct {
	// Time is the instant: that of the view, or of the API's clock.
	Time time.Time

	view   *kv.View // nil if there is none, or it has served
	opened clock.Stopwatch
	guess  *Container
	epoch  uint64 // that guess has in the view
}

// momentLasts is how long the view of a Moment is used.
const momentLasts = time.Second

// Begin is Present with a Moment. guess is a container that the request is probably about, nil for none: its epoch is
// read together with what tells whether the catalog is up to date. Nothing else depends on it.
func (c *Catalog) Begin(ctx context.Context, now time.Time, guess *Container) (Moment, error) {
	if !c.shared {
		return Moment{Time: now}, nil
	}
	m := Moment{opened: clock.Start(), guess: guess}
	view, err := c.engine.View(ctx)
	if err != nil {
		return Moment{}, err
	}
	m.Time, m.view = view.Time, &view
	var present counters
	list := [][]byte{keys.CatalogKey(countersKind)}
	if guess != nil {
		list = append(list, keys.EpochKey(guess.ID))
	}
	err = kv.GetAll(ctx, view.Reader, list, func(i int, value []byte) (err error) {
		switch {
		case value == nil:
		case i == 0:
			err = decode(value, &present)
		default:
			m.epoch, err = decodeEpoch(guess, value)
		}
		return err
	})
	if err != nil {
		return Moment{}, err
	}
	c.mu.RLock()
	known := c.counters.Sequence >= present.Sequence
	c.mu.RUnlock()
	if known {
		return m, nil
	}
	if err := c.beginChange(ctx); err != nil {
		return Moment{}, err
	}
	defer c.endChange()
	return m, c.takeTurn(ctx)
}

// take is the view of the moment, nil if it does not serve, or does not serve any more.
func (m *Moment) take() *kv.View {
	if m == nil || m.view == nil {
		return nil
	}
	view := m.view
	m.view = nil
	if m.opened.Elapsed() > momentLasts {
		return nil
	}
	return view
}

// epochOf is the epoch of a container in the view that take has given, if it is known.
func (m *Moment) epochOf(ct *Container) (epoch uint64, known bool) { return m.epoch, m.guess == ct }
