package update

import (
	"strconv"
	"strings"
	"testing"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/filter"
)

func apply(t testing.TB, d doc.Doc, update string, in Input) (doc.Doc, bool, error) {
	t.Helper()
	u, err := Compile(docIn(t, update), Options{})
	if err != nil {
		return nil, false, err
	}
	return u.Apply(nil, d, filter.Where{}, in)
}

// nested is levels objects in one another.
func nested(levels int) string {
	return strings.Repeat("{a: ", levels) + "1" + strings.Repeat("}", levels)
}

func path(levels int) string { return strings.TrimSuffix(strings.Repeat("a.", levels), ".") }

func TestDepth(t *testing.T) {
	for _, c := range []struct {
		name, update string
		ok           bool
	}{
		{"a value as deep as can be", "{$set: {a: " + nested(MaxDepth-1) + "}}", true},
		{"a value too deep", "{$set: {a: " + nested(MaxDepth) + "}}", false},
		{"an array too deep", "{$push: {a: " + nested(MaxDepth-1) + "}}", false},
		{"a set too deep", "{$addToSet: {a: {$each: [1, " + nested(MaxDepth-1) + "]}}}", false},
		{"a path as long as can be", "{$set: {" + `"` + path(MaxDepth) + `"` + ": 1}}", true},
		{"a path too long", "{$inc: {" + `"` + path(MaxDepth+1) + `"` + ": 1}}", false},
		{"both together", "{$set: {" + `"` + path(60) + `"` + ": " + nested(50) + "}}", false},
		{"nothing at the end of a path", "{$unset: {" + `"` + path(maxParts) + `"` + ": 1}}", true},
		{"a path that no one needs", "{$unset: {" + `"` + path(100_000) + `"` + ": 1}}", false},
		{"a move into the deep", "{$rename: {b: " + `"` + path(MaxDepth-1) + `"` + "}}", false},
		{"a move to where there is room", "{$rename: {b: " + `"` + path(MaxDepth-2) + `"` + "}}", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, _, err := apply(t, docIn(t, "{_id: 1, b: {c: {d: 1}}}"), c.update, now)
			if c.ok != (err == nil) || !c.ok && !code.Is(err, code.Overflow) {
				t.Error(err)
			}
		})
	}
}

func TestDepthOfReplacements(t *testing.T) {
	old := docIn(t, "{_id: 1}")
	if _, _, err := Replace(old, docIn(t, nested(MaxDepth)), now); err != nil {
		t.Error(err)
	}
	if _, _, err := Replace(old, docIn(t, nested(MaxDepth+1)), now); !code.Is(err, code.Overflow) {
		t.Error(err)
	}
	if err := Check(docIn(t, nested(MaxDepth+1))); !code.Is(err, code.Overflow) {
		t.Error(err)
	}
}

// filled is a document whose member a is a text, of so many bytes in all.
func filled(bytes int) doc.Doc {
	d := doc.With(doc.With(nil, "_id", doc.Int32(1)), "a", doc.String(""))
	return doc.With(d, "a", doc.String(strings.Repeat("x", bytes-len(d))))
}

func TestSize(t *testing.T) {
	const grow = "{$set: {b: 1}}" // 7 bytes
	if d, _, err := apply(t, filled(MaxBytes-7), grow, now); err != nil || len(d) != MaxBytes {
		t.Error(len(d), err)
	}
	if _, _, err := apply(t, filled(MaxBytes-6), grow, now); !code.Is(err, 17419) {
		t.Error(err)
	}
	inserting := now
	inserting.Inserting = true
	if _, _, err := apply(t, filled(MaxBytes-6), grow, inserting); !code.Is(err, 17420) {
		t.Error(err)
	}
	if _, _, err := Replace(docIn(t, "{_id: 1}"), filled(MaxBytes+1), now); !code.Is(err, 17419) {
		t.Error(err)
	}
	if err := Check(filled(MaxBytes + 1)); !code.Is(err, 17420) {
		t.Error(err)
	}
	if d, _, err := apply(t, filled(MaxBytes+10), "{$unset: {a: 1}}", now); err != nil || len(d) > 20 {
		t.Error(len(d), err)
	}
}

