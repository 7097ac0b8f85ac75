package filter

import (
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/expression"
	"github.com/mayflydb/mayfly/internal/mongo/work"
)

// exists is {$exists: true}. A null exists. An argument such as 0 or null counts as false.
// https://www.mongodb.com/docs/v7.0/reference/operator/query/exists/
func exists(_ *compiler, _ string, arg doc.Value, at spot) (condition, error) {
	there := check(func(v doc.Value, _ *work.Meter) bool { return v.Type != 0 })
	found := onValues(at.path, Both, there, &Node{Kind: Exists})
	if expression.Truthy(arg) {
		return found, nil
	}
	return negated(found, &Node{Kind: Missing, Path: at.path.text}), nil
}
