package command

import (
	"context"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/store"
)

// sessions are the logical sessions of a server.
type sessions struct{}

func (s *sessions) init(*Server) {}
func (s *sessions) close()       {}

// await waits for transactions that have written the documents of ops.
func (s *sessions) await(context.Context, *catalog.Container, []store.Op) error { return nil }

// A session is a logical session: what retries and transactions belong to.
type session struct{}

// A transaction is a multi-document transaction that is open.
type transaction struct{}

// enter begins to use a container in the transaction, whose reads are of one moment.
func (t *transaction) enter(r *request, c *catalog.Container) (catalog.View, error) {
	return c.Enter(r.now)
}

// on is what the transaction does in a container.
func (t *transaction) on(v catalog.View) *store.Transaction { return nil }

// lock takes a document for the transaction, or fails with WriteConflict when another has it.
func (t *transaction) lock(c *catalog.Container, key store.Key) error { return nil }

// join finds the session, retry and transaction that a request belongs to, before its command runs.
func (r *request) join() error { return nil }

// leave is called when the command has run.
func (r *request) leave() {}

// failed tells the transaction that a command in it has failed.
func (r *request) failed(err error) {}

// label adds the error labels that drivers act on.
func (r *request) label(err error) *code.Error { return codeOf(err) }

// gossip writes what a replica set adds to every answer.
func (r *request) gossip(a *answer) {}

// fails asks the fail points; a.answered when one has written an answer.
func (s *Server) fails(r *request, a *answer) error { return nil }

// exhaust sends further answers unasked; false ends the connection.
func (c *connection) exhaust(r *request) bool { return true }

// sessionID tells whose cursors are whose, "" without a session.
func (r *request) sessionID() string { return string(r.lsid.Data) }

// clusterTime is $$CLUSTER_TIME, missing when stand-alone.
func (r *request) clusterTime() doc.Value { return doc.Value{} }
