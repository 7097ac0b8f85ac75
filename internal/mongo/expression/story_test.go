package expression

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/storytest"
)

// storyNow is $$NOW in the stories.
var storyNow = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// TestStories evaluates the cases of testdata, a file for each operator. "on {...}" is the document of the lines below
// it, {} at first. Each other line is an expression and the answer: extended JSON, in which whole numbers are int32 and
// those with a point doubles; "missing"; or "error CODE: message".
func TestStories(t *testing.T) {
	storytest.Run(t, "testdata/*.txt", storytest.Lines, func() storytest.Answer {
		on := document(t, "{}")
		return func(t *testing.T, given string) (string, bool) {
			if rest, ok := strings.CutPrefix(given, "on "); ok {
				on = document(t, rest)
				return "", false
			}
			return answer(t, given, on), true
		}
	})
}

// document reads extended JSON.
func document(t testing.TB, text string) doc.Doc {
	t.Helper()
	var raw bson.Raw
	if err := bson.UnmarshalExtJSON([]byte(text), false, &raw); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return doc.Doc(raw)
}

// parse reads extended JSON of any value.
func parse(t testing.TB, text string) doc.Value {
	t.Helper()
	return doc.Lookup(document(t, `{"v": `+text+`}`), "v")
}

// answer evaluates twice, as a compiled expression serves many documents.
func answer(t testing.TB, given string, on doc.Doc) string {
	t.Helper()
	names := NewNames()
	x, err := Compile(parse(t, given), names)
	if err != nil {
		return describe(doc.Value{}, err)
	}
	s := &Scope{Vars: make([]doc.Value, names.Slots()), Now: storyNow, Random: func() float64 { return 0.25 }}
	s.Reset(doc.Object(on))
	first := describe(x.Evaluate(s))
	s.Reset(doc.Object(on))
	again, err := x.Evaluate(s)
	if text := describe(again, err); text != first {
		t.Errorf("%s gives %s, then %s", given, first, text)
	}
	if x.Fixed() {
		s.Reset(doc.Object(doc.Empty))
		if text := describe(x.Evaluate(s)); text != first {
			t.Errorf("%s gives %s, but %s for another document", given, first, text)
		}
		s.Reset(doc.Object(on))
		again, err = x.Evaluate(s)
	}
	if err == nil && again.Type != 0 {
		whole := doc.Object(bsoncore.BuildDocument(nil, bsoncore.AppendValueElement(nil, "v", again)))
		if err := bsoncore.Document(whole.Data).Validate(); err != nil {
			t.Errorf("%s gives broken BSON: %v", given, err)
		}
	}
	return first
}

func describe(v doc.Value, err error) string {
	if err != nil {
		var e *code.Error
		if !errors.As(err, &e) {
			return "strange error: " + err.Error()
		}
		return fmt.Sprintf("error %d: %s", e.Code, e.Message)
	}
	if v.Type == 0 {
		return "missing"
	}
	return string(appendValue(nil, v))
}

// appendValue writes extended JSON that tells the types of numbers apart.
func appendValue(dst []byte, v doc.Value) []byte {
	switch v.Type {
	case bsoncore.TypeInt64:
		return fmt.Appendf(dst, `{"$numberLong":"%d"}`, v.Int64())
	case bsoncore.TypeDecimal128:
		d, _ := doc.AsDecimal(v)
		return fmt.Appendf(dst, `{"$numberDecimal":"%s"}`, d)
	case bsoncore.TypeDouble:
		return appendDouble(dst, v.Double())
	case bsoncore.TypeArray:
		var parts [][]byte
		for e := range doc.Elements(v) {
			parts = append(parts, appendValue(nil, e))
		}
		return append(append(append(dst, '['), bytes.Join(parts, []byte(", "))...), ']')
	case bsoncore.TypeEmbeddedDocument:
		var parts [][]byte
		for name, e := range doc.Members(v.Data) {
			parts = append(parts, appendValue(fmt.Appendf(nil, "%q: ", name), e))
		}
		return append(append(append(dst, '{'), bytes.Join(parts, []byte(", "))...), '}')
	}
	return doc.AppendJSONValue(dst, v)
}

func appendDouble(dst []byte, f float64) []byte {
	switch {
	case math.IsNaN(f):
		return append(dst, `{"$numberDouble":"NaN"}`...)
	case math.IsInf(f, 1):
		return append(dst, `{"$numberDouble":"Infinity"}`...)
	case math.IsInf(f, -1):
		return append(dst, `{"$numberDouble":"-Infinity"}`...)
	}
	text := strconv.FormatFloat(f, 'g', -1, 64)
	if !strings.ContainsAny(text, ".e") {
		text += ".0"
	}
	return append(dst, text...)
}

// TestEveryOperatorHasAStory looks for testdata/<operator>.txt.
func TestEveryOperatorHasAStory(t *testing.T) {
	for _, name := range Operators() {
		if _, err := os.Stat("testdata/" + strings.TrimPrefix(name, "$") + ".txt"); err != nil {
			t.Errorf("%s has no story", name)
		}
	}
}
