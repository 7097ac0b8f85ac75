package filter

import (
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/work"
)

// typeOf is {$type: "string"}, {$type: 2} and {$type: ["string", 2]}. It tests the elements of an array and the array.
// https://www.mongodb.com/docs/v7.0/reference/operator/query/type/
func typeOf(_ *compiler, _ string, arg doc.Value, at spot) (condition, error) {
	set, err := typesOf(arg, typeAliases)
	if err != nil {
		return condition{}, err
	}
	if set == (types{}) {
		return condition{}, code.New(code.FailedToParse, "%s must match at least one type", at.path.text)
	}
	return onValues(at.path, Both, set.check(), &Node{Kind: Type, Types: set.list()}), nil
}

// list is the types of the set.
func (t *types) list() (list []bsoncore.Type) {
	for i, in := range t {
		if in {
			list = append(list, bsoncore.Type(i))
		}
	}
	return list
}

// A types is a set of BSON types.
type types [256]bool

func (t *types) has(v doc.Value) bool { return v.Type != 0 && t[v.Type] }

func (t types) check() check { return func(v doc.Value, _ *work.Meter) bool { return t.has(v) } }

func (t *types) add(kinds ...bsoncore.Type) {
	for _, k := range kinds {
		t[k] = true
	}
}

func setOf(kinds ...bsoncore.Type) types {
	var t types
	t.add(kinds...)
	return t
}

var numbers = []bsoncore.Type{bsoncore.TypeDouble, bsoncore.TypeInt32, bsoncore.TypeInt64, bsoncore.TypeDecimal128}

// typeAliases are the names of types.
// https://www.mongodb.com/docs/v7.0/reference/bson-types/
var typeAliases = map[string][]bsoncore.Type{
	"array":               {bsoncore.TypeArray},
	"binData":             {bsoncore.TypeBinary},
	"bool":                {bsoncore.TypeBoolean},
	"date":                {bsoncore.TypeDateTime},
	"dbPointer":           {bsoncore.TypeDBPointer},
	"decimal":             {bsoncore.TypeDecimal128},
	"double":              {bsoncore.TypeDouble},
	"int":                 {bsoncore.TypeInt32},
	"javascript":          {bsoncore.TypeJavaScript},
	"javascriptWithScope": {bsoncore.TypeCodeWithScope},
	"long":                {bsoncore.TypeInt64},
	"maxKey":              {bsoncore.TypeMaxKey},
	"minKey":              {bsoncore.TypeMinKey},
	"null":                {bsoncore.TypeNull},
	"number":              numbers,
	"object":              {bsoncore.TypeEmbeddedDocument},
	"objectId":            {bsoncore.TypeObjectID},
	"regex":               {bsoncore.TypeRegex},
	"string":              {bsoncore.TypeString},
	"symbol":              {bsoncore.TypeSymbol},
	"timestamp":           {bsoncore.TypeTimestamp},
	"undefined":           {bsoncore.TypeUndefined},
}

// typesOf parses one type or an array of types.
func typesOf(arg doc.Value, aliases map[string][]bsoncore.Type) (set types, err error) {
	if arg.Type != bsoncore.TypeArray {
		return set, set.read(arg, aliases)
	}
	for e := range doc.Elements(arg) {
		if err := set.read(e, aliases); err != nil {
			return set, err
		}
	}
	return set, nil
}

func (t *types) read(arg doc.Value, aliases map[string][]bsoncore.Type) error {
	if alias, ok := doc.AsString(arg); ok {
		kinds := aliases[alias]
		if kinds == nil {
			return code.New(code.BadValue, "Unknown type name alias: %s", alias)
		}
		t.add(kinds...)
		return nil
	}
	if !doc.IsNumberBSON(arg) {
		return code.New(code.TypeMismatch, "type must be represented as a number or a string")
	}
	n, ok := doc.AsInt64Exact(arg)
	switch {
	case ok && n == 0:
		return code.New(code.BadValue, "Invalid numerical type code: 0. Instead use {$exists:false}.")
	case ok && n == -1:
		t.add(bsoncore.TypeMinKey)
	case ok && (n >= 1 && n <= int64(bsoncore.TypeDecimal128) || n == int64(bsoncore.TypeMaxKey)):
		t.add(bsoncore.Type(n))
	default:
		return code.New(code.BadValue, "Invalid numerical type code: %s", code.Show(arg))
	}
	return nil
}
