package node

import (
	"context"
	"io"
)

// adminTransfer imports and exports lines of JSON for the admin API.
type adminTransfer struct{ n *Node }

// Import writes lines to a container of the present data.
func (t adminTransfer) Import(
	ctx context.Context, db, container string, query map[string][]string, in io.Reader,
) (any, error) {
	ctx, leave := t.n.gate.enterLong(ctx)
	defer leave()
	defer endWith(ctx, in)()
	result, err := t.n.lines.Import(ctx, db, container, query, in)
	return result, whyEnded(ctx, err)
}

// Export sends the living items of a container as lines.
func (t adminTransfer) Export(
	ctx context.Context, db, container string, query map[string][]string, out io.Writer,
) error {
	ctx, leave := t.n.gate.enterLong(ctx)
	defer leave()
	defer endWith(ctx, out)()
	return whyEnded(ctx, t.n.lines.Export(ctx, db, container, query, out))
}

// endWith cuts a stream off when ctx ends: a client that neither sends nor receives would hold a snapshot up for as
// long as the stream waits. After stop the stream is left alone.
func endWith(ctx context.Context, stream any) (stop func()) {
	s, ok := stream.(interface{ CutOff() })
	if !ok {
		return func() {}
	}
	done := make(chan struct{})
	unlink := context.AfterFunc(ctx, func() { defer close(done); s.CutOff() })
	return func() {
		if !unlink() {
			<-done
		}
	}
}
