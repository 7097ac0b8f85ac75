// Package schema defines collections, views and indexes. It reads what a command says of them to a definition, holds it
// against those that exist, applies it to the catalog, and tells change streams. It shows definitions as clients see
// them, and checks documents against them. It writes no documents, and answers no command: that is left to the
// package command.
package schema

import (
	"sync"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/hint"
	"github.com/mayflydb/mayfly/internal/mongo/call"
	"github.com/mayflydb/mayfly/internal/mongo/session"
	"github.com/mayflydb/mayfly/internal/mongo/write"
	"github.com/mayflydb/mayfly/internal/store"
)

// A Request is a command that may change definitions.
type Request struct {
	*call.Request
	CosmosTTL bool           // refuses TTL indexes on fields other than _ts
	Expired   func(n uint64) // counts documents that a change of a lifetime has expired
	effect    *store.Effect  // what it did to lifetimes, nil for nothing
}

// WriteNote adds to an answer how many documents the change has expired, if any. In the answer to createIndexes the
// member note is MongoDB's own, and drivers ignore it; clients of collMod get the whole answer.
func (r *Request) WriteNote(a *doc.Writer) {
	if r.effect != nil && r.effect.Expired > 0 {
		a.String("note", r.effect.Count("document", "documents")+" expired by this change")
	}
}

// lockIndexes waits until no other request makes, changes or drops indexes of a container.
func lockIndexes(n *session.Node, c *catalog.Container) (unlock func()) {
	lock, _ := n.IndexLocks.LoadOrStore(c.ID, new(sync.Mutex))
	m := lock.(*sync.Mutex)
	m.Lock()
	return m.Unlock
}

// hintLifetime tells of the seconds of a lifetime that an index sets, if they look like a mistake.
func hintLifetime(r *Request, c *catalog.Container, seconds int64) {
	write.TellHint(&r.Operation, c, hint.Definition(expiry.TTL(seconds), nil).Kind)
}

// lifetimeChanged logs how many documents a change of the time to live has expired, and remembers it for the answer.
func lifetimeChanged(r *Request, c *catalog.Container, effect *store.Effect) {
	if effect == nil {
		return
	}
	effect.Log(r.Node.Log, write.NamespaceOf(c))
	r.Expired(effect.Expired)
	if r.effect != nil { // one command may change several indexes
		effect.Expired += r.effect.Expired
		effect.More = effect.More || r.effect.More
	}
	r.effect = effect
}
