package rest

import (
	"encoding/base64"
	"strings"
	"testing"
)

func TestRIDShapes(t *testing.T) {
	for _, c := range []struct {
		name  string
		rid   rid
		bytes int
	}{
		{"database", rid{database: 1}, 4},
		{"container", rid{database: 1, container: 2}, 8},
		{"user", rid{database: 1, user: 2}, 8},
		{"document", rid{database: 1, container: 2, number: 3, hasNumber: true}, 16},
		{"range", rid{database: 1, container: 2, kind: rangeRID, number: 2, hasNumber: true}, 16},
		{"largest document", rid{database: 1<<32 - 1, container: 1<<31 - 1, number: maxRIDNumber, hasNumber: true}, 16},
		{"permission", rid{database: 1, user: 2, number: 3, hasNumber: true}, 16},
		{"offer", rid{offer: 1<<24 - 1}, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := c.rid.String()
			raw, err := base64.StdEncoding.DecodeString(strings.ReplaceAll(text, "-", "/"))
			if err != nil || len(raw) != c.bytes {
				t.Fatalf("%s is %d bytes (%v), want %d", text, len(raw), err, c.bytes)
			}
			if back, ok := parseRID(text); !ok || back != c.rid {
				t.Fatalf("%s came back as %+v, want %+v", text, back, c.rid)
			}
		})
	}
}

// The bits that SDKs look at: the first bit of the second four bytes, and the
// high nibble of the last byte.
func TestRIDBits(t *testing.T) {
	raw := rid{database: 1, container: 1, kind: procedureRID, number: 1, hasNumber: true}.bytes(nil)
	if raw[4]&0x80 == 0 {
		t.Error("a container's bit is not set")
	}
	if raw[15]>>4 != byte(procedureRID) || raw[8] != 1 {
		t.Errorf("the last eight bytes are %x", raw[8:])
	}
	if raw := (rid{database: 1, user: 1}).bytes(nil); raw[4]&0x80 != 0 {
		t.Error("a user's bit is set")
	}
}

func TestParseRIDRefuses(t *testing.T) {
	for _, text := range []string{"", "a", "AAAAAA==", "AQAAAA", "AQAAAAA=", "AQAAAIAAAAA=", "AQAAAAAAAAA=",
		"/QAAAA==", "AQAAAB==", "0\r000", strings.Repeat("A", 100)} {
		if r, ok := parseRID(text); ok {
			t.Errorf("%q is taken for %+v", text, r)
		}
	}
}

func FuzzParseRID(f *testing.F) {
	for _, text := range []string{"", "AQAAAA==", "AQAAAIAAAAE=", "AQAAAIAAAAEBAAAAAAAAAA==", "AQAA", "AQAAAAAAAAI=",
		"~~~~"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if r, ok := parseRID(text); ok && r.String() != text {
			t.Fatalf("%q came back as %q", text, r)
		}
	})
}
