package catalog

import (
	"context"

	"github.com/mayflydb/mayfly/internal/keys"
	"github.com/mayflydb/mayfly/internal/kv"
)

// gap is how many sequences each range leaves out after a crash: far more than can be visible and not durable at once
// (docs/decisions/0009-sequences-after-a-crash.md).
const gap = 1 << 20

// gapsAtOnce is how many counters one batch of leaveGaps writes.
const gapsAtOnce = 1_000

// leaveGaps raises the counter of each range after a crash, and returns when that is durable. What was visible in the
// previous process may have been lost, the first write of a range included. A client may have its sequence in an ETag
// or a continuation token, so it must not be given out again.
func (c *Catalog) leaveGaps(ctx context.Context) error {
	if c.clean {
		return nil
	}
	b := &kv.Batch{Frees: true}
	for _, ct := range c.AllContainers() {
		for _, number := range ct.numbersOf() {
			if err := c.leaveGap(ctx, b, ct.KeysOf(number)); err != nil {
				return err
			}
			if len(b.Ops) == gapsAtOnce {
				if err := c.engine.Apply(ctx, b); err != nil {
					return err
				}
				b = &kv.Batch{Frees: true}
			}
		}
	}
	if len(b.Ops) == 0 {
		return nil
	}
	return c.engine.Apply(ctx, b)
}

// leaveGap adds the raised counter of a range to b.
func (c *Catalog) leaveGap(ctx context.Context, b *kv.Batch, rng keys.Range) error {
	counter, _, err := counterIn(ctx, c.engine, rng)
	if err != nil {
		return err
	}
	counter.Sequence += gap
	b.Set(rng.Order(nil), counter.Append(nil))
	return nil
}
