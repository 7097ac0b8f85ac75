package update

import "github.com/mayflydb/mayfly/internal/doc"

// {$set: {path: value}}. A value of the same type and bytes is no change.
func compileSet(_ string, arg doc.Value) (*leaf, error) { return constant(arg), nil }
