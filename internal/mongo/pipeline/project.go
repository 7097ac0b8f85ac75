package pipeline

import (
	"strings"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/filter"
)

// A projectStage is $project or $unset, which is an exclusion.
// https://www.mongodb.com/docs/v7.0/reference/operator/aggregation/project/
type projectStage struct {
	stage      string
	projection *Projection
}

func (s *projectStage) name() string { return s.stage }

func (s *projectStage) mapper(r *run) mapFunc {
	scope := r.scope()
	var buf []byte
	return func(d doc.Doc) (doc.Doc, bool, error) {
		if s.projection.scoped {
			scope.Reset(doc.Object(d))
		}
		out, err := s.projection.Apply(buf[:0], d, filter.Where{}, scope)
		if err != nil {
			return nil, false, err
		}
		buf = out
		return out, true, nil
	}
}

func parseProject(c *compiler, arg doc.Value) (stage, error) {
	if !isObject(arg) {
		return nil, code.New(15969, "$project specification must be an object")
	}
	if doc.IsEmpty(arg.Data) {
		return nil, code.New(51272,
			"Invalid $project :: caused by :: projection specification must have at least one field")
	}
	p, err := compileProjection(arg.Data, ProjectionOptions{Names: c.names})
	if err != nil {
		return nil, within("Invalid $project", err)
	}
	return &projectStage{"$project", p}, nil
}

// parseUnset parses a path or an array of paths.
// https://www.mongodb.com/docs/v7.0/reference/operator/aggregation/unset/
func parseUnset(c *compiler, arg doc.Value) (stage, error) {
	paths := []doc.Value{arg}
	switch arg.Type {
	case bsoncore.TypeString:
	case bsoncore.TypeArray:
		paths = paths[:0]
		for e := range doc.Elements(arg) {
			paths = append(paths, e)
		}
		if len(paths) == 0 {
			return nil, code.New(31119, "$unset specification must be a string or an array with at least one field")
		}
	default:
		return nil, code.New(31002, "$unset specification must be a string or an array")
	}
	root := &node{kind: inside}
	for _, v := range paths {
		path, ok := doc.AsString(v)
		if !ok {
			return nil, code.New(31120,
				"$unset specification must be a string or an array containing only string values")
		}
		if err := put(root, strings.Clone(path), &node{kind: drop}); err != nil {
			return nil, within("Invalid $unset", err)
		}
	}
	return &projectStage{"$unset", &Projection{root: root}}, nil
}
