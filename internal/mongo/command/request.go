package command

import (
	"context"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/account"
	"github.com/mayflydb/mayfly/internal/mongo/call"
	"github.com/mayflydb/mayfly/internal/mongo/monitor"
	"github.com/mayflydb/mayfly/internal/trace"
)

// A request is one command of a client, with the server that runs it and the connection that it came over.
type request struct {
	call.Request
	s       *Server
	c       *connection
	command command
	counter *monitor.Counter // nil until the command is known

	turn      bool // it has the session's
	anonymous bool // the client had yet to authenticate when it came

	severed bool // a fail point wants that there is no answer

	answered bool // the command has written ok itself
	more     bool // another answer follows unasked

	cancel  context.CancelFunc // of ctx
	watched func()             // ends the watch over the client, nil while there is none

	span trace.Span
}

// Option is what a host knows of its command.
func (r *request) Option(name string) bool { return r.Bool(name, false) }

// User is the user of the connection.
func (r *request) User() *account.Identity { return r.c.user }

// Address is the address of the server as the client knows it.
func (r *request) Address() string { return r.c.address() }

// AppName is the name of the client's application. The first hello brings it itself.
func (r *request) AppName() string {
	if r.command.greets && r.c.client.document == nil {
		d, _ := doc.AsDoc(r.Get("client"))
		name, _ := doc.AsString(doc.Lookup(call.Member(d, "application"), "name"))
		return name
	}
	return r.c.client.appName
}

// BeforeWrite asks the fail points.
func (r *request) BeforeWrite() error { return r.s.failing.BeforeWrite(&r.Request) }

// AfterWrite asks the fail points.
func (r *request) AfterWrite() { r.severed = r.severed || r.s.failing.AfterWrite(&r.Request) }
