package command

import (
	"net"
	"os"
	"strconv"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
)

// A verbosity is how much explain tells.
type verbosity int

const (
	planOnly verbosity = iota // the command is not run
	executed                  // its reads are
	allPlans                  // the same, as no plan is ever tried and rejected
)

var verbosities = map[string]verbosity{"": allPlans, "queryPlanner": planOnly, "executionStats": executed, "allPlansExecution": allPlans}

// explainers are the commands that can be explained.
var explainers = map[string]func(r *request, x *explanation) error{
	"aggregate":     explainAggregate,
	"count":         explainCount,
	"delete":        explainDelete,
	"distinct":      explainDistinct,
	"find":          explainFind,
	"findAndModify": explainFindAndModify,
	"update":        explainUpdate,
}

// An explanation is an explain on its way.
type explanation struct {
	a     *answer
	level verbosity
}

func explain(r *request, a *answer) error {
	body, ok := doc.AsDoc(r.arg)
	if !ok {
		return r.wrongType("explain", r.arg, "object")
	}
	text := r.string("verbosity")
	level, known := verbosities[text]
	switch {
	case r.err != nil:
		return r.err
	case !known:
		return code.New(code.BadValue, "Enumeration value '%s' for field 'explain.verbosity' is not a valid value.", text)
	}
	inner, err := r.explained(body)
	if err != nil {
		return err
	}
	return inner.explain(&explanation{a: a, level: level})
}

// explained is the request inside of an explain.
func (r *request) explained(body doc.Doc) (*request, error) {
	inner := *r
	inner.body, inner.name, inner.arg = body, "", doc.Value{}
	for name, v := range doc.Members(body) {
		inner.name, inner.arg = name, v
		break
	}
	if alias, ok := aliases[inner.name]; ok {
		inner.name = alias
	}
	if inner.name == "" {
		return nil, code.New(code.CommandNotFound, "Explain failed due to unknown command: ")
	}
	cmd, known := r.s.commands[inner.name]
	if !known {
		return nil, code.New(code.CommandNotFound, "Explain failed due to unknown command: %s", inner.name)
	}
	if explainers[inner.name] == nil {
		return nil, code.New(code.CommandNotSupported, "Cannot explain cmd: %s", inner.name)
	}
	inner.command = cmd
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

// explain runs the explainer of a command and adds what every explain ends with.
func (r *request) explain(x *explanation) error {
	if err := explainers[r.name](r, x); err != nil {
		return err
	}
	return r.explainEnd(x)
}

// explainEnd writes the command and the server that it was explained by.
func (r *request) explainEnd(x *explanation) error {
	a := x.a
	a.object("command")
	a.members(r.body)
	if doc.Lookup(r.body, "$db").Type == 0 {
		a.string("$db", r.db)
	}
	a.close()
	host, _ := os.Hostname()
	a.object("serverInfo")
	a.string("host", host)
	a.int32("port", r.c.port())
	a.string("version", serverVersion)
	a.string("gitVersion", "mayfly "+r.s.o.Version)
	a.close()
	return nil
}

// port is the one that the client has reached, 0 if that has none.
func (c *connection) port() int {
	_, text, _ := net.SplitHostPort(c.local)
	n, _ := strconv.Atoi(text)
	return n
}
