package update

import "github.com/mayflydb/mayfly/internal/doc"

// {$max: {path: value}} sets value where it is above what is there, in MongoDB's
// order of all values.
func compileMax(_ string, arg doc.Value) (*leaf, error) { return extreme(arg, +1), nil }
