package doc

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"
)

func mustDoc(t testing.TB, text string) Doc {
	t.Helper()
	d, err := FromJSON(nil, []byte(text), ParseOptions{})
	if err != nil {
		t.Fatalf("FromJSON(%s): %v", text, err)
	}
	if err := d.Validate(); err != nil {
		t.Fatalf("FromJSON(%s) is not BSON: %v", text, err)
	}
	return d
}

func mustValue(t testing.TB, text string) Value {
	t.Helper()
	if text == "" {
		return Value{}
	}
	v, err := ValueFromJSON([]byte(text))
	if err != nil {
		t.Fatalf("ValueFromJSON(%s): %v", text, err)
	}
	return v
}

func TestJSONThereAndBack(t *testing.T) {
	cases := []struct{ name, in, out string }{
		{"empty", `{}`, `{}`},
		{"space", " \t\r\n{ \"a\" : [ 1 , 2 ] , \"b\" : { } } \n", `{"a":[1,2],"b":{}}`},
		{"literals", `{"t":true,"f":false,"n":null}`, `{"t":true,"f":false,"n":null}`},
		{"order of members", `{"b":1,"a":2,"":3}`, `{"b":1,"a":2,"":3}`},
		{"nested", `{"a":[[],[{}],{"b":[null]}]}`, `{"a":[[],[{}],{"b":[null]}]}`},
		{"twelve elements", `{"a":[0,1,2,3,4,5,6,7,8,9,10,11]}`, `{"a":[0,1,2,3,4,5,6,7,8,9,10,11]}`},

		{"unicode stays", `{"é":"héllo 日本 😀"}`, `{"é":"héllo 日本 😀"}`},
		{"escapes", `{"a":"\"\\\/\b\f\n\r\t\u00e9\u0041"}`, `{"a":"\"\\/\b\f\n\r\téA"}`},
		{"escaped name", `{"a\"\u0041\n":1}`, `{"a\"A\n":1}`},
		{"nul in string", `{"a":"a\u0000b"}`, `{"a":"a\u0000b"}`},
		{"control characters", `{"a":"\u001f\u007F"}`, "{\"a\":\"\\u001f\x7f\"}"},
		{"surrogate pair", `{"a":"\ud83d\ude00"}`, `{"a":"😀"}`},
		{"lone high surrogate", `{"a":"a\ud800b"}`, `{"a":"a` + "\uFFFD" + `b"}`},
		{"lone high surrogate at the end", `{"a":"\ud800"}`, `{"a":"` + "\uFFFD" + `"}`},
		{"lone low surrogate", `{"a":"\udc00\n"}`, `{"a":"` + "\uFFFD" + `\n"}`},
		{"two high surrogates", `{"a":"\ud800\ud83d\ude00"}`, `{"a":"` + "\uFFFD" + `😀"}`},
		{"escape at each place of a word", `{"a":"1234567\"1234567\\12345678\n"}`,
			`{"a":"1234567\"1234567\\12345678\n"}`},

		{"repeated name", `{"a":1,"b":2,"a":3}`, `{"b":2,"a":3}`},
		{"thrice", `{"a":1,"a":{"x":1,"x":2},"b":2,"a":[3]}`, `{"b":2,"a":[3]}`},
		{"repeated in depth", `{"o":{"a":1,"a":2},"p":[{"q":1,"q":2}]}`, `{"o":{"a":2},"p":[{"q":2}]}`},
		{"same name at two depths", `{"a":{"a":{"a":1}}}`, `{"a":{"a":{"a":1}}}`},
		{"repeated by escape", `{"a":1,"\u0061":2}`, `{"a":2}`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			d := mustDoc(t, c.in)
			if got := string(AppendJSON(nil, d)); got != c.out {
				t.Errorf("got  %s\nwant %s", got, c.out)
			}
		})
	}
}

