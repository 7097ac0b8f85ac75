package wire

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
)

func TestValidateAccepts(t *testing.T) {
	cases := []struct {
		name  string
		d     doc.Doc
		depth int
	}{
		{"empty", empty, 0},
		{"flat", two, 0},
		{"every type", everyType(), 2},
		{"deep as may be", nestedTo(MaxDepth), MaxDepth},
		{"long names", build(func(b *bsoncore.DocumentBuilder) { b.AppendNull(strings.Repeat("é", 5000)) }), 0},
		{"names twice", build(func(b *bsoncore.DocumentBuilder) { b.AppendNull("a").AppendNull("a") }), 0},
		{"array names of any kind", build(func(b *bsoncore.DocumentBuilder) {
			b.AppendArray("a", bsoncore.Array(two))
		}), 1},
		{"an empty array at the end", build(func(b *bsoncore.DocumentBuilder) {
			b.AppendArray("a", bsoncore.Array(empty))
		}), 1},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if depth, err := Validate(c.d, MaxDepth); err != nil || depth != c.depth {
				t.Errorf("depth %d, error %v, want %d", depth, err, c.depth)
			}
		})
	}
}

// Every type ends at every place: all of them are refused but the whole.
func TestValidateTruncated(t *testing.T) {
	d := everyType()
	for i := range len(d) {
		short := append(doc.Doc(nil), d[:i]...)
		if _, err := Validate(short, MaxDepth); err == nil {
			t.Errorf("%d of %d bytes are accepted", i, len(d))
		}
		if i < 5 {
			continue
		}
		copy(short, int32s(i)) // a length that agrees, and a NUL at the end
		short[i-1] = 0
		if _, err := Validate(short, MaxDepth); err == nil && short.Validate() != nil {
			t.Errorf("%d of %d bytes with a true length are accepted", i, len(d))
		}
	}
}

// element is a document with one member of these bytes.
func element(kind bsoncore.Type, data ...[]byte) doc.Doc {
	return bsoncore.BuildDocument(nil, append([]byte{byte(kind), 'a', 0}, bytes.Join(data, nil)...))
}

