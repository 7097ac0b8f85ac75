package pipeline

import (
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/expression"
)

// buckets are the groups of $bucket: documents grouped by the interval that a value is in.
// https://www.mongodb.com/docs/v7.0/reference/operator/aggregation/bucket/
type buckets struct {
	by         *expression.Expression
	boundaries []doc.Value
	other      doc.Value // the key for values in no interval, missing if there is no default
	outputs    []*statement
	hasOutput  bool
}

// key is the lower boundary of the interval.
func (s *buckets) key(scope *expression.Scope) (doc.Value, error) {
	v, err := s.by.Evaluate(scope)
	if err != nil {
		return v, err
	}
	i, _ := slices.BinarySearchFunc(s.boundaries, v, func(b, v doc.Value) int {
		if scope.Work().Compare(b, v) <= 0 {
			return -1
		}
		return 1
	})
	switch err := scope.Work().Err(); {
	case err != nil:
		return v, err
	case i > 0 && i < len(s.boundaries):
		return s.boundaries[i-1], nil
	case s.other.Type == 0:
		return v, code.New(40066,
			"$switch could not find a matching branch for an input, and no default was specified.")
	}
	return s.other, nil
}

// parseBucket parses $bucket to the $group and the $sort that it stands for.
func parseBucket(c *compiler, arg doc.Value) (stage, error) {
	if !isObject(arg) {
		return nil, code.New(40201, "Argument to $bucket stage must be an object, but found type: %s.",
			code.TypeName(arg))
	}
	s := &buckets{}
	for name, v := range doc.Members(arg.Data) {
		if err := s.option(c, name, v); err != nil {
			return nil, err
		}
	}
	if s.by == nil || s.boundaries == nil {
		return nil, code.New(40198, "$bucket requires 'groupBy' and 'boundaries' to be specified.")
	}
	lowest, highest := s.boundaries[0], s.boundaries[len(s.boundaries)-1]
	if s.other.Type != 0 && doc.CanonicalType(s.other) == doc.CanonicalType(lowest) &&
		doc.CompareBSON(s.other, lowest) >= 0 && doc.CompareBSON(s.other, highest) < 0 {
		return nil, code.New(40199,
			"The $bucket 'default' field must be less than the lowest boundary or greater than or equal to the "+
				"highest boundary.")
	}
	if !s.hasOutput {
		s.outputs = []*statement{counted("count")}
	}
	ordered := &sortStage{sort: &Sort{parts: []sortPart{{path: path{"_id"}}}}}
	return series{&group{stage: "$bucket", key: s.key, fields: s.outputs}, ordered}, nil
}

func (s *buckets) option(c *compiler, name string, v doc.Value) (err error) {
	switch name {
	case "groupBy":
		if !prefixedOrExpression(v) {
			return code.New(40202,
				"The $bucket 'groupBy' field must be defined as a $-prefixed path or an expression, but found: %s.",
				code.Show(v))
		}
		s.by, err = expression.Compile(v, c.names)
	case "boundaries":
		err = s.parseBoundaries(c, v)
	case "default":
		x, err := expression.Compile(v, c.names)
		if err != nil {
			return err
		}
		other, ok := x.Constant()
		if !ok {
			return code.New(40195, "The $bucket 'default' field must be a constant expression, but found: %s.",
				code.Show(v))
		}
		s.other = orNull(other)
	case "output":
		if !isObject(v) {
			return code.New(40196, "The $bucket 'output' field must be an object, but found type: %s.",
				code.TypeName(v))
		}
		s.hasOutput = true
		s.outputs, err = parseOutputs(c, v.Data)
	default:
		err = code.New(40197, "Unrecognized option to $bucket: %s.", name)
	}
	return err
}

func parseOutputs(c *compiler, spec doc.Doc) (outputs []*statement, err error) {
	for name, v := range doc.Members(spec) {
		f, err := parseStatement(name, v, c.names)
		if err != nil {
			return nil, err
		}
		outputs = append(outputs, f)
	}
	return outputs, nil
}

func prefixedOrExpression(v doc.Value) bool {
	if v.Type == bsoncore.TypeString {
		text, _ := doc.AsString(v)
		return strings.HasPrefix(text, "$")
	}
	return isObject(v) && isExpression(v)
}

func (s *buckets) parseBoundaries(c *compiler, v doc.Value) error {
	if !doc.IsArray(v) {
		return code.New(40200, "The $bucket 'boundaries' field must be an array, but found type: %s.", code.TypeName(v))
	}
	for e := range doc.Elements(v) {
		x, err := expression.Compile(e, c.names)
		if err != nil {
			return err
		}
		b, ok := x.Constant()
		if !ok {
			return code.New(40191,
				"The $bucket 'boundaries' field must be an array of constant values, but found value: %s.",
				code.Show(e))
		}
		s.boundaries = append(s.boundaries, orNull(b))
	}
	if len(s.boundaries) < 2 {
		return code.New(40192, "The $bucket 'boundaries' field must have at least 2 values, but found %d value(s).",
			len(s.boundaries))
	}
	for i, upper := range s.boundaries[1:] {
		lower := s.boundaries[i]
		if doc.CanonicalType(lower) != doc.CanonicalType(upper) {
			return code.New(40193,
				"All values in the the 'boundaries' option to $bucket must have the same type. Found conflicting "+
					"types %s and %s.",
				code.TypeName(lower), code.TypeName(upper))
		}
		if doc.CompareBSON(lower, upper) >= 0 {
			return code.New(40194,
				"The 'boundaries' option to $bucket must be sorted, but elements %d and %d are not in ascending "+
					"order (%s is not less than %s).",
				i, i+1, code.Show(lower), code.Show(upper))
		}
	}
	return nil
}
