package expression

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/work"
)

// evaluate compiles and evaluates once.
func evaluate(t testing.TB, expression string, on doc.Value, s *Scope) (doc.Value, error) {
	t.Helper()
	x, err := Compile(parse(t, expression), NewNames())
	if err != nil {
		return doc.Value{}, err
	}
	s.Reset(on)
	return x.Evaluate(s)
}

func TestDepthIsBounded(t *testing.T) {
	array := func(v doc.Value) doc.Value { return doc.Array(bsoncore.BuildArray(nil, v)) }
	in := func(path string, others ...string) func(doc.Value) doc.Value {
		return func(v doc.Value) doc.Value {
			steps := strings.Split(path, ".")
			for i := len(steps) - 1; i >= 0; i-- {
				if steps[i] == "" {
					v = array(v)
					continue
				}
				elements := [][]byte{bsoncore.AppendValueElement(nil, steps[i], v)}
				if i > 0 {
					for _, other := range others {
						elements = append(elements, bsoncore.AppendValueElement(nil, other, doc.Null()))
					}
				}
				v = doc.Object(bsoncore.BuildDocument(nil, elements...))
			}
			return v
		}
	}
	for name, wrap := range map[string]func(doc.Value) doc.Value{
		"operators": in("$not."), "single": in("$not"), "arrays": array, "objects": in("a"),
		"conditions": in("$cond.else", "if", "then"), "switches": in("$switch.default", "branches"),
		"maps": in("$map.in", "input"), "reductions": in("$reduce.in", "input", "initialValue"),
		"zips": in("$zip.inputs."), "sorts": in("$sortArray.input", "sortBy"), "sums": in("$sum."),
		"dates": in("$dateToString.date"), "texts": in("$concat."), "conversions": in("$convert.input", "to"),
	} {
		t.Run(name, func(t *testing.T) {
			v := doc.Int(1)
			for range maxDepth + 2 {
				v = wrap(v)
			}
			if _, err := Compile(v, nil); !code.Is(err, code.Overflow) {
				t.Errorf("%d levels give %v", maxDepth+2, err)
			}
		})
	}
}

func TestResultsAreBounded(t *testing.T) {
	large := doc.Object(bsoncore.BuildDocument(nil,
		bsoncore.AppendStringElement(nil, "s", strings.Repeat("x", 15<<20))))
	for _, c := range []struct {
		name, expression string
		want             code.Code
	}{
		{"string", `{"$concat": ["$s", "$s"]}`, 0},
		{"array", `["$s", "$s"]`, code.BSONObjectTooLarge},
		{"object", `{"a": "$s", "b": "$s"}`, code.BSONObjectTooLarge},
		{"merged", `{"$mergeObjects": ["$$ROOT", {"b": "$s"}]}`, code.BSONObjectTooLarge},
		{"joined", `{"$concatArrays": [["$s"], ["$s"]]}`, code.BSONObjectTooLarge},
		{"mapped", `{"$map": {"input": [1, 2], "in": "$s"}}`, code.BSONObjectTooLarge},
		{"doubled",
			`{"$reduce": {"input": {"$range": [0, 40]}, "initialValue": ["x"], "in": {"$concatArrays": ["$$value", ` +
				`"$$value"]}}}`, code.BSONObjectTooLarge},
		{"nested", `{"$reduce": {"input": {"$range": [0, 40]}, "initialValue": 1, "in": ["$$value", "$$value"]}}`,
			code.BSONObjectTooLarge},
		{"range", `{"$range": [0, 2147483647]}`, code.QueryExceededMemoryLimitNoDiskUseAllowed},
		{"together",
			`{"$let": {"vars": {"a": ["$s"], "b": ["$s", 1], "c": ["$s", 2], "d": ["$s", 3], "e": ["$s", 4]}, "in": ` +
				`{"$size": "$$a"}}}`, code.QueryExceededMemoryLimitNoDiskUseAllowed},
	} {
		t.Run(c.name, func(t *testing.T) {
			v, err := evaluate(t, c.expression, large, &Scope{})
			if err == nil || c.want != 0 && !code.Is(err, c.want) {
				t.Errorf("gives %d bytes and %v, want an error of code %d", len(v.Data), err, c.want)
			}
		})
	}
}

// A reduction that builds a list makes a new one in each turn; only the last is kept.
func TestReduceGivesMemoryBack(t *testing.T) {
	s := &Scope{}
	v, err := evaluate(t,
		`{"$reduce": {"input": {"$range": [0, 3000]}, "initialValue": [], "in": {"$concatArrays": ["$$value", `+
			`["$$this"]]}}}`, doc.Object(document(t, "{}")), s)
	n, _ := s.length(v)
	if err != nil || n != 3000 {
		t.Fatal(n, err)
	}
	if n := cap(s.arena); n > 1<<20 {
		t.Errorf("the arena has %d bytes", n)
	}
}

func TestStopEndsLoops(t *testing.T) {
	asked := 0
	s := &Scope{Meter: &work.Meter{Stop: func() error {
		if asked++; asked == 3 {
			return code.New(code.MaxTimeMSExpired, "operation exceeded time limit")
		}
		return nil
	}}}
	inner := `{"$map": {"input": "$a", "in": {"$sum": {"$map": {"input": "$a", "in": 1}}}}}`
	on := doc.Object(document(t, `{"a": [`+strings.TrimSuffix(strings.Repeat("1,", 500), ",")+`]}`))
	if _, err := evaluate(t, inner, on, s); !code.Is(err, code.MaxTimeMSExpired) {
		t.Error("250,000 turns give", err)
	}
	if asked != 3 {
		t.Error("asked", asked, "times")
	}
}

