package command

import (
	"bytes"
	"log/slog"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/expression"
	"github.com/mayflydb/mayfly/internal/mongo/filter"
)

// rules are what a container asks of its documents, compiled.
// https://www.mongodb.com/docs/v7.0/core/schema-validation/
type rules struct {
	epoch    uint64 // of the state that they are from
	query    doc.Doc
	filter   *filter.Filter // nil for none
	moderate bool           // documents that break them already may go on doing so
	warn     bool           // the log is told, and the write goes through
}

// compileRules compiles the query that valid documents match.
func compileRules(names *expression.Names, query doc.Doc) (*filter.Filter, error) {
	return filter.Compile(query, filter.Options{Names: names})
}

// rulesOf gives the rules of a container, nil when it has none. They are compiled once for each
// state of it.
func (s *Server) rulesOf(c *catalog.Container) (*rules, error) {
	st := c.State()
	if len(st.Echo) == 0 {
		return nil, nil
	}
	if kept, ok := s.rules.Load(c.ID); ok && kept.(*rules).epoch == st.Epoch() {
		return kept.(*rules).orNone(), nil
	}
	x := &rules{epoch: st.Epoch(), query: docMember(st.Echo, "validator")}
	level, _ := doc.AsString(doc.Lookup(st.Echo, "validationLevel"))
	action, _ := doc.AsString(doc.Lookup(st.Echo, "validationAction"))
	x.moderate, x.warn = level == "moderate", action == "warn"
	if x.query != nil && st.Dialect == catalog.Mongo && level != "off" {
		var err error
		if x.filter, err = compileRules(expression.NewNames(), x.query); err != nil {
			return nil, err
		}
	}
	s.rules.Store(c.ID, x)
	return x.orNone(), nil
}

func (x *rules) orNone() *rules {
	if x.filter == nil {
		return nil
	}
	return x
}

// obeyed reports whether a document is valid.
func (x *rules) obeyed(d doc.Doc, s *expression.Scope) (bool, error) {
	if s != nil {
		s.Reset(doc.Object(d))
	}
	return x.filter.Match(d, s)
}

// scope is what the rules are evaluated in, nil when they need none.
func (x *rules) scope(r *request) *expression.Scope {
	if !x.filter.NeedsScope() {
		return &expression.Scope{Meter: r.work()}
	}
	return r.scope(expression.NewNames(), nil)
}

// validator is the check that a container's documents must pass, nil when there is none.
func (r *request) validator(c *catalog.Container) (func(doc.Doc) error, error) {
	x, err := r.s.rulesOf(c)
	if x == nil || err != nil || r.bool("bypassDocumentValidation", false) {
		return nil, err
	}
	s := x.scope(r)
	return func(d doc.Doc) error {
		ok, err := x.obeyed(d, s)
		if ok || err != nil {
			return err
		}
		if x.warn {
			r.s.log.Warn("document would fail validation", slog.String("namespace", c.Database.Name+"."+c.State().Name),
				slog.String("document_id", code.Show(doc.Lookup(d, "_id"))))
			return nil
		}
		return x.broken(r, d, s)
	}, nil
}

// spares reports whether a document may be changed into one that breaks the rules, since it breaks
// them already and they are moderate.
func (r *request) spares(c *catalog.Container, before doc.Doc) bool {
	x, err := r.s.rulesOf(c)
	if x == nil || err != nil || !x.moderate {
		return false
	}
	ok, err := x.obeyed(before, x.scope(r))
	return !ok && err == nil
}

// broken is the error of a document that breaks the rules.
func (x *rules) broken(r *request, d doc.Doc, s *expression.Scope) error {
	e := code.New(code.DocumentValidationFailure, "Document failed validation")
	a := newAnswer(nil)
	a.object("errInfo")
	a.value("failingDocumentId", doc.Lookup(d, "_id"))
	a.object("details")
	p := complaint{r: r, d: d, left: maxComplaints}
	p.query(a, x.query)
	a.close()
	a.close()
	e.Info = bytes.Clone(a.end())
	return e
}
