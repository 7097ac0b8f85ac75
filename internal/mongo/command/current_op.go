package command

import (
	"cmp"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/mayflydb/mayfly/internal/clock"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/account"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/filter"
	"github.com/mayflydb/mayfly/internal/mongo/pipeline"
)

// currentOp takes switches, and the members of a query that selects among the operations.
func currentOp(r *request, a *answer) error {
	query := newAnswer(nil)
	first := true
	for name, v := range doc.Members(r.body) {
		if !first && !strings.HasPrefix(name, "$") && !genericFields[name] {
			query.value(name, v)
		}
		first = false
	}
	selected, err := r.sift(query.end())
	if err != nil {
		return err
	}
	list, err := r.operations(listing{idle: isTrue(r.get("$all")), own: isTrue(r.get("$ownOps"))})
	if err != nil {
		return err
	}
	a.array("inprog")
	for _, d := range list {
		ok, err := selected(d)
		if err != nil {
			return err
		}
		if ok {
			a.element(d)
		}
	}
	a.close()
	return nil
}

// currentOpStage is the stage $currentOp.
func currentOpStage(r *request, arg doc.Value) pipeline.Rows {
	options, _ := doc.AsDoc(arg)
	if r.db != adminDatabase {
		return failed(code.New(code.InvalidNamespace,
			"$currentOp must be run against the 'admin' database with {aggregate: 1}"))
	}
	list, err := r.operations(listing{
		idle:  isTrue(doc.Lookup(options, "idleConnections")),
		own:   !isTrue(doc.Lookup(options, "allUsers")),
		whole: !isTrue(doc.Lookup(options, "truncateOps")),
	})
	if err != nil {
		return failed(err)
	}
	return func(yield func(doc.Doc, error) bool) {
		for _, d := range list {
			if !yield(d, nil) {
				return
			}
		}
	}
}

// sift compiles a query over the documents that a command lists; an empty one selects all.
func (r *request) sift(query doc.Doc) (func(doc.Doc) (bool, error), error) {
	if doc.IsEmpty(query) {
		return func(doc.Doc) (bool, error) { return true, nil }, nil
	}
	f, err := filter.Compile(query, filter.Options{Meter: r.work()})
	if err != nil {
		return nil, err
	}
	q := selection{filter: f}
	s := q.scope(r)
	return func(d doc.Doc) (bool, error) { return q.matches(d, s) }, nil
}

// A listing says which operations are wanted.
type listing struct {
	idle  bool // also connections that have none
	own   bool // only those of the client's user
	whole bool // commands are not cut
}

// operations lists what the connections are doing.
func (r *request) operations(want listing) ([]doc.Doc, error) {
	if !want.own {
		if err := r.may(account.Monitor, ""); err != nil {
			return nil, err
		}
	}
	r.s.mu.Lock()
	connections := make([]*connection, 0, len(r.s.connections))
	for c := range r.s.connections {
		connections = append(connections, c)
	}
	r.s.mu.Unlock()
	slices.SortFunc(connections, func(a, b *connection) int { return int(a.id) - int(b.id) })
	host, _ := os.Hostname()
	var list []doc.Doc
	for _, c := range connections {
		if d := c.operation(r, want, host); d != nil {
			list = append(list, d)
		}
	}
	return list, nil
}

// operation describes what a connection is doing, nil if that is not wanted. It reads the memory of the running
// request, which does not change while mu is held.
func (c *connection) operation(r *request, want listing, host string) doc.Doc {
	c.mu.Lock()
	defer c.mu.Unlock()
	x := c.running
	if x == nil && !want.idle || want.own && r.s.o.Auth && !sameUser(c.user, r.c.user) {
		return nil
	}
	a := newAnswer(nil)
	a.string("type", "op")
	a.string("host", host)
	a.string("desc", "conn"+indexName(int(c.id)))
	a.int32("connectionId", int(c.id))
	a.string("client", c.remote())
	if c.client.appName != "" {
		a.string("appName", c.client.appName)
	}
	if c.client.document != nil {
		a.doc("clientMetadata", c.client.document)
	}
	a.bool("active", x != nil)
	a.string("currentOpTime", clock.Wall().UTC().Format("2006-01-02T15:04:05.000-07:00"))
	if c.user != nil {
		a.array("effectiveUsers")
		a.object(a.index())
		a.string("user", c.user.Name)
		a.string("db", c.user.Database)
		a.close()
		a.close()
	}
	if x != nil {
		x.describe(a, want.whole)
	}
	return a.end()
}

// describe writes what a running request is doing.
func (r *request) describe(a *answer, whole bool) {
	took := r.since.Elapsed()
	a.int32("opid", int(r.opid))
	a.int64("secs_running", int64(took/time.Second))
	a.int64("microsecs_running", took.Microseconds())
	if r.lsid.Type != 0 {
		a.value("lsid", r.lsid)
	}
	a.string("op", r.kind())
	a.string("ns", r.namespace())
	a.bool("redacted", r.command.secret)
	shown := r.shown()
	if len(shown) <= maxShownCommand || whole {
		a.doc("command", shown)
	} else {
		a.object("command")
		a.string("$truncated", code.Show(doc.Object(shown)))
		a.close()
	}
	a.int32("numYields", 0)
	a.bool("waitingForLock", false)
}

// maxShownCommand is how many bytes of a command are shown whole; a longer one is shown as text that is cut off.
const maxShownCommand = 1000

// kind is MongoDB's name of the operation.
func (r *request) kind() string {
	switch r.name {
	case "find":
		return "query"
	case "getMore":
		return "getmore"
	case "delete":
		return "remove"
	case "insert", "update":
		return r.name
	}
	return "command"
}

// namespace is the container that the request is about, or MongoDB's $cmd.
func (r *request) namespace() string {
	return r.db + "." + cmp.Or(r.containerName(), "$cmd")
}

// aboutContainers are the actions of commands about one container.
const aboutContainers = account.Read | account.List | account.Write | account.Define | account.Modify | account.Maintain

// containerName is the name of the container that the request is about, "" if it is about none.
func (r *request) containerName() string {
	v := r.arg
	switch {
	case r.name == "getMore":
		v = doc.Lookup(r.body, "collection")
	case r.name != "aggregate" && r.command.needs&aboutContainers == 0:
		return ""
	}
	name, _ := doc.AsString(v)
	return name
}