func TestValidateRefuses(t *testing.T) {
	str := func(s string) []byte { return append(int32s(len(s)+1), s+"\x00"...) }
	withEnd := func(d doc.Doc, end byte) doc.Doc {
		d = append(doc.Doc(nil), d...)
		d[len(d)-1] = end
		return d
	}
	cases := []struct {
		name string
		d    doc.Doc
		want string
	}{
		{"nothing", nil, "at least 5 bytes"},
		{"four bytes", doc.Doc{4, 0, 0, 0}, "at least 5 bytes"},
		{"length too large", doc.Doc{6, 0, 0, 0, 0}, "Incorrect BSON length"},
		{"length too small", doc.Doc{5, 0, 0, 0, 0, 0}, "Incorrect BSON length"},
		{"length negative", doc.Doc{5, 0, 0, 128, 0}, "Incorrect BSON length"},
		{"no end", withEnd(one, 1), "not terminated"},
		{"an end before the end", doc.Doc{7, 0, 0, 0, 0, 0, 0}, "incorrect BSON length"},
		{"type without a name", doc.Doc{6, 0, 0, 0, 10, 0}, "a field name does not end"},
		{"name that does not end", doc.Doc{8, 0, 0, 0, 10, 'a', 'b', 0}, "a field name does not end"},
		{"name that is no UTF-8", bsoncore.BuildDocument(nil, []byte("\x0a\xff\x00")), "invalid UTF-8"},
		{"long name that is no UTF-8", bsoncore.BuildDocument(nil, []byte("\x0aabcdefghijklmn\xc3\x00")),
			"invalid UTF-8"},
		{"unknown type", element(0x14), "Unrecognized BSON type 20"},
		{"unknown high type", element(0x80), "Unrecognized BSON type 128"},
		{"double", element(bsoncore.TypeDouble, make([]byte, 7)), "larger than buffer"},
		{"int32", element(bsoncore.TypeInt32, make([]byte, 3)), "larger than buffer"},
		{"decimal", element(bsoncore.TypeDecimal128, make([]byte, 15)), "larger than buffer"},
		{"object id", element(bsoncore.TypeObjectID, make([]byte, 11)), "larger than buffer"},
		{"boolean of 2", element(bsoncore.TypeBoolean, []byte{2}), "neither false nor true"},
		{"no boolean", element(bsoncore.TypeBoolean), "larger than buffer"},
		{"string without a length", element(bsoncore.TypeString, []byte{1, 0}), "larger than buffer"},
		{"string of length 0", element(bsoncore.TypeString, int32s(0), []byte{0}), "larger than buffer"},
		{"string of length -1", element(bsoncore.TypeString, int32s(-1), []byte("a\x00")), "larger than buffer"},
		{"string too long", element(bsoncore.TypeString, int32s(3), []byte("a\x00")), "larger than buffer"},
		{"string longest", element(bsoncore.TypeString, int32s(0x7fffffff), []byte("a\x00")), "larger than buffer"},
		{"string without NUL", element(bsoncore.TypeString, int32s(2), []byte("ab")), "Not null terminated"},
		{"string that is no UTF-8", element(bsoncore.TypeString, str("a\xc3")),
			`invalid UTF-8 in element with field name "a" at byte 4`},
		{"surrogate in a string", element(bsoncore.TypeString, str("\xed\xa0\x80")), "invalid UTF-8"},
		{"overlong NUL", element(bsoncore.TypeString, str("\xc0\x80")), "invalid UTF-8"},
		{"code that is no UTF-8", element(bsoncore.TypeJavaScript, str("\xff")), "invalid UTF-8"},
		{"symbol that is no UTF-8", element(bsoncore.TypeSymbol, str("\xff")), "invalid UTF-8"},
		{"binary of length -1", element(bsoncore.TypeBinary, int32s(-1), []byte{0}), "larger than buffer"},
		{"binary too long", element(bsoncore.TypeBinary, int32s(2), []byte{0, 1}), "larger than buffer"},
		{"binary without a subtype", element(bsoncore.TypeBinary, int32s(0)), "larger than buffer"},
		{"old binary without a length", element(bsoncore.TypeBinary, int32s(3), []byte{2, 1, 2, 3}), "inner length"},
		{"old binary that lies", element(bsoncore.TypeBinary, int32s(5), []byte{2}, int32s(2), []byte{1}),
			"inner length"},
		{"document without a length", element(bsoncore.TypeEmbeddedDocument, []byte{5, 0}), "larger than buffer"},
		{"document of length 4", element(bsoncore.TypeEmbeddedDocument, int32s(4), []byte{0}), "at least 5 bytes"},
		{"document of length -5", element(bsoncore.TypeEmbeddedDocument, int32s(-5), []byte{0}), "at least 5 bytes"},
		{"document too long", element(bsoncore.TypeEmbeddedDocument, int32s(6), []byte{0}), "larger than buffer"},
		{"document without an end", element(bsoncore.TypeEmbeddedDocument, withEnd(one, 1)), "not terminated"},
		{"document that ends early", element(bsoncore.TypeArray, int32s(6), []byte{0, 0}), "incorrect BSON length"},
		{"string over its document", element(bsoncore.TypeEmbeddedDocument, bsoncore.BuildDocument(nil,
			append([]byte("\x02b\x00"), append(int32s(3), 'x')...)), []byte("\x00\x0ac\x00")), "larger than buffer"},
		{"pattern without an end", element(bsoncore.TypeRegex, []byte("ab")), "Not null terminated"},
		{"pattern without options", element(bsoncore.TypeRegex, []byte("ab\x00")), "larger than buffer"},
		{"options without an end", element(bsoncore.TypeRegex, []byte("ab\x00i")), "Not null terminated"},
		{"pattern that is no UTF-8", element(bsoncore.TypeRegex, []byte("\xff\x00\x00")), "invalid UTF-8"},
		{"options that are no UTF-8", element(bsoncore.TypeRegex, []byte("a\x00\xff\x00")), "invalid UTF-8"},
		{"pointer too short", element(bsoncore.TypeDBPointer, str("a"), make([]byte, 11)), "larger than buffer"},
		{"pointer that is no UTF-8", element(bsoncore.TypeDBPointer, str("\xff"), make([]byte, 12)), "invalid UTF-8"},
		{"scoped code without a length", element(bsoncore.TypeCodeWithScope, []byte{1}), "larger than buffer"},
		{"scoped code too long", element(bsoncore.TypeCodeWithScope, int32s(100), str("a"), empty),
			"larger than buffer"},
		{"scoped code longer than its parts",
			element(bsoncore.TypeCodeWithScope, int32s(4+6+5+3), str("a"), empty, []byte("\x0ab\x00")),
			"incorrect BSON length"},
		{"scoped code shorter than its parts", element(bsoncore.TypeCodeWithScope, int32s(4+6+4), str("a"), empty),
			"larger than buffer"},
		{"scope that is no document",
			element(bsoncore.TypeCodeWithScope, int32s(4+6+6), str("a"), int32s(6), []byte{1, 0}),
			"a field name does not end"},
		{"one level too many", nestedTo(MaxDepth + 1), "exceeds maximum nested object depth: 200"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := Validate(c.d, MaxDepth)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("error %v, want %q", err, c.want)
			}
			code := int32(codeBSON)
			if strings.Contains(c.want, "depth") {
				code = codeOverflow
			}
			wantError(t, err, code, false)
			if _, err := Validate(element(bsoncore.TypeEmbeddedDocument, c.d), MaxDepth); err == nil {
				t.Error("accepted inside another document")
			}
		})
	}
}

