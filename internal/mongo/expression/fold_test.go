package expression

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/mayflydb/mayfly/internal/doc"
)

// Constants that are large stay to be evaluated: a few bytes must not become megabytes
// when they are compiled.
func TestLargeConstantsAreNotFolded(t *testing.T) {
	numbers := bson.D{{Key: "$range", Value: bson.A{0, 1_000_000}}}
	for name, spec := range map[string]bson.D{
		"range": {{Key: "x", Value: numbers}},
		"loop":  {{Key: "x", Value: bson.D{{Key: "$sum", Value: numbers}}}},
	} {
		raw, err := bson.Marshal(spec)
		if err != nil {
			t.Fatal(err)
		}
		x, err := Compile(doc.Lookup(doc.Doc(raw), "x"), NewNames())
		if err != nil {
			t.Fatal(err)
		}
		if v, ok := x.Constant(); ok {
			t.Errorf("%s: folded into %d bytes", name, len(v.Data))
		}
		var s Scope
		if v, err := x.Evaluate(&s); err != nil || v.Type == 0 {
			t.Errorf("%s: %v, %v", name, v.Type, err)
		}
	}
}

func TestNamesHaveALimit(t *testing.T) {
	names := NewNames()
	_, first := names.With("first")
	all, _ := names.With("first")
	for all.Full() == nil {
		all, _ = all.With("again")
	}
	if slot, ok := all.Slot("first"); !ok || slot == first {
		t.Errorf("first is at %d, %v", slot, ok)
	}
	if _, ok := names.Slot("again"); ok {
		t.Error("a parent sees its child's names")
	}
}
