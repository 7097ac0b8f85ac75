package rest

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/fault"
)

func TestContinuation(t *testing.T) {
	c := &catalog.Container{ID: 7}
	var whole access.Scope
	at := access.Position("\x00\x01position\xff")
	token := continuation(c, whole, at)

	t.Run("comes back", func(t *testing.T) {
		got, err := parseContinuation(token, c, whole)
		if err != nil || !bytes.Equal(got, at) {
			t.Fatalf("got %q and error %v", got, err)
		}
	})
	t.Run("survives JSON", func(t *testing.T) {
		quoted, err := json.Marshal(token)
		if err != nil || string(quoted) != `"`+token+`"` {
			t.Fatalf("%s becomes %s", token, quoted)
		}
	})
	t.Run("damage", func(t *testing.T) {
		for i := range token {
			for _, damaged := range []string{token[:i], token[:i] + token[i+1:], token[:i] + "_" + token[i+1:]} {
				if damaged == token {
					continue
				}
				if _, err := parseContinuation(damaged, c, whole); fault.KindOf(err) != fault.Invalid {
					t.Fatalf("%q was taken for %q: %v", damaged, token, err)
				}
			}
		}
	})
	a, b := []doc.Value{doc.String("a")}, []doc.Value{doc.String("b")}
	for _, other := range []struct {
		name  string
		c     *catalog.Container
		scope access.Scope
	}{
		{"another container", &catalog.Container{ID: 8}, access.Partition(a)},
		{"another partition", c, access.Partition(b)},
		{"a longer partition", c, access.Partition(append(a, b...))},
		{"no partition", c, whole},
		{"a span", c, &access.Span{Low: []byte{1}}},
	} {
		t.Run("of "+other.name, func(t *testing.T) {
			token := continuation(c, access.Partition(a), at)
			if _, err := parseContinuation(token, other.c, other.scope); fault.KindOf(err) != fault.Invalid {
				t.Fatalf("taken: %v", err)
			}
		})
	}
}

func FuzzParseContinuation(f *testing.F) {
	c := &catalog.Container{ID: 1}
	f.Add("", []byte("x"))
	f.Add(continuation(c, nil, access.Position("abc")), []byte{0, 0xFF})
	f.Fuzz(func(t *testing.T, text string, position []byte) {
		if at, err := parseContinuation(text, c, nil); err == nil && continuation(c, nil, at) != text {
			t.Fatalf("%q is read as %q, which is written otherwise", text, at)
		}
		if len(position) == 0 {
			return
		}
		at, err := parseContinuation(continuation(c, nil, position), c, nil)
		if len(position) < maxToken/2 && (err != nil || !bytes.Equal(at, position)) {
			t.Fatalf("position %q comes back as %q: %v", position, at, err)
		}
	})
}
