package update

import (
	"strings"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/expression"
	"github.com/mayflydb/mayfly/internal/mongo/filter"
)

// {$pull: {path: condition}} removes elements: those equal to a plain value, those
// that satisfy {$gt: 5} or a regular expression, or the objects that a query such as
// {a: 1, b: {$gt: 5}} matches.
func compilePull(_ string, arg doc.Value, names *expression.Names) (*leaf, error) {
	if arg.Type != bsoncore.TypeEmbeddedDocument && arg.Type != bsoncore.TypeRegex {
		return cull(func(x *run, e doc.Value) (bool, error) { return x.in.Meter.Equal(e, arg), x.in.Meter.Err() }), nil
	}
	if arg.Type == bsoncore.TypeEmbeddedDocument && !isCondition(arg.Data) {
		return compilePullObject(arg.Data, names)
	}
	f, err := compileBanned(wrap(nil, wrapped, arg), names)
	if err != nil {
		return nil, err
	}
	return cull(func(x *run, e doc.Value) (bool, error) {
		x.scratch = wrap(x.scratch[:0], wrapped, e)
		return f.Match(x.scratch, x.matching())
	}), nil
}

// wrapped is the name of the field that holds an element, so that a query can test it.
const wrapped = "e"

// isCondition reports whether the first member is an operator for a value, such as
// $gt, rather than a field or $and.
func isCondition(d doc.Doc) bool {
	for name := range doc.Members(d) {
		switch name {
		case "$and", "$or", "$nor", "$expr", "$where", "$text", "$comment", "$jsonSchema", "$alwaysTrue",
			"$alwaysFalse", "$sampleRate",
			"$ref", "$id", "$db":
			return false
		}
		return strings.HasPrefix(name, "$")
	}
	return false
}

func compilePullObject(query doc.Doc, names *expression.Names) (*leaf, error) {
	f, err := compileBanned(query, names)
	if err != nil {
		return nil, err
	}
	return cull(func(x *run, e doc.Value) (bool, error) {
		d, ok := doc.AsDoc(e)
		if !ok {
			return false, nil
		}
		return f.Match(d, x.matching())
	}), nil
}

// compileBanned compiles a query in which $expr is not allowed.
func compileBanned(query doc.Doc, names *expression.Names) (*filter.Filter, error) {
	f, err := filter.Compile(query, filter.Options{Names: names})
	if err == nil && f.NeedsScope() {
		err = code.New(code.QueryFeatureNotAllowed, "$expr is not allowed in this context")
	}
	return f, err
}

// cull removes the elements for which out is true.
func cull(out func(x *run, e doc.Value) (bool, error)) *leaf {
	return &leaf{change: func(x *run, dst []byte, old doc.Value) ([]byte, bsoncore.Type, outcome, error) {
		return cullArray(x, dst, old, out)
	}}
}

func cullArray(
	x *run, dst []byte, old doc.Value, out func(x *run, e doc.Value) (bool, error),
) ([]byte, bsoncore.Type, outcome, error) {
	if !doc.IsArray(old) {
		return dst, 0, kept, code.New(code.BadValue, "Cannot apply $pull to a non-array value")
	}
	o, a := kept, beginArray(dst)
	for e := range doc.Elements(old) {
		if err := x.spend(len(e.Data)); err != nil {
			return dst, 0, kept, err
		}
		gone, err := out(x, e)
		if err != nil {
			return dst, 0, kept, err
		}
		if gone {
			o = written
			continue
		}
		a.add(e)
	}
	return a.end(), bsoncore.TypeArray, o, nil
}
