package write

import (
	"bytes"
	"log/slog"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/expression"
	"github.com/mayflydb/mayfly/internal/mongo/filter"
	"github.com/mayflydb/mayfly/internal/mongo/session"
)

// Rules are what a container asks of its documents, compiled.
// https://www.mongodb.com/docs/v7.0/core/schema-validation/
type Rules struct {
	epoch    uint64 // of the state that they are from
	query    doc.Doc
	filter   *filter.Filter // nil for none
	moderate bool           // documents that break them already may go on doing so
	warn     bool           // the log is told, and the write goes through
}

// CompileRules compiles the query that valid documents match.
func CompileRules(names *expression.Names, query doc.Doc) (*filter.Filter, error) {
	return filter.Compile(query, filter.Options{Names: names})
}

// validatorQuery is the query that valid documents match, nil if there is none.
func validatorQuery(options doc.Doc) doc.Doc {
	d, _ := doc.AsDoc(doc.Lookup(options, "validator"))
	return d
}

// RulesOf gives the rules of a container, nil when it has none. They are compiled once for each
// state of it.
func RulesOf(n *session.Node, c *catalog.Container) (*Rules, error) {
	st := c.State()
	if len(st.Echo) == 0 {
		return nil, nil
	}
	// The epoch of a state changes with every change of the container, so rules are never older than the options that a
	// write sees.
	if kept, ok := n.Rules.Load(c.ID); ok && kept.(*Rules).epoch == st.Epoch() {
		return kept.(*Rules).orNone(), nil
	}
	x := &Rules{epoch: st.Epoch(), query: validatorQuery(st.Echo)}
	level, _ := doc.AsString(doc.Lookup(st.Echo, "validationLevel"))
	action, _ := doc.AsString(doc.Lookup(st.Echo, "validationAction"))
	x.moderate, x.warn = level == "moderate", action == "warn"
	if x.query != nil && st.Dialect == catalog.Mongo && level != "off" {
		var err error
		if x.filter, err = CompileRules(expression.NewNames(), x.query); err != nil {
			return nil, err
		}
	}
	// That there are none is remembered, too.
	n.Rules.Store(c.ID, x)
	return x.orNone(), nil
}

func (x *Rules) orNone() *Rules {
	if x.filter == nil {
		return nil
	}
	return x
}

// Obeyed reports whether a document is valid.
func (x *Rules) Obeyed(d doc.Doc, s *expression.Scope) (bool, error) {
	if s != nil {
		s.Reset(doc.Object(d))
	}
	return x.filter.Match(d, s)
}

// Scope is what the rules are evaluated in, nil when they need none.
func (x *Rules) Scope(o *session.Operation) *expression.Scope {
	if !x.filter.NeedsScope() {
		return &expression.Scope{Meter: o.Work()}
	}
	return o.Scope(expression.NewNames(), nil)
}

// ValidatorOf is the check that a container's documents must pass, nil if there is none.
func ValidatorOf(o *session.Operation, c *catalog.Container) (func(doc.Doc) error, error) {
	x, err := RulesOf(o.Node, c)
	if x == nil || err != nil || o.Host.Option("bypassDocumentValidation") {
		return nil, err
	}
	s := x.Scope(o)
	return func(d doc.Doc) error {
		ok, err := x.Obeyed(d, s)
		if ok || err != nil {
			return err
		}
		if x.warn {
			o.Node.Log.Warn("document would fail validation",
				slog.String("namespace", c.Database.Name+"."+c.State().Name),
				slog.String("document_id", code.Show(doc.Lookup(d, "_id"))))
			return nil
		}
		return x.broken(o, d, s)
	}, nil
}

// sparesInvalid reports whether a document may be changed into one that breaks the rules, since it breaks
// them already and they are moderate.
func sparesInvalid(o *session.Operation, c *catalog.Container, before doc.Doc) bool {
	x, err := RulesOf(o.Node, c)
	if x == nil || err != nil || !x.moderate {
		return false
	}
	ok, err := x.Obeyed(before, x.Scope(o))
	return !ok && err == nil
}

// broken is the error of a document that breaks the rules.
func (x *Rules) broken(o *session.Operation, d doc.Doc, s *expression.Scope) error {
	e := code.New(code.DocumentValidationFailure, "Document failed validation")
	a := doc.NewWriter(nil)
	a.Object("errInfo")
	a.Value("failingDocumentId", doc.Lookup(d, "_id"))
	a.Object("details")
	p := mismatch{o: o, d: d, left: maxMismatches}
	p.query(a, x.query)
	a.Close()
	a.Close()
	e.Info = bytes.Clone(a.End())
	return e
}
