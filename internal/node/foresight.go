package node

import (
	"context"

	"github.com/mayflydb/mayfly/internal/foresight"
)

// foresee calls use with what answers questions about the present data. Containers are those that exist now, whichever
// process made them.
func (n *Node) foresee(ctx context.Context, use func(context.Context, *foresight.Foresight) error) error {
	ctx, leave := n.gate.enterLong(ctx)
	defer leave()
	if err := n.catalog.Refresh(ctx); err != nil {
		return whyEnded(ctx, err)
	}
	return whyEnded(ctx, use(ctx, foresight.New(n.catalog, n.store)))
}
