package keys

import (
	"bytes"
	"testing"
)

// TestEPKMiddle: halves of even parts have the bounds that an even division into twice as many has.
func TestEPKMiddle(t *testing.T) {
	for _, version := range []PartitionVersion{HashV1, HashV2} {
		for _, n := range []int{1, 2, 3, 8} {
			for i := range n {
				low, high := EPKBound(version, false, i, n), EPKBound(version, false, i+1, n)
				got, ok := EPKMiddle(version, false, low, high)
				want := EPKBound(version, false, 2*i+1, 2*n)
				if !ok || n&(n-1) == 0 && !bytes.Equal(got, want) {
					t.Errorf("version %d, part %d of %d: %x, want %x", version, i, n, got, want)
				}
				cut, ok := EPKCut(version, false, append(bytes.Clone(got), "value"...))
				if !ok || !bytes.Equal(cut, got) {
					t.Errorf("version %d: the bound %x is cut to %x", version, got, cut)
				}
			}
		}
	}
	low := EPKBound(HashV2, false, 1, 2)
	if _, ok := EPKMiddle(HashV2, false, low, append(bytes.Clone(low[:len(low)-1]), low[len(low)-1]+1)); ok {
		t.Error("a bound between two neighbours")
	}
}

func TestEPKCutRefusesWhatIsNoHash(t *testing.T) {
	for _, epk := range []string{
		"", "\x05", "\x05\xC1", "\xFF", "\x08abc\x00", "\x05\xC1\xEF\xEF\xEF\xEF\xEF\xEF\xEF\xEF\xEF\xEF",
	} {
		if bound, ok := EPKCut(HashV1, false, []byte(epk)); ok {
			t.Errorf("%x gives %x", epk, bound)
		}
		if bound, ok := EPKCut(HashV2, false, []byte(epk)); ok {
			t.Errorf("%x gives %x", epk, bound)
		}
	}
}

func TestProgressOfASplitRange(t *testing.T) {
	for _, p := range []Progress{
		{Range: 5, Next: 7, Indexes: []uint32{1, 3}}, {Next: 7}, {Range: 2, Next: NumberOf(2, 1)},
	} {
		got, err := DecodeProgress(p.Append(nil))
		if err != nil || got.Range != p.Range || got.Next != p.Next || len(got.Indexes) != len(p.Indexes) {
			t.Errorf("%v is read as %v (%v)", p, got, err)
		}
	}
}
