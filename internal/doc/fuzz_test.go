package doc

import (
	"bytes"
	"encoding/json"
	"testing"
	"unicode/utf8"
)

func FuzzJSONRoundTrip(f *testing.F) {
	for _, seed := range []string{
		`{}`, patched, sample, `{"a":1,"a":2,"b":[1,2.5,-0.0,1e400]}`, `{"a":"\ud800\u0000\"é"}`,
		`{"n":[18446744073709551615,-9223372036854775809,5e-324,1e16,1e17,0.1]}`,
		`[[[[[]]]]]`, `{"a":tru`, "{\"a\":\"\xff\"}", `{"a":` + "\x00}",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		d, err := FromJSON(nil, text, ParseOptions{})
		if v, verr := ValueFromJSON(text); err == nil && (verr != nil || !bytes.Equal(v.Data, d)) {
			t.Errorf("as a value: %v, %v", v, verr)
		}
		for range ArrayFromJSON(text, ParseOptions{}) {
		}
		if err != nil {
			return
		}
		if !json.Valid(text) || !utf8.Valid(text) {
			t.Fatalf("accepted what is not JSON: %q", text)
		}
		if err := d.Validate(); err != nil {
			t.Fatalf("%q became no BSON: %v", text, err)
		}
		out := AppendJSON(nil, d)
		back, err := FromJSON(nil, out, ParseOptions{MaxBytes: 10 * len(out)})
		if err != nil {
			t.Fatalf("%q printed as %q: %v", text, out, err)
		}
		if !Equal(Object(d), Object(back)) || !bytes.Equal(AppendJSON(nil, back), out) {
			t.Fatalf("%q printed as %q, then as %q", text, out, AppendJSON(nil, back))
		}
		if !json.Valid(Query.AppendJSON(nil, d)) {
			t.Errorf("%q is no JSON", Query.AppendJSON(nil, d))
		}
	})
}

// Values of every BSON type print as JSON, compare and never panic.
func FuzzBSON(f *testing.F) {
	f.Add([]byte(mustDoc(f, patched)), []byte(mustDoc(f, `{"a":1}`)))
	f.Add([]byte("\x10\x00\x00\x00\x0ba\x00x\x00\x00\x0f\x00"), []byte{5, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, a, b []byte) {
		if out := AppendJSON(nil, a); !json.Valid(out) {
			t.Errorf("%q is no JSON", out)
		}
		if x, y := Compare(Object(a), Object(b)), Compare(Object(b), Object(a)); x != -y {
			t.Errorf("%d and %d", x, y)
		} else if equal := Equal(Object(a), Object(b)); equal != (x == 0) {
			t.Errorf("equal: %v, though Compare gives %d", equal, x)
		}
	})
}

func FuzzPath(f *testing.F) {
	for _, seed := range []string{`/a/b`, `/"a-b"/c`, `/a/[]/b/?`, `/*`, `/'a\'b'`, `/"\u0041\\"`, `/"`, `/?/a`, `a`} {
		f.Add(seed)
	}
	d := mustDoc(f, patched)
	f.Fuzz(func(t *testing.T, text string) {
		p, err := ParsePath(text)
		if err != nil {
			return
		}
		p.Lookup(d)
		printed := p.String()
		if len(printed) > MaxPathBytes {
			return // quotes and escapes made it longer
		}
		back, err := ParsePath(printed)
		if err != nil || back.String() != printed || len(back) != len(p) {
			t.Errorf("%q printed as %q, then %q, %v", text, printed, back, err)
		}
	})
}

func FuzzPointer(f *testing.F) {
	for _, seed := range []string{`/a`, `/a/b~1c/0`, `/~01/-`, `/`, ``, `/~`, `//`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if p, err := ParsePointer(text); err == nil && p.String() != text {
			t.Errorf("%q printed as %q", text, p)
		}
	})
}

func FuzzEdit(f *testing.F) {
	for i, op := range []string{"add", "set", "replace", "remove", "incr", "move"} {
		f.Add([]byte(patched), op, "/a/1", []string{"1", `{"x":[]}`, "/o", "/a/0", "1.5", "/n"}[i])
		f.Add([]byte(patched), op, "/o/q/r", "/o/q")
	}
	f.Fuzz(func(t *testing.T, text []byte, op, at, v string) {
		d, err := FromJSON(nil, text, ParseOptions{})
		if err != nil {
			return
		}
		switch op {
		case "add", "set", "replace", "remove", "incr", "move":
		default:
			return
		}
		got, err := edit(d, op, at, v)
		if err != nil {
			return
		}
		if err := got.Validate(); err != nil {
			t.Fatalf("%s %q %q of %q: %v", op, at, v, text, err)
		}
		out := AppendJSON(nil, got)
		back, err := FromJSON(nil, out, ParseOptions{MaxBytes: 10 * len(out)})
		if err != nil || !sameKeys(got, back) {
			t.Fatalf("%s %q %q of %q gave %q: %v", op, at, v, text, out, err)
		}
	})
}
