package doc

import (
	"bytes"
	"errors"
	"math"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"
)

// everyType has a value of every type that BSON has.
func everyType() Doc {
	id := bson.ObjectID{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}
	decimal, _ := bson.ParseDecimal128("1.50E+3")
	return bsoncore.NewDocumentBuilder().
		AppendInt32("int", 5).AppendInt64("long", 5).AppendDouble("double", 5).AppendDouble("negative zero",
		math.Copysign(0, -1)).
		AppendDouble("third", 1.0/3).AppendDouble("nan", math.NaN()).AppendDouble("inf",
		math.Inf(-1)).AppendDouble("large", 1e300).
		AppendInt64("longest", math.MinInt64).AppendString("text", "a\"\u0000é").AppendNull("null").AppendBoolean("yes",
		true).
		AppendDateTime("date", 1_700_000_000_123).AppendDateTime("early", -1).AppendObjectID("id", id).
		AppendDecimal128("decimal", decimalHigh(decimal), decimalLow(decimal)).
		AppendBinary("binary", 0, []byte{1, 2}).AppendBinary("old", 2, []byte{1, 2}).AppendBinary("uuid", 4,
		make([]byte, 16)).
		AppendTimestamp("timestamp", 7, 8).AppendRegex("regex", "a/b", "i").AppendJavaScript("code", "f()").
		AppendCodeWithScope("scoped", "g()", bsoncore.NewDocumentBuilder().AppendInt64("x", 1).Build()).
		AppendSymbol("symbol", "s").AppendDBPointer("pointer", "db.c", id).AppendMinKey("min").AppendMaxKey("max").
		AppendUndefined("undefined").AppendArray("list", bsoncore.BuildArray(nil, Int32(1), Int(2), Object(Empty))).
		AppendDocument("ref", bsoncore.NewDocumentBuilder().AppendString("$ref", "c").AppendInt32("$id", 1).Build()).
		AppendDocument("query", bsoncore.NewDocumentBuilder().AppendString("$regex", "a").Build()).
		Build()
}

func decimalHigh(d bson.Decimal128) uint64 { h, _ := d.GetBytes(); return h }
func decimalLow(d bson.Decimal128) uint64  { _, l := d.GetBytes(); return l }

func fromExtended(t testing.TB, text []byte) Doc {
	t.Helper()
	d, err := FromJSON(nil, text, ParseOptions{})
	if err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	if d, err = FromExtended(d); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return d
}

func TestCanonicalJSONKeepsEveryType(t *testing.T) {
	want := everyType()
	text := AppendCanonicalJSON(nil, want)
	if got := fromExtended(t, text); !bytes.Equal(got, want) {
		t.Errorf("%s\nbecame\n%s", text, AppendCanonicalJSON(nil, got))
	}
	var theirs bson.Raw
	if err := bson.UnmarshalExtJSON(text, true, &theirs); err != nil || !bytes.Equal(theirs, want) {
		t.Errorf("the driver reads %s\nas %s, %v", text, theirs, err)
	}
	// What the driver writes is read as well, in both forms.
	for _, canonical := range []bool{true, false} {
		text, err := bson.MarshalExtJSON(bson.Raw(want), canonical, false)
		if err != nil {
			t.Fatal(err)
		}
		var again bson.Raw
		if err := bson.UnmarshalExtJSON(text, canonical, &again); err != nil {
			t.Fatal(err)
		}
		if got := fromExtended(t, text); !bytes.Equal(got, again) && canonical {
			t.Errorf("%s\nbecame\n%s", text, AppendCanonicalJSON(nil, got))
		}
	}
	relaxed := AppendRelaxedJSON(nil, want)
	if again := AppendRelaxedJSON(nil, fromExtended(t, relaxed)); !bytes.Equal(relaxed, again) {
		t.Errorf("%s\nbecame\n%s", relaxed, again)
	}
}