func TestValidateDepth(t *testing.T) {
	for _, limit := range []int{0, 1, 100, MaxDepth} {
		if _, err := Validate(nestedTo(limit), limit); err != nil {
			t.Errorf("%d levels, of %d: %v", limit, limit, err)
		}
		_, err := Validate(nestedTo(limit+1), limit)
		wantError(t, err, codeOverflow, false)
	}
	scope := build(func(b *bsoncore.DocumentBuilder) { b.AppendCodeWithScope("a", "x", nestedTo(2)) })
	if depth, err := Validate(scope, 3); depth != 3 || err != nil {
		t.Errorf("a scope: depth %d, error %v", depth, err)
	}
	_, err := Validate(scope, 2)
	wantError(t, err, codeOverflow, false)
	_, err = Validate(nestedTo(3000), 1_000_000)
	wantError(t, err, codeOverflow, false)
}

func TestValidateNamesAreShownShort(t *testing.T) {
	long := strings.Repeat("x", 10_000)
	_, err := Validate(bsoncore.BuildDocument(nil, []byte("\x55"+long+"\x00")), MaxDepth)
	if text := fmt.Sprint(err); len(text) > 200 || !strings.Contains(text, long[:shownName]) {
		t.Errorf("error of %d bytes: %.300s", len(text), text)
	}
}

func TestCString(t *testing.T) {
	for n := range 40 {
		for _, tail := range []string{"\x00", "\x00\x01\x80\xff", "\x00\x00abcdefgh\xff"} {
			for _, c := range []string{"a", "\x01", "\x7f", "\x80", "\xff"} {
				b := []byte(strings.Repeat("a", n) + c + tail)
				got, ascii := cstring(b)
				if got != n+1 || ascii != (c[0] < 0x80) {
					t.Errorf("%q: %d, %v", b, got, ascii)
				}
			}
		}
		if got, _ := cstring(bytes.Repeat([]byte("a"), n)); got != n {
			t.Errorf("no NUL: %d of %d", got, n)
		}
	}
}
