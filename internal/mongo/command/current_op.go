package command

import (
	"cmp"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mayflydb/mayfly/internal/clock"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/account"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/filter"
	"github.com/mayflydb/mayfly/internal/mongo/pipeline"
	"github.com/mayflydb/mayfly/internal/mongo/query"
)

// currentOp takes switches, and the members of a query that selects among the operations.
func currentOp(r *request, a *answer) error {
	query := doc.NewWriter(nil)
	first := true
	for name, v := range doc.Members(r.body) {
		if !first && !strings.HasPrefix(name, "$") && !genericFields[name] {
			query.Value(name, v)
		}
		first = false
	}
	selected, err := compileSift(r, query.End())
	if err != nil {
		return err
	}
	list, err := listOperations(r, listing{idle: isTrue(r.get("$all")), own: isTrue(r.get("$ownOps"))})
	if err != nil {
		return err
	}
	a.Array("inprog")
	for _, d := range list {
		ok, err := selected(d)
		if err != nil {
			return err
		}
		if ok {
			a.Element(d)
		}
	}
	a.Close()
	return nil
}

// currentOpStage is the stage $currentOp.
func currentOpStage(r *request, arg doc.Value) pipeline.Rows {
	options, _ := doc.AsDoc(arg)
	if r.db != adminDatabase {
		return query.Failed(code.New(code.InvalidNamespace, "$currentOp must be run against the 'admin' database with {aggregate: 1}"))
	}
	list, err := listOperations(r, listing{
		idle:  isTrue(doc.Lookup(options, "idleConnections")),
		own:   !isTrue(doc.Lookup(options, "allUsers")),
		whole: !isTrue(doc.Lookup(options, "truncateOps")),
	})
	if err != nil {
		return query.Failed(err)
	}
	return func(yield func(doc.Doc, error) bool) {
		for _, d := range list {
			if !yield(d, nil) {
				return
			}
		}
	}
}

// compileSift compiles a query over documents that a command makes; an empty one selects all.
func compileSift(r *request, wanted doc.Doc) (func(doc.Doc) (bool, error), error) {
	if doc.IsEmpty(wanted) {
		return func(doc.Doc) (bool, error) { return true, nil }, nil
	}
	f, err := filter.Compile(wanted, filter.Options{Meter: r.Work()})
	if err != nil {
		return nil, err
	}
	q := query.Selection{Filter: f}
	s := q.Scope(&r.Operation)
	return func(d doc.Doc) (bool, error) { return q.Matches(d, s) }, nil
}

// A listing says which operations are wanted.
type listing struct {
	idle  bool // also connections that have none
	own   bool // only those of the client's user
	whole bool // commands are not cut
}

// listOperations lists what the connections are doing.
func listOperations(r *request, want listing) ([]doc.Doc, error) {
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
	a := doc.NewWriter(nil)
	a.String("type", "op")
	a.String("host", host)
	a.String("desc", "conn"+strconv.Itoa(int(c.id)))
	a.Int32("connectionId", int(c.id))
	a.String("client", c.remote())
	if c.client.appName != "" {
		a.String("appName", c.client.appName)
	}
	if c.client.document != nil {
		a.Doc("clientMetadata", c.client.document)
	}
	a.Bool("active", x != nil)
	a.String("currentOpTime", clock.Wall().UTC().Format("2006-01-02T15:04:05.000-07:00"))
	if c.user != nil {
		a.Array("effectiveUsers")
		a.Object(a.Index())
		a.String("user", c.user.Name)
		a.String("db", c.user.Database)
		a.Close()
		a.Close()
	}
	if x != nil {
		describeRequest(x, a, want.whole)
	}
	return a.End()
}

// describeRequest writes what a running request does.
func describeRequest(r *request, a *doc.Writer, whole bool) {
	took := r.Since.Elapsed()
	a.Int32("opid", int(r.opid))
	a.Int64("secs_running", int64(took/time.Second))
	a.Int64("microsecs_running", took.Microseconds())
	if r.lsid.Type != 0 {
		a.Value("lsid", r.lsid)
	}
	a.String("op", kindOfRequest(r))
	a.String("ns", namespaceOf(r))
	a.Bool("redacted", r.command.secret)
	shown := r.shown()
	if len(shown) <= maxShownCommand || whole {
		a.Doc("command", shown)
	} else {
		a.Object("command")
		a.String("$truncated", code.Show(doc.Object(shown)))
		a.Close()
	}
	a.Int32("numYields", 0)
	a.Bool("waitingForLock", false)
}

// maxShownCommand is how many bytes of a command are shown whole; a longer one is shown as text that is cut off.
const maxShownCommand = 1000

// kindOfRequest is MongoDB's name of the operation.
func kindOfRequest(r *request) string {
	switch r.Name {
	case "find":
		return "query"
	case "getMore":
		return "getmore"
	case "delete":
		return "remove"
	case "insert", "update":
		return r.Name
	}
	return "command"
}

// namespaceOf is the container that the request is about, or MongoDB's $cmd.
func namespaceOf(r *request) string {
	return r.db + "." + cmp.Or(containerNameOf(r), "$cmd")
}

// aboutContainers are the actions of commands about one container.
const aboutContainers = account.Read | account.List | account.Write | account.Define | account.Modify | account.Maintain

// containerNameOf is the name of the container that the request is about, "" if it is about none.
func containerNameOf(r *request) string {
	v := r.arg
	switch {
	case r.Name == "getMore":
		v = doc.Lookup(r.body, "collection")
	case r.Name != "aggregate" && r.command.needs&aboutContainers == 0:
		return ""
	}
	name, _ := doc.AsString(v)
	return name
}
