package literal

import (
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
)

func TestExtendedJSON(t *testing.T) {
	for text, want := range map[string]string{
		`[{$match: {a: {$gt: 5}}}, {$limit: 1}]`:       `[{"$match":{"a":{"$gt":5}}},{"$limit":1}]`,
		`{'a.b': "x", c: 'it\'s', "d": [1, 2,],}`:      `{"a.b":"x","c":"it's","d":[1,2]}`,
		`{z: 1, a: 2} // a comment`:                    `{"z":1,"a":2}`,
		`{1: true, b: null, c: undefined}`:             `{"1":true,"b":null,"c":{"$undefined":true}}`,
		`-5`:                                           `-5`,
		`[1.0, 0.5, -0, 1e3, 9007199254740993]`:        `[1,{"$numberDouble":"0.5"},{"$numberDouble":"-0.0"},1000,9007199254740993]`,
		`[NaN, -Infinity]`:                             `[{"$numberDouble":"NaN"},{"$numberDouble":"-Infinity"}]`,
		`/^a\/b/i`:                                     `{"$regularExpression":{"options":"i","pattern":"^a\\/b"}}`,
		`ObjectId("65E5f5f0a1b2c3d4e5f60718")`:         `{"$oid":"65e5f5f0a1b2c3d4e5f60718"}`,
		`ISODate("2026-03-01T12:00:00Z")`:              `{"$date":{"$numberLong":"1772366400000"}}`,
		`new Date("2026-03-01")`:                       `{"$date":{"$numberLong":"1772323200000"}}`,
		`new Date(-1)`:                                 `{"$date":{"$numberLong":"-1"}}`,
		`NumberLong("9223372036854775807")`:            `{"$numberLong":"9223372036854775807"}`,
		`NumberDecimal("1.50")`:                        `{"$numberDecimal":"1.50"}`,
		`UUID("3b241101-e2bb-4255-8caf-4136c566a962")`: `{"$binary":{"base64":"OyQRAeK7QlWMr0E2xWapYg==","subType":"04"}}`,
		`BinData(0, "aGVsbG8=")`:                       `{"$binary":{"base64":"aGVsbG8=","subType":"00"}}`,
		`Timestamp(1, 2)`:                              `{"$timestamp":{"i":2,"t":1}}`,
		`[MinKey, MaxKey()]`:                           `[{"$minKey":1},{"$maxKey":1}]`,
		"`text`":                                       `"text"`,
		`{"$date": "2026-03-01T12:00:00Z"}`:            `{"$date":"2026-03-01T12:00:00Z"}`,
	} {
		got, err := ExtendedJSON(text)
		if err != nil || string(got) != want {
			t.Errorf("%s: %s, error %v, want %s", text, got, err, want)
		}
		var d bson.D
		if err := bson.UnmarshalExtJSON([]byte(`{"v":`+string(got)+`}`), false, &d); err != nil {
			t.Errorf("%s: the driver reads %s with error %v", text, got, err)
		}
	}
}

func TestWhatIsNoLiteral(t *testing.T) {
	for text, want := range map[string]string{
		``:                            "ends in the middle",
		`{a: }`:                       "line 1, column 5",
		"{a: 1,\n b: ]}":              "line 2, column 5",
		`{a: 1}; {b: 2}`:              "line 1, column 7",
		`1 + 2`:                       "no literal",
		`{a: b}`:                      "b is no value: put texts in quotes",
		`{a}`:                         "name: value",
		`{[a]: 1}`:                    "name: value",
		`{...a}`:                      "name: value",
		`[1,,2]`:                      "missing",
		`(function() { for(;;); })()`: "no literal",
		`process.exit()`:              "no literal",
		`require("fs")`:               "there is no require here",
		`ObjectId("x")`:               "24 hexadecimal digits",
		`ISODate()`:                   "write it like",
		`ISODate("soon")`:             "soon",
		`NumberInt(2147483648)`:       "2147483647",
		`ObjectId([1])`:               "a text or a number",
		`1e999`:                       "too large",
		strings.Repeat("[", 1<<17):    "the most",
		strings.Repeat("[", 1<<15):    "ends in the middle",
		strings.Repeat("-", 1<<15):    "ends in the middle",
	} {
		got, err := ExtendedJSON(text)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40s: %s, error %v, want %q", text, got, err, want)
		}
	}
}

func FuzzExtendedJSON(f *testing.F) {
	for _, text := range []string{`{a: 1}`, `[ObjectId("65e5f5f0a1b2c3d4e5f60718")]`, `/a/i`, `-0.5`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := ExtendedJSON(text)
		if err != nil {
			return
		}
		if _, err := ExtendedJSON(string(got)); err != nil {
			t.Errorf("%q becomes %s, which is no literal: %v", text, got, err)
		}
	})
}
