package node

import (
	"context"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/cosmos/rest"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/command"
	"github.com/mayflydb/mayfly/internal/store"
)

// mongoETag is the ETag of a living document of MongoDB, in the form of the API for NoSQL; fault.NotFound. id is a BSON
// document with its _id.
func (n *Node) mongoETag(ctx context.Context, c *catalog.Container, id []byte) (string, error) {
	ctx, leave := n.gate.enterLong(ctx)
	defer leave()
	key := store.Identity(doc.Lookup(doc.Doc(id), "_id"))
	found, err := n.store.WriteAll(ctx, c, n.clock.Now().Unix(), []store.Op{{Verb: store.Read, Key: key}})
	if err != nil {
		return "", whyEnded(ctx, err)
	}
	return rest.ETag(found[0].Version), nil
}

// mongoGuard makes a context in which a command writes a document only if that has an ETag, "" for any.
func (n *Node) mongoGuard(ctx context.Context, ifMatch string) (context.Context, func() (etag string, refused bool)) {
	g := &command.Guard{IfMatch: rest.ParseETag(ifMatch)}
	return command.WithGuard(ctx, g), func() (string, bool) {
		end := g.Ended()
		if !end.Done {
			return "", end.Refused
		}
		return rest.ETag(end.Written), false
	}
}