// The answers come from recordings of a hosted account, except where marked.
func TestNumbers(t *testing.T) {
	cases := []struct{ in, read, query string }{
		{"9007199254740993", "9007199254740993", "9007199254740993"},
		{"18446744073709551615", "18446744073709551615", "1.8446744073709552e+19"},
		{"-9223372036854775808", "-9223372036854775808", "-9223372036854775808"},
		{"18446744073709551616", "1.8446744073709552e+019", "1.8446744073709552e+19"},
		{"123456789012345678901234567890", "1.2345678901234568e+029", "1.2345678901234568e+29"},
		{"0.1000000000000000055511151231257827", "0.1", "0.1"},
		{"1.0", "1", "1"},
		{"-0.0", "0", "0"},
		{"1.7976931348623157e308", "1.7976931348623157e+308", "1.7976931348623157e+308"},
		{"5e-324", "4.94065645841247e-324", "4.94065645841247e-324"},
		{"1e-400", "0", "0"},
		{"12345678901234567890.123", "1.2345678901234567e+019", "1.2345678901234567e+19"},
		{"0.3333333333333333", "0.33333333333333331", "0.33333333333333331"},
		{"0.30000000000000004", "0.30000000000000004", "0.30000000000000004"},
		{"-0.59946542619465426", "-0.59946542619465426", "-0.59946542619465426"},
		// From here on by the same rule.
		{"0", "0", "0"},
		{"-0", "0", "0"},
		{"-1", "-1", "-1"},
		{"9223372036854775807", "9223372036854775807", "9223372036854775807"},
		{"9223372036854775808", "9223372036854775808", "9.2233720368547758e+18"},
		{"-9223372036854775809", "-9.2233720368547758e+018", "-9.2233720368547758e+18"},
		{"99999999999999999999", "1e+020", "1e+20"},
		{"1.5", "1.5", "1.5"},
		{"-12.25", "-12.25", "-12.25"},
		{"1E+2", "100", "100"},
		{"0.0001", "0.0001", "0.0001"},
		{"0.00012", "0.00012", "0.00012"},
		{"0.00001", "1e-005", "1e-05"},
		{"1e-7", "1e-007", "1e-07"},
		{"1e300", "1e+300", "1e+300"},
		{"1e16", "10000000000000000", "10000000000000000"},
		{"1e17", "1e+017", "1e+17"},
		{"123456.789", "123456.789", "123456.789"},
		{"1e-308", "1e-308", "1e-308"},
		{"2.2250738585072014e-308", "2.2250738585072014e-308", "2.2250738585072014e-308"},
		{"0." + strings.Repeat("0", 2000) + "1", "0", "0"},
		{"1." + strings.Repeat("0", 2000), "1", "1"},
	}
	for _, c := range cases {
		t.Run(c.in[:min(len(c.in), 40)], func(t *testing.T) {
			v := mustValue(t, c.in)
			if got := string(AppendJSONValue(nil, v)); got != c.read {
				t.Errorf("point read: got %s, want %s", got, c.read)
			}
			if got := string(Query.AppendJSONValue(nil, v)); got != c.query {
				t.Errorf("query: got %s, want %s", got, c.query)
			}
			if back := mustValue(t, c.read); !Equal(v, back) {
				t.Errorf("%s reads back as %s", c.read, back)
			}
		})
	}
}

func TestNumberTypes(t *testing.T) {
	cases := []struct {
		in   string
		kind bsoncore.Type
	}{
		{"1", bsoncore.TypeInt64},
		{"-9223372036854775808", bsoncore.TypeInt64},
		{"9223372036854775808", bsoncore.TypeDecimal128},
		{"18446744073709551616", bsoncore.TypeDouble},
		{"1.0", bsoncore.TypeDouble},
		{"1e0", bsoncore.TypeDouble},
	}
	for _, c := range cases {
		if v := mustValue(t, c.in); v.Type != c.kind {
			t.Errorf("%s is a %v, want %v", c.in, v.Type, c.kind)
		}
	}
}

