package node

import (
	"context"

	"github.com/mayflydb/mayfly/internal/foresight"
)

// foresee calls use with what answers questions about the present data.
func (n *Node) foresee(ctx context.Context, use func(context.Context, *foresight.Foresight) error) error {
	ctx, leave := n.gate.enterLong(ctx)
	defer leave()
	return whyEnded(ctx, use(ctx, foresight.New(n.catalog, n.store)))
}
