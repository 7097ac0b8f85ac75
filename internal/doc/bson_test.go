package doc

import (
	"math"
	"testing"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"
)

func TestBSONConstructors(t *testing.T) {
	members := bsoncore.Document(object(
		"int", Int32(-5), "double", Double(math.Copysign(0, -1)), "date", Date(-1), "timestamp", Timestamp(7, 9),
		"id", ObjectID([12]byte{1, 11: 2}), "array", array(Int32(1)), "decimal", DecimalOf(-3).Value(),
	).Data)
	if err := members.Validate(); err != nil {
		t.Fatal(err)
	}
	const want = `{"int": {"$numberInt":"-5"},"double": {"$numberDouble":"-0.0"},"date": ` +
		`{"$date":{"$numberLong":"-1"}},"timestamp": {"$timestamp":{"t":7,"i":9}},"id": ` +
		`{"$oid":"010000000000000000000002"},"array": [{"$numberInt":"1"}],"decimal": {"$numberDecimal":"-3"}}`
	if got := members.String(); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

func TestBSONAccessors(t *testing.T) {
	if ms, ok := AsDate(Date(math.MinInt64)); ms != math.MinInt64 || !ok {
		t.Errorf("date: %d, %t", ms, ok)
	}
	if _, ok := AsDate(Int(1)); ok {
		t.Error("a number is a date")
	}
	code, around := CodeWithScope(scoped("f", object("a", Null())))
	if string(code) != "f" || Lookup(around, "a").Type != bsoncore.TypeNull {
		t.Errorf("code %q, scope %v", code, around)
	}
	for _, data := range [][]byte{nil, {1, 2, 3}, {9, 0, 0, 0, 9, 0, 0, 0, 0}} {
		if code, around := CodeWithScope(Value{Type: bsoncore.TypeCodeWithScope, Data: data}); code != nil ||
			around != nil {
			t.Errorf("%x: code %q, scope %v", data, code, around)
		}
	}
}
