package expression

import (
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/work"
	"github.com/mayflydb/mayfly/internal/storytest"
)

// FuzzEvaluate compiles any BSON and evaluates it: no panic, errors of one type only, and
// results that are BSON.
func FuzzEvaluate(f *testing.F) {
	for _, given := range storytest.Given(f, "testdata/*.txt", storytest.Lines) {
		if !strings.Contains(given, "$regex") {
			f.Add([]byte(document(f, `{"v": `+given+`}`)))
		}
	}
	on := doc.Object(document(f,
		`{"i": 5, "l": {"$numberLong": "6"}, "d": 2.5, "m": {"$numberDecimal": "1.10"}, "s": "x", "n": null, "a": `+
			`[1, 2, 3], "e": [], "o": {"p": [{"q": 1}]}, "t": {"$date": "2026-01-02T03:04:05.678Z"}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if bsoncore.Document(data).Validate() != nil {
			return // the wire lets no such document in
		}
		names := NewNames()
		x, err := Compile(doc.Lookup(data, "v"), names)
		turns := 0
		s := &Scope{Now: storyNow, Meter: &work.Meter{Stop: func() error {
			if turns++; turns > 20 {
				return code.New(code.MaxTimeMSExpired, "operation exceeded time limit")
			}
			return nil
		}}}
		var v doc.Value
		if err == nil {
			s.Reset(on)
			v, err = x.Evaluate(s)
		}
		if err != nil {
			if code.Of(err) == nil {
				t.Fatalf("%v is no *code.Error", err)
			}
			return
		}
		if v.Type != 0 && v.Validate() != nil {
			t.Fatalf("the result is no BSON: %v", v.Validate())
		}
	})
}
