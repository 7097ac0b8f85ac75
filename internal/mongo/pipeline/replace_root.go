package pipeline

import (
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/expression"
)

// A replaceRoot is $replaceRoot or $replaceWith: the value of an expression replaces the document.
// https://www.mongodb.com/docs/v7.0/reference/operator/aggregation/replaceRoot/
type replaceRoot struct {
	stage string
	value *expression.Expression
	what  string // the name of the value in errors
}

func (s *replaceRoot) name() string { return s.stage }

func (s *replaceRoot) mapper(r *run) mapFunc {
	scope := r.scope()
	return func(d doc.Doc) (doc.Doc, bool, error) {
		scope.Reset(doc.Object(d))
		v, err := s.value.Evaluate(scope)
		if err != nil {
			return nil, false, err
		}
		if !isObject(v) {
			return nil, false, code.New(40228, "%s must evaluate to an object, but resulting value was: %s. "+
				"Type of resulting value: '%s'. Input document: %s", s.what, code.Show(v), code.TypeName(v),
				code.Show(doc.Object(d)))
		}
		return v.Data, true, nil
	}
}

func parseReplaceRoot(c *compiler, arg doc.Value) (stage, error) {
	if !isObject(arg) {
		return nil, code.New(40229, "expected an object as specification for $replaceRoot stage, got %s",
			code.TypeName(arg))
	}
	var root doc.Value
	for name, v := range doc.Members(arg.Data) {
		if name != "newRoot" {
			return nil, unknownField("$replaceRoot", name)
		}
		root = v
	}
	if root.Type == 0 {
		return nil, missingField("$replaceRoot", "newRoot")
	}
	x, err := expression.Compile(root, c.names)
	return &replaceRoot{"$replaceRoot", x, "'newRoot' expression "}, err
}

// parseReplaceWith parses an expression.
// https://www.mongodb.com/docs/v7.0/reference/operator/aggregation/replaceWith/
func parseReplaceWith(c *compiler, arg doc.Value) (stage, error) {
	x, err := expression.Compile(arg, c.names)
	return &replaceRoot{"$replaceWith", x, "'replacement document' "}, err
}
