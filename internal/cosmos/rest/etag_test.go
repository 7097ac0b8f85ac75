package rest

import (
	"testing"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/store"
)

func TestETagForm(t *testing.T) {
	got := string(appendETag(nil, access.Version{Sequence: 0x6201c25e, Stamp: 0x6ac9ff4d}))
	if want := `"6201c25e-0000-0100-0000-6ac9ff4d0000"`; got != want {
		t.Fatalf("got %s, want %s", got, want)
	}
}

func TestParseETag(t *testing.T) {
	have := access.Version{Sequence: 7, Stamp: 0x6ac9ff4d}
	for _, c := range []struct {
		name, text string
		want       *access.Version
	}{
		{"none", "", nil},
		{"any", " * ", store.AnyVersion},
		{"quoted", `"00000007-0000-0100-0000-6ac9ff4d0000"`, &have},
		{"bare", `00000007-0000-0100-0000-6ac9ff4d0000`, &have},
		{"weak", `W/"00000007-0000-0100-0000-6ac9ff4d0000"`, &have},
		{"too short", `"00000007-0000-0100-0000-6ac9ff4d000"`, neverVersion},
		{"no hex", `"0000000x-0000-0100-0000-6ac9ff4d0000"`, neverVersion},
		{"a number", `"43"`, neverVersion},
		{"words", "not-an-etag", neverVersion},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := parseETag(c.text)
			if (got == nil) != (c.want == nil) || got != nil && *got != *c.want {
				t.Fatalf("got %v, want %v", got, c.want)
			}
			if (got == store.AnyVersion) != (c.want == store.AnyVersion) {
				t.Fatal("only * is AnyVersion")
			}
		})
	}
}

func FuzzETag(f *testing.F) {
	f.Add(uint64(1), int64(1), "")
	f.Add(uint64(1)<<63, int64(1)<<40, `"43"`)
	f.Add(uint64(0), int64(0), `W/"6201c25e-0000-0100-0000-6ac9ff4d0000"`)
	f.Fuzz(func(t *testing.T, sequence uint64, stamp int64, text string) {
		parseETag(text)
		v := access.Version{Sequence: sequence, Stamp: stamp & (1<<48 - 1)}
		etag := appendETag(nil, v)
		if got := parseETag(string(etag)); len(etag) != etagLen || *got != v {
			t.Fatalf("%v became %s and came back as %v", v, etag, *got)
		}
	})
}
