package command

import (
	"net"
	"os"
	"strconv"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/query"
)

// explainers are the commands that can be explained.
var explainers = map[string]func(r *request, x *query.Explanation) error{
	"aggregate":     explainAggregate,
	"count":         explainCount,
	"delete":        explainDelete,
	"distinct":      explainDistinct,
	"find":          explainFind,
	"findAndModify": explainFindAndModify,
	"update":        explainUpdate,
}

func explain(r *request, a *answer) error {
	body, ok := doc.AsDoc(r.arg)
	if !ok {
		return r.wrongType("explain", r.arg, "object")
	}
	text := r.string("verbosity")
	level, known := query.Verbosities[text]
	switch {
	case r.err != nil:
		return r.err
	case !known:
		return code.New(code.BadValue, "Enumeration value '%s' for field 'explain.verbosity' is not a valid value.", text)
	}
	inner, err := explainedRequest(r, body)
	if err != nil {
		return err
	}
	return runExplain(inner, &query.Explanation{To: &a.Writer, Level: level})
}

// explainedRequest is the request inside of an explain.
func explainedRequest(r *request, body doc.Doc) (*request, error) {
	inner := *r
	inner.body, inner.Name, inner.arg = body, "", doc.Value{}
	for name, v := range doc.Members(body) {
		inner.Name, inner.arg = name, v
		break
	}
	if alias, ok := aliases[inner.Name]; ok {
		inner.Name = alias
	}
	if inner.Name == "" {
		return nil, code.New(code.CommandNotFound, "Explain failed due to unknown command: ")
	}
	cmd, known := r.s.commands[inner.Name]
	if !known {
		return nil, code.New(code.CommandNotFound, "Explain failed due to unknown command: %s", inner.Name)
	}
	if explainers[inner.Name] == nil {
		return nil, code.New(code.CommandNotSupported, "Cannot explain cmd: %s", inner.Name)
	}
	inner.command, inner.title = cmd, inner.Name
	if db, ok := doc.AsString(doc.Lookup(body, "$db")); ok && db != r.db {
		return nil, code.New(code.InvalidNamespace, "Mismatched $db in explain command. Expected %s but got %s", r.db, db)
	}
	if r.s.o.Auth {
		if err := inner.may(cmd.needs, r.db); err != nil {
			return nil, err
		}
	}
	return &inner, inner.checkFields()
}

// runExplain runs the explainer of a command and adds what every explain ends with.
func runExplain(r *request, x *query.Explanation) error {
	if err := explainers[r.Name](r, x); err != nil {
		return err
	}
	return writeExplainEnd(r, x)
}

// writeExplainEnd writes the command and the server that it was explained by.
func writeExplainEnd(r *request, x *query.Explanation) error {
	a := x.To
	a.Object("command")
	a.Members(r.body)
	if doc.Lookup(r.body, "$db").Type == 0 {
		a.String("$db", r.db)
	}
	a.Close()
	host, _ := os.Hostname()
	a.Object("serverInfo")
	a.String("host", host)
	a.Int32("port", r.c.port())
	a.String("version", serverVersion)
	a.String("gitVersion", "mayfly "+r.s.o.Version)
	a.Close()
	return nil
}

// port is the one that the client has reached, 0 if that has none.
func (c *connection) port() int {
	_, text, _ := net.SplitHostPort(c.local)
	n, _ := strconv.Atoi(text)
	return n
}
