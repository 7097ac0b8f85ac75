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

// rules are the compiled validator of a container.
// https://www.mongodb.com/docs/v7.0/core/schema-validation/
type rules struct {
	epoch    uint64 // of the state that has them
	query    doc.Doc
	filter   *filter.Filter // nil for none
	moderate bool           // a document that is invalid already may stay so
	warn     bool           // an invalid document is logged, and written
}

// compileRules compiles the query that valid documents match.
func compileRules(names *expression.Names, query doc.Doc) (*filter.Filter, error) {
	return filter.Compile(query, filter.Options{Names: names})
}

// rulesOf gives the rules of a container, nil if it has none. They are compiled once for each state of the container.
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

// accepts reports whether a document is valid.
func (x *rules) accepts(d doc.Doc, s *expression.Scope) (bool, error) {
	if s != nil {
		s.Reset(doc.Object(d))
	}
	return x.filter.Match(d, s)
}

// scope is what the rules are evaluated in.
func (x *rules) scope(r *request) *expression.Scope {
	if !x.filter.NeedsScope() {
		return &expression.Scope{Meter: r.work()}
	}
	return r.scope(expression.NewNames(), nil)
}

// validator gives the check that documents of a container must pass before they are written, nil if there is none.
func (r *request) validator(c *catalog.Container) (func(doc.Doc) error, error) {
	x, err := r.s.rulesOf(c)
	if x == nil || err != nil || r.bool("bypassDocumentValidation", false) {
		return nil, err
	}
	s := x.scope(r)
	return func(d doc.Doc) error {
		ok, err := x.accepts(d, s)
		if ok || err != nil {
			return err
		}
		if x.warn {
			r.s.log.Warn("document would fail validation", slog.String("namespace", c.Database.Name+"."+c.State().Name),
				slog.String("document_id", code.Show(doc.Lookup(d, "_id"))))
			return nil
		}
		return x.failure(r, d, s)
	}, nil
}

// mayStayInvalid reports whether a document may be changed into an invalid one: the rules are moderate, and the
// document has been invalid before.
func (r *request) mayStayInvalid(c *catalog.Container, before doc.Doc) bool {
	x, err := r.s.rulesOf(c)
	if x == nil || err != nil || !x.moderate {
		return false
	}
	ok, err := x.accepts(before, x.scope(r))
	return !ok && err == nil
}

// failure is the error for an invalid document.
func (x *rules) failure(r *request, d doc.Doc, s *expression.Scope) error {
	e := code.New(code.DocumentValidationFailure, "Document failed validation")
	a := newAnswer(nil)
	a.object("errInfo")
	a.value("failingDocumentId", doc.Lookup(d, "_id"))
	a.object("details")
	p := failureDetails{r: r, d: d, left: maxFailureDetails}
	p.query(a, x.query)
	a.close()
	a.close()
	e.Info = bytes.Clone(a.end())
	return e
}
