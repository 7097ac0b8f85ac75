package transfer

import (
	"bytes"
	"math"
	"testing"
)

func TestPositions(t *testing.T) {
	for _, done := range []bool{false, true} {
		for _, sequence := range []uint64{0, 1200, math.MaxUint64} {
			for _, stamp := range []int64{0, 1_000_000} {
				line := AppendPosition(nil, math.MaxUint32, sequence, stamp, done)
				if !IsPosition(bytes.TrimSuffix(line, []byte("\n"))) {
					t.Errorf("%s is no position", line)
				}
			}
		}
	}
	for _, line := range []string{
		"", "{}", `{"$position":"1.1"}`,
		`{"$position":"1.1","done":true,"id":"9"}`, `{"$position":"1.1","done":"true"}`,
		`{"$position":"x","done":true}`, `{"$position":"1.","done":true}`, `{"$position":".1","done":true}`,
		`{"$position":"1.1","a":"","done":true}`, `{"$position":"1","done":true}`, `{"$position":"1.1","done":true}}`,
		`{"$position":"1.111111111111111111111","done":true}`, `{"id":"9","$position":"1.1","done":true}`,
		`{"$position":"1.1.","done":true}`, `{"$position":"1.1.x","done":true}`, `{"$position":"1.1.1.1","done":true}`,
	} {
		if IsPosition([]byte(line)) {
			t.Errorf("%s is a position", line)
		}
	}
}