func TestRefusedJSON(t *testing.T) {
	deep := func(n int) string { return strings.Repeat(`{"a":`, n-1) + "{}" + strings.Repeat("}", n-1) }
	cases := []struct{ name, in, message string }{
		{"nothing", ``, "ends too early at byte 0"},
		{"space", `  `, "ends too early at byte 2"},
		{"scalar", `1`, "A JSON object was expected at byte 0"},
		{"array", `[]`, "A JSON object was expected at byte 0"},
		{"byte order mark", "\uFEFF{}", "A JSON object was expected"},
		{"two values", `{} {}`, "Nothing may follow"},
		{"cut in object", `{"a":1`, "ends too early at byte 6"},
		{"cut in name", `{"a`, "ends too early at byte 3"},
		{"cut in escape", `{"a":"\`, "ends too early"},
		{"cut in \\u", `{"a":"\u12`, "escape"},
		{"cut in literal", `{"a":tr`, "A JSON value was expected at byte 5"},
		{"trailing comma", `{"a":1,}`, "The name of a member, in double quotes, was expected at byte 7"},
		{"trailing comma in array", `{"a":[1,]}`, "A JSON value was expected at byte 8"},
		{"no comma", `{"a":1 "b":2}`, "A comma or '}' was expected at byte 7"},
		{"no comma in array", `{"a":[1 2]}`, "A comma or ']' was expected at byte 8"},
		{"wrong bracket", `{"a":[1}`, "A comma or ']' was expected"},
		{"no colon", `{"a" 1}`, "A colon was expected at byte 5"},
		{"bare name", `{a:1}`, "The name of a member"},
		{"single quotes", `{'a':1}`, "The name of a member"},
		{"comment", `{/**/}`, "The name of a member"},
		{"NaN", `{"a":NaN}`, "A JSON value was expected at byte 5"},
		{"Infinity", `{"a":-Infinity}`, "A digit was expected at byte 6"},
		{"1e400", `{"a":1e400}`, "beyond the range of a double stands at byte 5"},
		{"400 digits", `{"a":` + strings.Repeat("9", 400) + `}`, "beyond the range"},
		{"leading zero", `{"a":01}`, "needless zero, as it does at byte 5"},
		{"minus leading zero", `{"a":-01}`, "needless zero"},
		{"plus", `{"a":+1}`, "A JSON value was expected"},
		{"no fraction", `{"a":1.}`, "A digit was expected at byte 7"},
		{"no whole part", `{"a":.5}`, "A JSON value was expected"},
		{"no exponent", `{"a":1e}`, "A digit was expected"},
		{"hexadecimal", `{"a":0x1}`, "A comma or '}' was expected"},
		{"raw control character", "{\"a\":\"\n\"}", "A control character must be escaped"},
		{"unknown escape", `{"a":"\x"}`, "An escape that JSON does not have"},
		{"bad \\u", `{"a":"\u12g4"}`, "An escape that JSON does not have"},
		{"invalid UTF-8", "{\"a\":\"\xff\"}", "Invalid UTF-8"},
		{"UTF-8 of a surrogate", "{\"a\":\"\xed\xa0\x80\"}", "Invalid UTF-8"},
		{"NUL in a name", `{"a\u0000b":1}`, "may not hold a NUL"},
		{"NUL between", "{\"a\":1\x00}", "A comma or '}' was expected"},
		{"too deep", deep(MaxDepth + 1), "128 deep and no deeper"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			d, err := FromJSON(nil, []byte(c.in), ParseOptions{})
			var e *Error
			if !errors.As(err, &e) {
				t.Fatalf("got %v, %v", d, err)
			}
			if !strings.Contains(e.Message, c.message) || e.TooLarge {
				t.Errorf("got %+v, want %q", e, c.message)
			}
		})
	}
	mustDoc(t, deep(MaxDepth))
}

func TestTooLargeJSON(t *testing.T) {
	var e *Error
	_, err := FromJSON(nil, []byte(`{"a":1}`), ParseOptions{MaxBytes: 6})
	if !errors.As(err, &e) || !e.TooLarge {
		t.Errorf("got %v", err)
	}
	if _, err := FromJSON(nil, []byte(`{"a":1}`), ParseOptions{MaxBytes: 7}); err != nil {
		t.Error(err)
	}
	_, err = FromJSON(nil, []byte(`{"a":"`+strings.Repeat("x", MaxBytes)+`"}`), ParseOptions{})
	if !errors.As(err, &e) || !e.TooLarge {
		t.Errorf("got %v", err)
	}
}

func TestSkip(t *testing.T) {
	opts := ParseOptions{Skip: func(name []byte) bool { return name[0] == '_' }}
	d, err := FromJSON([]byte("xyz"), []byte(`{"_rid":{"_a":1},"a":{"_b":1},"_ts":1,"_ts":2}`), opts)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(AppendJSON(nil, d)), `{"a":{"_b":1}}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// The last of many members with the same name stays, found without comparing each with each.
func TestManyMembers(t *testing.T) {
	var in, out strings.Builder
	const n = 50_000
	for i := range n {
		fmt.Fprintf(&in, `,"m%d":1`, i)
	}
	for i := range n {
		fmt.Fprintf(&in, `,"m%d":2`, i)
		fmt.Fprintf(&out, `,"m%d":2`, i)
	}
	d := mustDoc(t, "{"+in.String()[1:]+"}")
	if got, want := string(AppendJSON(nil, d)), "{"+out.String()[1:]+"}"; got != want {
		t.Errorf("got %d bytes, want %d", len(got), len(want))
	}
}

func TestArrayFromJSON(t *testing.T) {
	cases := []struct {
		in, out string
		fails   bool
	}{
		{`[]`, ``, false},
		{` [ 1 , "a" , {"b":[2]} , [3] , null ] `, `1 "a" {"b":[2]} [3] null `, false},
		{`[1,2`, `1 2 `, true},
		{`[1,]`, `1 `, true},
		{`[1] 2`, `1 `, true},
		{`{}`, ``, true},
		{``, ``, true},
	}
	for _, c := range cases {
		t.Run(c.in, func(t *testing.T) {
			var got []byte
			var failed error
			for v, err := range ArrayFromJSON([]byte(c.in), ParseOptions{}) {
				if failed = err; err == nil {
					got = append(AppendJSONValue(got, v), ' ')
				}
			}
			if string(got) != c.out || (failed != nil) != c.fails {
				t.Errorf("got %q and %v, want %q", got, failed, c.out)
			}
		})
	}
	for v := range ArrayFromJSON([]byte(`[1,2]`), ParseOptions{}) {
		if i, _ := AsInt(v); i != 1 {
			t.Errorf("left the loop, but got %v", v)
		}
		break
	}
}

func TestAppendMembers(t *testing.T) {
	for in, want := range map[string]string{`{}`: ``, `{"a":1,"b":{"c":2}}`: `"a":1,"b":{"c":2}`} {
		if got := string(AppendMembers(nil, mustDoc(t, in))); got != want {
			t.Errorf("%s: got %s, want %s", in, got, want)
		}
	}
}

func TestAppendJSONString(t *testing.T) {
	for in, want := range map[string]string{
		"":              `""`,
		"a\"b\\c/\x01é": `"a\"b\\c/\u0001é"`,
		"a\xffb":        "\"a\uFFFDb\"",
	} {
		if got := string(AppendJSONString(nil, in)); got != want {
			t.Errorf("%q: got %s, want %s", in, got, want)
		}
	}
}

func TestExtendedJSON(t *testing.T) {
	id := [12]byte{0x50, 0x7f, 11: 0xff}
	cases := []struct {
		name string
		v    Value
		want string
	}{
		{"undefined value", Value{}, `null`},
		{"NaN", Float(nan), `"NaN"`},
		{"infinity", Float(inf), `"Infinity"`},
		{"minus infinity", Float(-inf), `"-Infinity"`},
		{"negative zero", Value{Type: bsoncore.TypeDouble, Data: []byte{7: 0x80}}, `0`},
		{"int32", Value{Type: bsoncore.TypeInt32, Data: bsoncore.AppendInt32(nil, -5)}, `-5`},
		{"object id", Value{Type: bsoncore.TypeObjectID, Data: id[:]}, `{"$oid":"507f000000000000000000ff"}`},
		{"date", Value{Type: bsoncore.TypeDateTime, Data: bsoncore.AppendDateTime(nil, 1791622994500)},
			`{"$date":"2026-10-10T09:03:14.5Z"}`},
		{"date before 1970", Value{Type: bsoncore.TypeDateTime, Data: bsoncore.AppendDateTime(nil, -1)},
			`{"$date":{"$numberLong":"-1"}}`},
		{"binary", Value{Type: bsoncore.TypeBinary, Data: bsoncore.AppendBinary(nil, 0, []byte{1, 2})},
			`{"$binary":{"base64":"AQI=","subType":"00"}}`},
		{"old binary", Value{Type: bsoncore.TypeBinary, Data: bsoncore.AppendBinary(nil, 2, []byte{1, 2})},
			`{"$binary":{"base64":"AQI=","subType":"02"}}`},
		{"decimal", Value{Type: bsoncore.TypeDecimal128, Data: bsoncore.AppendDecimal128(nil, 0x303e000000000000, 15)},
			`{"$numberDecimal":"1.5"}`},
		{"whole decimal", Value{Type: bsoncore.TypeDecimal128, Data: bsoncore.AppendDecimal128(nil, wholeDecimal, 15)},
			`15`},
		{"timestamp", Value{Type: bsoncore.TypeTimestamp, Data: bsoncore.AppendTimestamp(nil, 7, 8)},
			`{"$timestamp":{"t":7,"i":8}}`},
		{"regex", Value{Type: bsoncore.TypeRegex, Data: bsoncore.AppendRegex(nil, `a"b`, "i")},
			`{"$regularExpression":{"pattern":"a\"b","options":"i"}}`},
		{"symbol", Value{Type: bsoncore.TypeSymbol, Data: bsoncore.AppendSymbol(nil, "s")}, `{"$symbol":"s"}`},
		{"code", Value{Type: bsoncore.TypeJavaScript, Data: bsoncore.AppendJavaScript(nil, "f()")}, `{"$code":"f()"}`},
		{"code with scope",
			Value{Type: bsoncore.TypeCodeWithScope,
				Data: bsoncore.AppendCodeWithScope(nil, "f()", mustDoc(t, `{"a":1}`))},
			`{"$code":"f()","$scope":{"a":1}}`},
		{"pointer", Value{Type: bsoncore.TypeDBPointer, Data: bsoncore.AppendDBPointer(nil, "db.c", id)},
			`{"$dbPointer":{"$ref":"db.c","$id":{"$oid":"507f000000000000000000ff"}}}`},
		{"min key", Value{Type: bsoncore.TypeMinKey}, `{"$minKey":1}`},
		{"max key", Value{Type: bsoncore.TypeMaxKey}, `{"$maxKey":1}`},
		{"deprecated undefined", Value{Type: bsoncore.TypeUndefined}, `{"$undefined":true}`},
		{"damaged", Value{Type: bsoncore.TypeObjectID, Data: id[:3]}, `null`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := string(AppendJSONValue(nil, c.v)); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
			if c.v.Type == 0 || c.name == "damaged" {
				return
			}
			if e, ok := next(appendElement(nil, "n", c.v)); !ok || len(e.data) != len(c.v.Data) {
				t.Errorf("walked as %+v", e)
			}
		})
	}
}
