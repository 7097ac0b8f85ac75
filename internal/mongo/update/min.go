package update

import (
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/expression"
)

// {$min: {path: value}} sets value if it is less than the old one, in MongoDB's order of all values.
func compileMin(_ string, arg doc.Value, _ *expression.Names) (*leaf, error) {
	return extreme(arg, -1), nil
}

// extreme sets v if its comparison with the old value gives side.
func extreme(v doc.Value, side int) *leaf {
	return &leaf{creates: true, depth: depthOf(v),
		change: func(x *run, dst []byte, old doc.Value) ([]byte, bsoncore.Type, outcome, error) {
			if !doc.IsUndefined(old) && x.in.Meter.Compare(v, old) != side {
				return dst, 0, kept, nil
			}
			return append(dst, v.Data...), v.Type, written, nil
		}}
}
