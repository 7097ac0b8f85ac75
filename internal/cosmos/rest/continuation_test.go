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
	whole := access.Access{}
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
		name string
		c    *catalog.Container
		sel  access.Access
	}{
		{"another container", &catalog.Container{ID: 8}, access.Access{Partition: a, HasPartition: true}},
		{"another partition", c, access.Access{Partition: b, HasPartition: true}},
		{"a longer partition", c, access.Access{Partition: append(a, b...), HasPartition: true}},
		{"no partition", c, whole},
		{"a span", c, access.Access{Span: &access.Span{Low: []byte{1}}}},
	} {
		t.Run("of "+other.name, func(t *testing.T) {
			token := continuation(c, access.Access{Partition: a, HasPartition: true}, at)
			if _, err := parseContinuation(token, other.c, other.sel); fault.KindOf(err) != fault.Invalid {
				t.Fatalf("taken: %v", err)
			}
		})
	}
}

func FuzzParseContinuation(f *testing.F) {
	c := &catalog.Container{ID: 1}
	f.Add("", []byte("x"))
	f.Add(continuation(c, access.Access{}, access.Position("abc")), []byte{0, 0xFF})
	f.Fuzz(func(t *testing.T, text string, position []byte) {
		if at, err := parseContinuation(text, c, access.Access{}); err == nil && continuation(c, access.Access{}, at) != text {
			t.Fatalf("%q is read as %q, which is written otherwise", text, at)
		}
		if len(position) == 0 {
			return
		}
		at, err := parseContinuation(continuation(c, access.Access{}, position), c, access.Access{})
		if len(position) < maxToken/2 && (err != nil || !bytes.Equal(at, position)) {
			t.Fatalf("position %q comes back as %q: %v", position, at, err)
		}
	})
}
