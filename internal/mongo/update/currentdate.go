package update

import (
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/expression"
)

// {$currentDate: {path: true}} or {path: {$type: "date"}} sets Input.Now as a date,
// {$type: "timestamp"} the cluster time. It is a change even if the value is the same.
func compileCurrentDate(_ string, arg doc.Value, _ *expression.Names) (*leaf, error) {
	asDate := true
	switch arg.Type {
	case bsoncore.TypeBoolean:
	case bsoncore.TypeEmbeddedDocument:
		var err error
		if asDate, err = dateType(arg.Data); err != nil {
			return nil, err
		}
	default:
		return nil, code.New(code.BadValue, "%s is not valid type for $currentDate. Please use a boolean ('true')"+
			" or a $type expression ({$type: 'timestamp/date'}).", code.TypeName(arg))
	}
	return &leaf{creates: true, change: func(x *run, dst []byte, _ doc.Value) ([]byte, bsoncore.Type, outcome, error) {
		v := x.in.timestamp()
		if asDate {
			v = doc.Date(x.in.Now.UnixMilli())
		}
		return append(dst, v.Data...), v.Type, written, nil
	}}, nil
}

func dateType(d doc.Doc) (asDate bool, err error) {
	found := false
	for name, v := range doc.Members(d) {
		if name != "$type" {
			return false, code.New(code.BadValue, "Unrecognized $currentDate option: %s", name)
		}
		kind, _ := doc.AsString(v)
		if kind == "date" || kind == "timestamp" {
			found, asDate = true, kind == "date"
		}
	}
	if !found {
		return false, code.New(code.BadValue, "The '$type' string field is required "+
			"to be 'date' or 'timestamp': {$currentDate: {field : {$type: 'date'}}}")
	}
	return asDate, nil
}
