package command

import (
	"context"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/session"
	"github.com/mayflydb/mayfly/internal/store"
)

// A request is one command of a client: its arguments, and the operation that carries it out.
type request struct {
	session.Operation
	arguments
	s       *Server
	c       *connection
	command command
	counted *counted // nil until the command is known

	lsid       doc.Value
	txnNumber  int64
	hasTxn     bool
	autocommit doc.Value
	startsTxn  doc.Value

	readConcern, writeConcern doc.Value
	gossiped                  doc.Value // $clusterTime

	turn     bool    // it has the session's
	repeated bool    // the answer is that of an earlier request
	forced   *forced // what a fail point wants
	severed  bool    // a fail point wants that there is no answer
	spoilt   bool    // what it has read cannot be read again

	answered bool // the command has written ok itself
	more     bool // another answer follows unasked
	help     bool // it asks what the command is, and does not want it run

	cancel  context.CancelFunc // of ctx
	watched func()             // ends the watch over the client, nil while there is none

	effect *store.Effect // what it did to lifetimes, nil for nothing

	following bool // it reads a change stream

	opid int32
}

// Option is what a host knows of its command.
func (r *request) Option(name string) bool { return r.bool(name, false) }

func docMember(d doc.Doc, name string) doc.Doc {
	m, _ := doc.AsDoc(doc.Lookup(d, name))
	return m
}
