package doc

import (
	"encoding/json"
	"testing"
)

// TestNamesInJSON writes names of every length and with every byte that matters, alone and in a row, and compares them
// with what another encoder reads.
func TestNamesInJSON(t *testing.T) {
	letters := []string{"a", `"`, `\`, "\n", "\x1f", " ", "\x7f", "é", "\u2028", "~"}
	for length := range 12 {
		for at := range length + 1 {
			for _, letter := range letters {
				name := "abcdefghijkl"[:at] + letter + "abcdefghijkl"[at:length]
				d := Doc(finish(AppendElement(AppendElement(make([]byte, 4), name, Int32(1)), "z", String(name))))
				var got map[string]any
				if err := json.Unmarshal(AppendJSON(nil, d), &got); err != nil || got[name] != 1.0 || got["z"] != name {
					t.Errorf("%q: %s, %v", name, AppendJSON(nil, d), err)
				}
			}
		}
	}
}
