package command

import (
	"net"
	"os"
	"strconv"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/explain"
	"github.com/mayflydb/mayfly/internal/mongo/query"
)

func runExplain(r *request, a *answer) error {
	body, ok := doc.AsDoc(r.Arg)
	if !ok {
		return r.WrongType("explain", r.Arg, "object")
	}
	text := r.String("verbosity")
	level, known := query.Verbosities[text]
	switch {
	case r.Err != nil:
		return r.Err
	case !known:
		return code.New(code.BadValue,
			"Enumeration value '%s' for field 'explain.verbosity' is not a valid value.", text)
	}
	inner, err := explainedRequest(r, body)
	if err != nil {
		return err
	}
	x := &query.Explanation{To: &a.Writer, Level: level}
	if err := (&explain.Request{Request: &inner.Request, MayRun: mayRun}).Explain(x); err != nil {
		return err
	}
	return writeExplainEnd(inner, x)
}

// explainedRequest is the request inside of an explain.
func explainedRequest(r *request, body doc.Doc) (*request, error) {
	inner := *r
	inner.Client = &inner
	inner.Body, inner.Name, inner.Arg = body, "", doc.Value{}
	for name, v := range doc.Members(body) {
		inner.Name, inner.Arg = name, v
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
	if !explain.Knows(inner.Name) {
		return nil, code.New(code.CommandNotSupported, "Cannot explain cmd: %s", inner.Name)
	}
	inner.use(cmd)
	if db, ok := doc.AsString(doc.Lookup(body, "$db")); ok && db != r.DB {
		return nil, code.New(code.InvalidNamespace,
			"Mismatched $db in explain command. Expected %s but got %s", r.DB, db)
	}
	if r.s.o.Auth {
		if err := inner.May(cmd.needs, r.DB); err != nil {
			return nil, err
		}
	}
	return &inner, inner.checkFields()
}

// explainInAggregate answers with the plan of an aggregation.
func explainInAggregate(r *request, x *query.Aggregation, a *answer) error {
	e := &query.Explanation{To: &a.Writer}
	if err := e.Aggregate(&r.Operation, x); err != nil {
		return err
	}
	return writeExplainEnd(r, e)
}

// writeExplainEnd writes the command and the server that it was explained by.
func writeExplainEnd(r *request, x *query.Explanation) error {
	a := x.To
	a.Object("command")
	a.Members(r.Body)
	if doc.Lookup(r.Body, "$db").Type == 0 {
		a.String("$db", r.DB)
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