// A small request must not make much more than a document.
func TestGrowthStopsEarly(t *testing.T) {
	text := strings.Repeat("x", 1<<20)
	many := "{_id: 1, a: [" + strings.Repeat("{}, ", 1000) + "{}]}"
	if _, _, err := apply(t, docIn(t, many), `{$set: {"a.$[].b": "`+text+`"}}`, now); !code.Is(err, 17419) {
		t.Error(err)
	}
	pads := "{_id: 1}"
	for i := range 50 {
		pads += `, "a.` + strconv.Itoa((i+1)*1_400_000) + `": 1`
	}
	if _, _, err := apply(t, docIn(t, "{_id: 1, a: []}"), "{$set: {"+pads[len("{_id: 1}, "):]+"}}", now); !code.Is(err,
		17419) {
		t.Error(err)
	}
}

// Padding costs nothing where nothing is put behind it.
func TestNoPaddingForNothing(t *testing.T) {
	d, changed, err := apply(t, docIn(t, "{_id: 1, a: [1]}"),
		`{$unset: {"a.1400000": 1}, $pull: {"a.1400001": 1}, $rename: {x: "b"}}`, now)
	if err != nil || changed || len(d) > 100 {
		t.Error(len(d), changed, err)
	}
}

// Time must grow with the size of an update, not with its square.
func TestWideUpdates(t *testing.T) {
	const n = 20_000
	fields, values := doc.Doc(nil), beginArray(nil)
	wide := []byte{0, 0, 0, 0}
	for i := range n {
		wide = doc.AppendElement(wide, "f"+strconv.Itoa(i), doc.Int32(int32(i)))
		values.add(doc.Int32(int32(i)))
	}
	fields = end(wide, 0)
	all := doc.Array(values.end())
	set := doc.With(nil, "$set", doc.Object(fields))
	set = doc.With(set, "$addToSet", doc.Object(doc.With(nil, "s", doc.Object(doc.With(nil, "$each", all)))))
	set = doc.With(set, "$pullAll", doc.Object(doc.With(nil, "p", all)))
	u, err := Compile(set, Options{})
	if err != nil {
		t.Fatal(err)
	}
	d := doc.With(doc.With(docIn(t, "{_id: 1}"), "p", all), "s", all)
	out, changed, err := u.Apply(nil, d, filter.Where{}, now)
	if err != nil || !changed {
		t.Fatal(changed, err)
	}
	if got := doc.Lookup(out, "p"); len(got.Data) != 5 {
		t.Error(len(got.Data))
	}
	if _, changed, err = u.Apply(nil, out, filter.Where{}, now); err != nil || changed {
		t.Error("a second time:", changed, err)
	}
}

func TestUnchangedIsTheDocumentItself(t *testing.T) {
	d := docIn(t, "{_id: 1, a: 1, b: [1]}")
	out, changed, err := apply(t, d, "{$set: {a: 1}, $pull: {b: 5}, $unset: {c: 1}}", now)
	if err != nil || changed || &out[0] != &d[0] {
		t.Error(changed, err)
	}
}

func TestIsReplacement(t *testing.T) {
	for update, want := range map[string]bool{
		"{}":                   true,
		"{a: 1}":               true,
		"{_id: 1, a: {$b: 1}}": true,
		"{$set: {a: 1}}":       false,
		"{$set: {a: 1}, b: 1}": false, // Compile refuses it
		"{a: 1, $set: {b: 1}}": true,  // Replace may refuse it
	} {
		if got := IsReplacement(docIn(t, update)); got != want {
			t.Errorf("%s: %v", update, got)
		}
	}
}

func TestCurrentDateWithoutClusterTime(t *testing.T) {
	d, _, err := apply(t, docIn(t, "{_id: 1}"), `{$currentDate: {a: {$type: "timestamp"}}}`, Input{Now: now.Now})
	if err != nil || show(doc.Object(d)) != "{_id: 1, a: ts(1700000000, 1)}" {
		t.Error(show(doc.Object(d)), err)
	}
}
