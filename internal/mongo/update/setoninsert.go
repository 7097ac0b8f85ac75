package update

import "github.com/mayflydb/mayfly/internal/doc"

// {$setOnInsert: {path: value}} is $set for upserts that insert.
func compileSetOnInsert(_ string, arg doc.Value) (*leaf, error) {
	l := constant(arg)
	l.insertOnly = true
	return l, nil
}