func TestFromExtended(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{`{"a":1,"b":2147483648,"c":18446744073709551615,"d":1.5}`,
			`{"a":{"$numberInt":"1"},"b":{"$numberLong":"2147483648"},"c":{"$numberDouble":"1.8446744073709552E+19"},"d":{"$numberDouble":"1.5"}}`},
		{`{"a":{"$date":"2023-11-14T22:13:20.123Z"}}`, `{"a":{"$date":{"$numberLong":"1700000000123"}}}`},
		{`{"a":{"$date":"2023-11-14T23:13:20+0100"}}`, `{"a":{"$date":{"$numberLong":"1700000000000"}}}`},
		{`{"a":{"$date":1700000000123}}`, `{"a":{"$date":{"$numberLong":"1700000000123"}}}`},
		{`{"a":{"$binary":"AQI=","$type":"00"}}`, `{"a":{"$binary":{"base64":"AQI=","subType":"00"}}}`},
		{`{"a":{"$uuid":"00112233-4455-6677-8899-aabbccddeeff"}}`,
			`{"a":{"$binary":{"base64":"ABEiM0RVZneImaq7zN3u/w==","subType":"04"}}}`},
		{`{"a":{"$regex":"x","$options":"i"}}`, `{"a":{"$regularExpression":{"pattern":"x","options":"i"}}}`},
		{`{"a":{"$other":1}}`, `{"a":{"$other":{"$numberInt":"1"}}}`},
		{`{"a":{"x":1,"$oid":2}}`, `{"a":{"x":{"$numberInt":"1"},"$oid":{"$numberInt":"2"}}}`},
	} {
		if got := string(AppendCanonicalJSON(nil, fromExtended(t, []byte(c.text)))); got != c.want {
			t.Errorf("%s\nbecame %s\nwant   %s", c.text, got, c.want)
		}
	}
	for _, text := range []string{
		`{"$oid":"01"}`, `{"$oid":"0102030405060708090a0b0c","x":1}`, `{"$oid":1}`, `{"$date":"today"}`,
		`{"$date":{"$numberLong":"x"}}`,
		`{"$binary":{"base64":"?","subType":"00"}}`, `{"$binary":{"base64":"AQI="}}`, `{"$uuid":"00"}`,
		`{"$timestamp":{"t":-1,"i":0}}`,
		`{"$numberInt":"2147483648"}`, `{"$numberLong":"1.5"}`, `{"$numberDouble":"x"}`, `{"$numberDecimal":"x"}`,
		`{"$regularExpression":{"pattern":"a\u0000","options":""}}`, `{"$code":1}`,
		`{"$code":"x","$scope":{"a":{"$oid":"1"}}}`,
		`{"$dbPointer":{"$ref":"c","$id":{"$oid":"1"}}}`, `{"$undefined":false}`, `{"$minKey":2}`,
	} {
		d, err := FromJSON(nil, []byte(`{"a":`+text+`}`), ParseOptions{})
		if err != nil {
			t.Fatal(err)
		}
		var e *Error
		if _, err = FromExtended(d); !errors.As(err, &e) {
			t.Errorf("%s: %v, want an error", text, err)
		}
	}
}

func FuzzFromExtended(f *testing.F) {
	f.Add(AppendCanonicalJSON(nil, everyType()))
	f.Add(AppendRelaxedJSON(nil, everyType()))
	f.Fuzz(func(t *testing.T, text []byte) {
		d, err := FromJSON(nil, text, ParseOptions{})
		if err != nil {
			return
		}
		if d, err = FromExtended(d); err != nil {
			return
		}
		if err := bsoncore.Document(d).Validate(); err != nil {
			t.Fatalf("%v: %x", err, d)
		}
		canonical := AppendCanonicalJSON(nil, d)
		again, err := FromJSON(nil, canonical, ParseOptions{MaxBytes: 64 << 20})
		if err != nil {
			return // deeper than the limit, now that values have objects around them
		}
		if again, err = FromExtended(again); err != nil || !bytes.Equal(again, d) {
			t.Fatalf("%s\nbecame %s, %v", canonical, AppendCanonicalJSON(nil, again), err)
		}
	})
}
