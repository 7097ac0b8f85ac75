package rest

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/fault"
)

func TestParsePartitionKey(t *testing.T) {
	none := doc.Value{}
	for _, tt := range []struct {
		name, text string
		want       []doc.Value // nil: refused
	}{
		{"string", `["a"]`, []doc.Value{doc.String("a")}},
		{"empty string", `[""]`, []doc.Value{doc.String("")}},
		{"integer", `[1]`, []doc.Value{doc.Int(1)}},
		{"negative fraction", `[-1.5e3]`, []doc.Value{doc.Float(-1500)}},
		{"true", `[true]`, []doc.Value{doc.Bool(true)}},
		{"false", `[false]`, []doc.Value{doc.Bool(false)}},
		{"null", `[null]`, []doc.Value{doc.Null()}},
		{"absent", `[{}]`, []doc.Value{none}},
		{"absent with space", ` [ { } ] `, []doc.Value{none}},
		{"all", `[]`, []doc.Value{}},
		{"three", `["a", 2 ,null]`, []doc.Value{doc.String("a"), doc.Int(2), doc.Null()}},
		{"JSON escapes", `["\"\\\/\b\f\n\r\t\u00e9"]`, []doc.Value{doc.String("\"\\/\b\f\n\r\té")}},
		{"Go escapes", `["\a\v\x7f\U0001f600"]`, []doc.Value{doc.String("\a\v\x7f😀")}},
		{"surrogate pair", `["\ud83d\ude00"]`, []doc.Value{doc.String("😀")}},
		{"lone surrogates", `["\ud83dx\ude00"]`, []doc.Value{doc.String("\uFFFDx\uFFFD")}},
		{"two first halves", `["\ud83d\ud83d\ude00"]`, []doc.Value{doc.String("\uFFFD😀")}},
		{"byte that was no UTF-8", `["\xff"]`, []doc.Value{doc.String("\uFFFD")}},
		{"raw UTF-8", `["é😀"]`, []doc.Value{doc.String("é😀")}},
		{"raw bytes that are no UTF-8", "[\"a\xff\"]", []doc.Value{doc.String("a\uFFFD")}},
		{"beyond Unicode", `["\Uffffffff"]`, []doc.Value{doc.String("\uFFFD")}},
		{"longest string", `["` + strings.Repeat("x", maxPartitionString) + `"]`,
			[]doc.Value{doc.String(strings.Repeat("x", maxPartitionString))}},
		{"too long a string", `["` + strings.Repeat("x", maxPartitionString+1) + `"]`, nil},
		{"four", `[1,2,3,4]`, nil},
		{"no array", `"a"`, nil},
		{"open", `["a"`, nil},
		{"open string", `["a]`, nil},
		{"open escape", `["\`, nil},
		{"trailing comma", `["a",]`, nil},
		{"leading comma", `[,"a"]`, nil},
		{"no comma", `["a" "b"]`, nil},
		{"something behind", `["a"]x`, nil},
		{"array", `[[1]]`, nil},
		{"object", `[{"a":1}]`, nil},
		{"infinity", `[1e400]`, nil},
		{"named number", `[NaN]`, nil},
		{"hexadecimal", `[0x10]`, nil},
		{"underscore", `[1_0]`, nil},
		{"unknown escape", `["\q"]`, nil},
		{"short hex", `["\u12"]`, nil},
		{"no hex", `["\u12g4"]`, nil},
		{"huge", `["` + strings.Repeat(`\u0001`, maxPartitionText/6) + `"]`, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := parsePartitionKey(tt.text)
			if tt.want == nil {
				if fault.KindOf(err) != fault.Invalid {
					t.Fatalf("got %v and error %v, want it refused", got, err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if !sameValues(got, tt.want) {
				t.Fatalf("got %v, want %v", got, tt.want)
			}
		})
	}
}

func sameValues(a, b []doc.Value) bool {
	if len(a) != len(b) || (a == nil) != (b == nil) {
		return false
	}
	for i := range a {
		if a[i].Type != b[i].Type || !bytes.Equal(a[i].Data, b[i].Data) {
			return false
		}
	}
	return true
}

// FuzzParsePartitionKey checks that nothing panics, that JSON strings and what
// Go quotes are read back as they were.
func FuzzParsePartitionKey(f *testing.F) {
	for _, seed := range []string{`["a"]`, `[]`, `[{}]`, `[1,true,null]`, `["\ud83d\ude00\x7f\U0001f600"]`,
		"\x00\xff", `[-0]`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if parts, err := parsePartitionKey(text); err == nil && len(parts) > maxPartitionParts {
			t.Fatalf("%d components of %q", len(parts), text)
		}
		if len(text) > maxPartitionString {
			return
		}
		want := strings.ToValidUTF8(text, "\uFFFD")
		asJSON, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		for _, quoted := range []string{string(asJSON), strconv.QuoteToASCII(want)} {
			parts, err := parsePartitionKey("[" + quoted + "]")
			if err != nil {
				if len(want) <= maxPartitionString {
					t.Fatalf("%s: %v", quoted, err)
				}
				continue
			}
			if got, _ := doc.AsString(parts[0]); got != want {
				t.Fatalf("%s is read as %q, want %q", quoted, got, want)
			}
		}
	})
}

func TestMissingPartitionKeyNamesTheHeader(t *testing.T) {
	d := newItems(t)
	d.do("GET", documents+"/1", "").want(400).says("in the header x-ms-documentdb-partitionkey")
}
