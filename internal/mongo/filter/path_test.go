package filter

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
)

func TestWalk(t *testing.T) {
	const document = `{"a":{"b":[1,{"c":2},[3,{"c":4}]]},"l":[{"m":[5,6]},{"m":7},{},8],"n":[],"o":null,"p":[{"1":9},{"1":10}]}`
	for _, c := range []struct {
		path              string
		whole, each, both string
	}{
		{"a.b", "[1,{c:2},[3,{c:4}]]", "1@0 {c:2}@1 [3,{c:4}]@2", "1@0 {c:2}@1 [3,{c:4}]@2 [1,{c:2},[3,{c:4}]]"},
		{"a.b.c", "2@1", "2@1", "2@1"},
		{"a.b.2", "-@1 [3,{c:4}]", "-@1 [3,{c:4}]", "-@1 [3,{c:4}]"},
		{"a.b.2.c", "-@1 4@1", "-@1 4@1", "-@1 4@1"},
		{"a.b.2.1.c", "-@1 -@1 4", "-@1 -@1 4", "-@1 -@1 4"},
		{"l.m", "[5,6]@0 7@1 -@2", "5@0 6@0 7@1 -@2", "5@0 6@0 [5,6]@0 7@1 -@2"},
		{"l.m.1", "6@0 -@1 -@2", "6@0 -@1 -@2", "6@0 -@1 -@2"},
		{"n", "[]", "", "[]"},
		{"n.x", "", "", ""},
		{"o.x", "-", "-", "-"},
		{"o", "null", "null", "null"},
		{"q.x", "-", "-", "-"},
		{"p.1", "9@0 10@1 {1:10}", "9@0 10@1 {1:10}", "9@0 10@1 {1:10}"},
		{"p.1.1", "-@0 -@1 10", "-@0 -@1 10", "-@0 -@1 10"},
	} {
		p, err := ParsePath(c.path)
		if err != nil {
			t.Fatal(c.path, err)
		}
		d := fromJSON(t, document)
		for leaf, want := range map[Leaf]string{Whole: c.whole, Elements: c.each, Both: c.both} {
			if got := walked(p, d, leaf); got != want {
				t.Errorf("%s, leaf %d: %q, want %q", c.path, leaf, got, want)
			}
		}
		if p.text != c.path || strings.Join(p.names, ".") != c.path {
			t.Errorf("%s is %s, %v", c.path, p.text, p.names)
		}
	}
}

func walked(p *Path, d doc.Doc, leaf Leaf) string {
	var found []string
	p.Walk(d, leaf, nil, func(v doc.Value, element int) bool {
		text := "-"
		if v.Type != 0 {
			text = strings.ReplaceAll(string(doc.AppendJSONValue(nil, v)), `"`, "")
		}
		if element >= 0 {
			text += fmt.Sprintf("@%d", element)
		}
		found = append(found, text)
		return false
	})
	return strings.Join(found, " ")
}

func TestWalkStops(t *testing.T) {
	p, _ := ParsePath("a.b")
	n := 0
	if !p.Walk(fromJSON(t, `{"a":[{"b":[1,2]},{"b":3}]}`), Both, nil, func(doc.Value, int) bool {
		n++
		return n == 2
	}) || n != 2 {
		t.Error("went on to", n)
	}
}

func TestPathLimits(t *testing.T) {
	for name, path := range map[string]string{
		"names":   strings.Repeat("a.", maxPathNames) + "a",
		"numbers": strings.Repeat("0.", maxPathNumbers) + "0",
		"dots":    strings.Repeat(".", 1<<20),
	} {
		if _, err := ParsePath(path); !code.Is(err, code.Overflow) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := ParsePath(strings.Repeat("a.", maxPathNames-1) + "a"); err != nil {
		t.Error(err)
	}
}