// An error in the middle of an array, an object or a call leaves the scope fit for what
// is evaluated next.
func TestScopeAfterAnError(t *testing.T) {
	names := NewNames()
	s := &Scope{}
	s.Reset(doc.Object(document(t, `{"a": [1, 2, 0]}`)))
	failing, err := Compile(parse(t, `[1, {"x": [{"$map": {"input": "$a", "in": {"$divide": [1, "$$this"]}}}]}]`),
		names)
	if err != nil {
		t.Fatal(err)
	}
	fine, err := Compile(parse(t, `[{"x": {"$concatArrays": ["$a", ["y"]]}}, {"$add": [1, 2]}]`), names)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if _, err := failing.Evaluate(s); !code.Is(err, code.BadValue) {
			t.Fatal(err)
		}
		if got := describe(fine.Evaluate(s)); got != `[{"x": [1, 2, 0, "y"]}, 3]` {
			t.Fatal(got)
		}
	}
	if s.open != 0 || len(s.stack) != 0 || len(s.spare) > 5 {
		t.Errorf("%d builders open, %d values on the stack, %d builders", s.open, len(s.stack), len(s.spare))
	}
}

func TestOneExpressionManyGoroutines(t *testing.T) {
	names := NewNames()
	x, err := Compile(parse(t,
		`{"$map": {"input": "$a", "as": "e", "in": {"v": {"$add": ["$$e", "$i", {"$numberDecimal": "0.5"}]}, "l": `+
			`["$$e"]}}}`), names)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for g := range 4 {
		on := doc.Object(document(t, fmt.Sprintf(`{"i": %d, "a": [1, 2]}`, g)))
		want := fmt.Sprintf(`[{"v": {"$numberDecimal":"%d.5"}, "l": [1]}, {"v": {"$numberDecimal":"%d.5"}, "l": [2]}]`,
			g+1, g+2)
		wg.Go(func() {
			s := &Scope{Vars: make([]doc.Value, names.Slots())}
			for range 200 {
				s.Reset(on)
				if got := describe(x.Evaluate(s)); got != want {
					t.Error(got, "want", want)
					return
				}
			}
		})
	}
	wg.Wait()
}

func TestConstant(t *testing.T) {
	for expression, want := range map[string]string{
		`1`: "1", `"text"`: `"text"`, `{"$literal": "$a"}`: `"$a"`,
		`{"$add": [1, {"$multiply": [2, 3]}]}`: "7",
		`{"a": [1, {"$concat": ["x", "y"]}]}`:  `{"a": [1, "xy"]}`,
		`{"$cond": [true, 1, "$a"]}`:           "1",
		`{"$arrayElemAt": [[1], 5]}`:           "missing",
		`"$a"`:                                 "no", `["$a"]`: "no", `"$$NOW"`: "no", `{"$rand": {}}`: "no",
		`"$$ROOT"`:            "no",
		`{"$divide": [1, 0]}`: "no",
	} {
		x, err := Compile(parse(t, expression), nil)
		if err != nil {
			t.Fatal(expression, err)
		}
		got := "no"
		if v, ok := x.Constant(); ok {
			got = describe(v, nil)
		}
		if got != want {
			t.Errorf("%s is constant: %s, want %s", expression, got, want)
		}
	}
}

func TestFieldPath(t *testing.T) {
	for expression, want := range map[string]string{
		`"$a"`: "a", `"$a.b"`: "a.b", `"$$CURRENT.a.b"`: "a.b",
		`"$$ROOT.a"`: "", `"$$CURRENT"`: "", `"a"`: "", `{"$add": ["$a"]}`: "", `"$$REMOVE.a"`: "",
	} {
		x, err := Compile(parse(t, expression), nil)
		if err != nil {
			t.Fatal(expression, err)
		}
		if x.FieldPath() != want {
			t.Errorf("%s has path %q, want %q", expression, x.FieldPath(), want)
		}
	}
}

func TestNames(t *testing.T) {
	names := NewNames()
	outer, a := names.With("x")
	inner, b := outer.With("x")
	if a == b || inner.Slots() != 2 || names.Slots() != 2 {
		t.Error("slots", a, b, "of", inner.Slots(), names.Slots())
	}
	if slot, ok := inner.Slot("x"); slot != b || !ok {
		t.Error("the inner x is in", slot, ok)
	}
	if _, ok := names.Slot("x"); ok {
		t.Error("names without x have it")
	}
	x, err := Compile(parse(t, `["$$x", "$$x.y"]`), outer)
	if err != nil {
		t.Fatal(err)
	}
	s := &Scope{Vars: []doc.Value{doc.Object(document(t, `{"y": 1}`)), doc.Null()}}
	if got := describe(x.Evaluate(s)); got != `[{"y": 1}, 1]` {
		t.Error(got)
	}
}

func TestTruthy(t *testing.T) {
	for text, want := range map[string]bool{
		"true": true, "false": false, "null": false, `{"$undefined": true}`: false, "0": false, "1": true, "0.0": false,
		"-0.0":                 false,
		`{"$numberLong": "0"}`: false, `{"$numberDecimal": "0E+5"}`: false, `{"$numberDecimal": "0.1"}`: true,
		`{"$numberDouble": "NaN"}`: true, `{"$numberDecimal": "NaN"}`: true, `""`: true, `[]`: true, `{}`: true,
		`{"$date": {"$numberLong": "0"}}`: true,
	} {
		if got := Truthy(parse(t, text)); got != want {
			t.Errorf("%s is %v", text, got)
		}
	}
	if Truthy(doc.Value{}) {
		t.Error("missing is true")
	}
}
