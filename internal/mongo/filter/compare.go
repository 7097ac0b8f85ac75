package filter

import (
	"bytes"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/work"
)

// equal is {$eq: value} and {path: value}. A regular expression equals only itself.
// https://www.mongodb.com/docs/v7.0/reference/operator/query/eq/
func equal(_ *compiler, _ string, arg doc.Value, at spot) (condition, error) {
	if arg.Type == bsoncore.TypeUndefined {
		return condition{}, cannotCompare()
	}
	return onValues(at.path, Both, equals(arg), &Node{Kind: Equal, Value: arg}), nil
}

// notEqual is {$ne: value}.
func notEqual(c *compiler, name string, arg doc.Value, at spot) (condition, error) {
	if arg.Type == bsoncore.TypeRegex {
		return condition{}, code.New(code.BadValue, "Can't have regex as arg to $ne.")
	}
	found, err := equal(c, name, arg, at)
	if err != nil {
		return condition{}, err
	}
	return negated(found, &Node{Kind: NotEqual, Path: at.path.text, Value: arg}), nil
}

// reference is {$ref: "c"}, {$id: 1} and {$db: "d"}: the fields of a DBRef in an $elemMatch.
func reference(c *compiler, name string, arg doc.Value, at spot) (condition, error) {
	path, err := ParsePath(name)
	if err != nil {
		return condition{}, err
	}
	at.path = path
	return equal(c, name, arg, at)
}

func cannotCompare() error { return code.New(code.BadValue, "cannot compare to undefined") }

// equals is equality with a value. Missing and undefined values equal null.
func equals(with doc.Value) check {
	switch with.Type {
	case bsoncore.TypeNull:
		return func(v doc.Value, _ *work.Meter) bool { return isNullish(v) }
	case bsoncore.TypeString, bsoncore.TypeObjectID, bsoncore.TypeDateTime:
		return func(v doc.Value, m *work.Meter) bool { // the same bytes, or a value of another type
			if v.Type == with.Type {
				if n := min(len(v.Data), len(with.Data)); n > smallValue {
					_ = m.Spend(work.Copied(n))
				}
				return bytes.Equal(v.Data, with.Data)
			}
			return v.Type == bsoncore.TypeSymbol && m.Equal(v, with)
		}
	}
	if len(with.Data) <= smallValue {
		return func(v doc.Value, _ *work.Meter) bool { return v.Type != 0 && doc.EqualBSON(v, with) }
	}
	return func(v doc.Value, m *work.Meter) bool { return v.Type != 0 && m.Equal(v, with) }
}

// smallValue is the size in bytes up to which a comparison costs no more than the operator itself, which is counted.
const smallValue = 16

func isNullish(v doc.Value) bool {
	return v.Type == 0 || v.Type == bsoncore.TypeNull || v.Type == bsoncore.TypeUndefined
}

// An order is one of $lt, $lte, $gt and $gte.
type order struct {
	kind          Kind
	less, greater bool
	equal         bool
}

var orders = map[string]order{
	"$lt":  {kind: Less, less: true},
	"$lte": {kind: LessEqual, less: true, equal: true},
	"$gt":  {kind: Greater, greater: true},
	"$gte": {kind: GreaterEqual, greater: true, equal: true},
}

// compared is {$lt: value} and similar operators. They compare only values of the same type bracket.
// https://www.mongodb.com/docs/v7.0/reference/method/db.collection.find/#type-bracketing
func compared(_ *compiler, name string, arg doc.Value, at spot) (condition, error) {
	switch arg.Type {
	case bsoncore.TypeRegex:
		return condition{}, code.New(code.BadValue, "Can't have RegEx as arg to predicate over field '%s'.",
			at.path.text)
	case bsoncore.TypeUndefined:
		return condition{}, cannotCompare()
	}
	o := orders[name]
	return onValues(at.path, Both, o.than(arg), &Node{Kind: o.kind, Value: arg}), nil
}

// than compares with a value. Of different types only MinKey and MaxKey compare, and null with missing values. NaN
// equals itself, and is neither less nor greater than a number.
func (o order) than(with doc.Value) check {
	bracket := doc.CanonicalType(with)
	nan := isNaN(with)
	return func(v doc.Value, m *work.Meter) bool {
		if kind := doc.CanonicalType(v); kind != bracket {
			switch bracket {
			case doc.CanonicalNull:
				return o.equal && kind == doc.CanonicalUndefined
			case doc.CanonicalMaxKey:
				return o.less
			case doc.CanonicalMinKey:
				return o.greater
			}
			return false
		}
		if nan || isNaN(v) {
			return o.equal && nan && isNaN(v)
		}
		if len(with.Data) <= smallValue {
			return o.accepts(doc.CompareBSON(v, with))
		}
		return o.accepts(m.Compare(v, with))
	}
}

func (o order) accepts(sign int) bool {
	switch {
	case sign < 0:
		return o.less
	case sign > 0:
		return o.greater
	}
	return o.equal
}
