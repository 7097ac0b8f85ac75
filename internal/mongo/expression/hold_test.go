package expression

import (
	"errors"
	"testing"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/work"
	"github.com/mayflydb/mayfly/internal/mongo/work/worktest"
)

// TestHoldIsInBalance evaluates expressions that make large values: whatever they tell that they keep, they give back,
// except what a scope keeps from one document to the next.
func TestHoldIsInBalance(t *testing.T) {
	small := worktest.Object("a", doc.Int32(1))
	for _, text := range []string{
		`{"$map": {"input": "$numbers", "in": {"$toString": "$$this"}}}`,
		`{"$concat": ["$text", "$text"]}`,
		`{"$setUnion": ["$numbers", "$words"]}`,
		`{"$split": ["$text", " "]}`,
		`{"$reduce": {"input": {"$range": [0, 50]}, "initialValue": "", "in": {"$concat": ["$$value", ` +
			`{"$substrBytes": ["$blank", 0, 20000]}]}}}`,
		`{"$add": ["$numbers", 1]}`, // fails
	} {
		names := NewNames()
		x, err := Compile(parse(t, text), names)
		if err != nil {
			t.Fatal(err)
		}
		var held, most int64
		s := &Scope{Vars: make([]doc.Value, names.Slots()), Meter: &work.Meter{Hold: func(n int64) error {
			held += n
			most = max(most, held)
			return nil
		}}}
		for range 3 {
			s.Reset(worktest.Document())
			_, _ = x.Evaluate(s)
			if held < 0 {
				t.Errorf("%s: holds %d bytes", text, held)
			}
		}
		s.Reset(small)
		if kept := int64(cap(s.arena) + s.built + valueBytes*cap(s.stack)); held > kept+holdStep ||
			held < kept-holdStep || kept > 2*keptArenaBytes+valueBytes*keptStack {
			t.Errorf("%s: tells of %d bytes and keeps %d, at most %d", text, held, kept, most)
		}
		refused := errors.New("no memory")
		s = &Scope{Vars: make([]doc.Value, names.Slots()), Meter: &work.Meter{Hold: func(int64) error {
			return refused
		}}}
		s.Reset(worktest.Document())
		if _, err := x.Evaluate(s); most > 1<<20 && !errors.Is(err, refused) {
			t.Errorf("%s, refused: %v", text, err)
		}
	}
}
