package pipeline

import (
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/expression"
	"github.com/mayflydb/mayfly/internal/mongo/work"
)

// A redact is $redact: for the document and each document in it, an expression decides to keep it, to drop it or to
// descend into it.
// https://www.mongodb.com/docs/v7.0/reference/operator/aggregation/redact/
type redact struct {
	decide *expression.Expression
	slots  [3]int // of the variables
}

// verdicts are the variables $$DESCEND, $$PRUNE and $$KEEP, and the values that stand for them.
var verdicts = [3]struct {
	name  string
	value doc.Value
}{{"DESCEND", doc.String("descend")}, {"PRUNE", doc.String("prune")}, {"KEEP", doc.String("keep")}}

func (s *redact) name() string { return "$redact" }

func (s *redact) mapper(r *run) mapFunc {
	scope := r.scope()
	for i, v := range verdicts {
		r.vars[s.slots[i]] = v.value
	}
	var buf []byte
	return func(d doc.Doc) (doc.Doc, bool, error) {
		scope.Reset(doc.Object(d))
		out, keep, err := s.appendRedacted(buf[:0], d, scope)
		if err != nil || !keep {
			return nil, false, err
		}
		buf = out
		return out, true, nil
	}
}

// appendRedacted appends what remains of a document.
func (s *redact) appendRedacted(dst []byte, d doc.Doc, scope *expression.Scope) (out []byte, keep bool, err error) {
	scope.Current = doc.Object(d)
	v, err := s.decide.Evaluate(scope)
	if err != nil {
		return nil, false, err
	}
	switch text, _ := doc.AsString(v); text {
	case "keep":
		return append(dst, d...), true, nil
	case "prune":
		return dst, false, nil
	case "descend":
		out, err = s.appendInside(dst, d, scope)
		return out, true, err
	}
	return nil, false, code.New(17053, "$redact's expression should not return anything aside from the variables "+
		"$$KEEP, $$DESCEND, and $$PRUNE, but returned %s", code.Show(v))
}

// appendInside redacts each document in a document or an array.
func (s *redact) appendInside(dst []byte, d doc.Doc, scope *expression.Scope) ([]byte, error) {
	dst, at := beginDoc(dst)
	for name, v := range doc.Members(d) {
		err := scope.Work().Spend(work.Element)
		if err != nil {
			return nil, err
		}
		if dst, err = s.appendValue(dst, name, v, scope); err != nil {
			return nil, err
		}
	}
	return endDoc(dst, at), nil
}

func (s *redact) appendValue(dst []byte, name string, v doc.Value, scope *expression.Scope) ([]byte, error) {
	switch v.Type {
	case bsoncore.TypeEmbeddedDocument:
		before := len(dst)
		out, keep, err := s.appendRedacted(appendHead(dst, v.Type, name), v.Data, scope)
		if err == nil && !keep {
			out = out[:before]
		}
		return out, err
	case bsoncore.TypeArray:
		return s.appendElements(appendHead(dst, v.Type, name), v, scope)
	}
	return doc.AppendElement(dst, name, v), nil
}

func (s *redact) appendElements(dst []byte, array doc.Value, scope *expression.Scope) ([]byte, error) {
	dst, at := beginDoc(dst)
	i := 0
	for e := range doc.Elements(array) {
		before, keep := len(dst), true
		dst = appendIndex(dst, e.Type, i)
		err := scope.Work().Spend(work.Element)
		if err != nil {
			return nil, err
		}
		switch e.Type {
		case bsoncore.TypeEmbeddedDocument:
			dst, keep, err = s.appendRedacted(dst, e.Data, scope)
		case bsoncore.TypeArray:
			dst, err = s.appendElements(dst, e, scope)
		default:
			dst = append(dst, e.Data...)
		}
		if err != nil {
			return nil, err
		}
		if !keep {
			dst = dst[:before]
			continue
		}
		i++
	}
	return endDoc(dst, at), nil
}

func parseRedact(c *compiler, arg doc.Value) (stage, error) {
	s := &redact{}
	names := c.names
	for i, v := range verdicts {
		names, s.slots[i] = names.With(v.name)
	}
	var err error
	s.decide, err = expression.Compile(arg, names)
	return s, err
}
