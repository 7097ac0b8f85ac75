package filter

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/expression"
)

// A ValueFilter is a compiled condition on one value, an element of an array. It is
// immutable and safe for concurrent use with a Scope each.
type ValueFilter struct{ test test }

// Match reports whether a value is accepted. s may be nil.
func (f *ValueFilter) Match(v doc.Value, s *expression.Scope) (bool, error) {
	return f.test(v, s, nil)
}

// CompileValue reads what $pull says of the elements that go: {$gte: 5} and /x/ are about the
// element; another object is a query, which elements that are no objects do not satisfy; any other
// value is what the element has to be equal to. Errors are *code.Error; $expr is
// QueryFeatureNotAllowed.
// https://www.mongodb.com/docs/v7.0/reference/operator/update/pull/
func CompileValue(cond doc.Value, o Options) (*ValueFilter, error) {
	cond.Data = slices.Clone(cond.Data)
	c := newCompiler(o)
	at := spot{level: inUpdate, path: &Path{}}
	name, _ := firstOf(cond)
	switch {
	case onField[name] != nil:
		return valueFilter(c.operators(cond.Data, at))
	case cond.Type == bsoncore.TypeEmbeddedDocument:
		found, err := c.query(cond.Data, at)
		if err == nil {
			found.root = ofDocument(found.root, false)
		}
		return valueFilter(found, err)
	case cond.Type == bsoncore.TypeRegex:
		return valueFilter(regexValue(c, cond, at))
	case cond.Type == bsoncore.TypeUndefined:
		return nil, cannotCompare()
	}
	return &ValueFilter{test: equals(cond).test()}, nil
}

func valueFilter(c condition, err error) (*ValueFilter, error) {
	if err != nil {
		return nil, err
	}
	return &ValueFilter{test: c.root}, nil
}

// CompileElement reads one of the arrayFilters, {"x.a": {$gt: 1}}, and tells what it calls the
// element: x, the first name of all its paths. Errors are *code.Error: FailedToParse when
// there is no such name or more than one, BadValue when it is not of letters and digits.
// https://www.mongodb.com/docs/v7.0/reference/operator/update/positional-filtered/
func CompileElement(filter doc.Doc, o Options) (f *ValueFilter, identifier string, err error) {
	c := newCompiler(o)
	c.identified = true
	found, err := c.query(slices.Clone(filter), spot{level: inUpdate})
	if err == nil && c.identifier == "" {
		err = code.New(code.FailedToParse, "Cannot use an expression without a top-level field name in arrayFilters")
	}
	f, err = valueFilter(found, err)
	return f, c.identifier, err
}

// CompileElemMatch reads the argument of $elemMatch, as a projection has it too.
// Errors are *code.Error.
func CompileElemMatch(cond doc.Value, o Options) (*ValueFilter, error) {
	cond.Data = slices.Clone(cond.Data)
	c := newCompiler(o)
	one, _, err := c.element(cond, spot{})
	if err != nil {
		return nil, err
	}
	return &ValueFilter{test: one}, nil
}
