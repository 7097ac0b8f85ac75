package update

import (
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/expression"
	"github.com/mayflydb/mayfly/internal/mongo/work"
)

// {$pop: {path: 1}} removes the last element, {path: -1} the first.
func compilePop(field string, arg doc.Value, _ *expression.Names) (*leaf, error) {
	which, err := integer(func() string { return elementText(field, arg) }, arg)
	if err != nil {
		return nil, err
	}
	if which != 1 && which != -1 {
		return nil, code.New(code.FailedToParse, "$pop expects 1 or -1, found: %d", which)
	}
	return &leaf{change: func(x *run, dst []byte, old doc.Value) ([]byte, bsoncore.Type, outcome, error) {
		if !doc.IsArray(old) {
			return dst, 0, kept, code.New(code.TypeMismatch, "Path '%s' contains an element of non-array type '%s'",
				x.dotted(), code.TypeName(old))
		}
		if err := x.in.Meter.Spend(work.Scanned(len(old.Data))); err != nil {
			return dst, 0, kept, err
		}
		return pop(dst, old, which < 0)
	}}, nil
}

func pop(dst []byte, old doc.Value, first bool) ([]byte, bsoncore.Type, outcome, error) {
	if len(old.Data) <= 5 {
		return dst, 0, kept, nil
	}
	if first {
		a := beginArray(dst)
		skipped := false
		for e := range doc.Elements(old) {
			if skipped {
				a.add(e)
			}
			skipped = true
		}
		return a.end(), bsoncore.TypeArray, written, nil
	}
	start, last, at := len(dst), 4, 4
	for name, e := range doc.Members(old.Data) {
		last = at
		at += 2 + len(name) + len(e.Data)
	}
	return end(append(dst, old.Data[:last]...), start), bsoncore.TypeArray, written, nil
}
