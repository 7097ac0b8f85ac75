package command

import (
	"iter"
	"os"
	"slices"
	"strings"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/account"
	"github.com/mayflydb/mayfly/internal/mongo/call"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/monitor"
	"github.com/mayflydb/mayfly/internal/mongo/pipeline"
	"github.com/mayflydb/mayfly/internal/mongo/query"
	"github.com/mayflydb/mayfly/internal/mongo/session"
)

// currentOp takes switches, and the members of a query that selects among the operations.
func currentOp(r *request, a *answer) error {
	wanted := doc.NewWriter(nil)
	first := true
	for name, v := range doc.Members(r.Body) {
		if !first && !strings.HasPrefix(name, "$") && !call.GenericFields[name] {
			wanted.Value(name, v)
		}
		first = false
	}
	selected, err := query.CompileSift(&r.Request, wanted.End())
	if err != nil {
		return err
	}
	own := call.IsTrue(r.Get("$ownOps"))
	list, err := operations(r, listing{idle: call.IsTrue(r.Get("$all")), sessions: true, own: own})
	if err != nil {
		return err
	}
	a.Array("inprog")
	for d := range list {
		ok, err := selected(d)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		if a.Size()+len(d) > session.MaxBatchBytes {
			return code.New(code.BSONObjectTooLarge, "the running operations take more than the %d bytes of an "+
				"answer: select among them, or use the stage $currentOp", session.MaxBatchBytes)
		}
		if err := a.Room(len(d) + session.ElementBytes); err != nil {
			return err
		}
		a.Element(d)
	}
	a.Close()
	return nil
}

// currentOpStage is the stage $currentOp.
func currentOpStage(r *request, arg doc.Value) pipeline.Rows {
	options, _ := doc.AsDoc(arg)
	if r.DB != account.AdminDatabase {
		return query.Failed(code.New(code.InvalidNamespace,
			"$currentOp must be run against the 'admin' database with {aggregate: 1}"))
	}
	switched := func(name string, otherwise bool) bool {
		v := doc.Lookup(options, name)
		return v.Type == 0 && otherwise || call.IsTrue(v)
	}
	list, err := operations(r, listing{
		idle:     switched("idleConnections", false),
		cursors:  switched("idleCursors", false),
		sessions: switched("idleSessions", true),
		own:      !switched("allUsers", false),
		whole:    !switched("truncateOps", false),
	})
	if err != nil {
		return query.Failed(err)
	}
	return func(yield func(doc.Doc, error) bool) {
		for d := range list {
			if !yield(d, nil) {
				return
			}
		}
	}
}

// A listing says which operations are wanted.
type listing struct {
	idle     bool // also connections that have none
	cursors  bool // also cursors that no operation reads
	sessions bool // also transactions in which none runs
	own      bool // only those of the client's user
	whole    bool // more of long commands
}

// operations describes what the connections are doing, one after the other, so that no more than one description is
// held. A cursor may go on after the request.
func operations(r *request, want listing) (iter.Seq[doc.Doc], error) {
	if !want.own {
		if err := r.May(account.Monitor, ""); err != nil {
			return nil, err
		}
	}
	s, by, owner := r.s, r.c.user, r.Owner()
	want.own = want.own && s.o.Auth
	s.mu.Lock()
	connections := make([]*connection, 0, len(s.connections))
	for c := range s.connections {
		connections = append(connections, c)
	}
	s.mu.Unlock()
	slices.SortFunc(connections, func(a, b *connection) int { return int(a.id) - int(b.id) })
	host, _ := os.Hostname()
	return func(yield func(doc.Doc) bool) {
		for _, c := range connections {
			if d := c.operation(by, want, host); d != nil && !yield(d) {
				return
			}
		}
		if want.cursors {
			for _, x := range s.Cursors.Idle() {
				if (!want.own || x.Owner == owner) && !yield(monitor.DescribeCursor(x, host)) {
					return
				}
			}
		}
		if want.sessions {
			for _, x := range s.Node.Sessions.IdleTransactions() {
				if (!want.own || x.Owner() == owner) && !yield(s.monitor.DescribeTransaction(x, host)) {
					return
				}
			}
		}
	}, nil
}

// operation describes what a connection is doing, nil if that is not wanted. by is who asks. It reads the memory of the
// running request, which does not change while mu is held.
func (c *connection) operation(by *account.Identity, want listing, host string) doc.Doc {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.running == nil && (!want.idle || c.left) || want.own && !sameUser(c.user, by) {
		return nil
	}
	x := c.described()
	if c.running != nil {
		x.Running = &c.running.Request
	}
	return x.Describe(host, want.whole)
}

// described is the connection as operators see it, without its request.
func (c *connection) described() monitor.Connection {
	return monitor.Connection{
		Number: c.id, Remote: c.remote(), AppName: c.client.appName, Metadata: c.client.document, User: c.user,
	}
}
