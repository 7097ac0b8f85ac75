package update

import (
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/expression"
)

// {$setOnInsert: {path: value}} is $set for upserts that insert.
func compileSetOnInsert(_ string, arg doc.Value, _ *expression.Names) (*leaf, error) {
	l := constant(arg)
	l.insertOnly = true
	return l, nil
}
