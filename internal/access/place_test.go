package access

import (
	"slices"
	"testing"
)

// TestPlace has documents in the order of their places. The last sequences are those that a transaction shows for
// documents that it has replaced and created.
func TestPlace(t *testing.T) {
	const shown = 0xFFF << rangeBit
	var places []uint64
	for _, d := range []Document{
		{Number: 9, Version: Version{Sequence: 1}},
		{Number: 2, Version: Version{Sequence: 3}},
		{Number: 1, Version: Version{Sequence: shown + 1}},
		{Number: 7, Version: Version{Sequence: shown + 3}},
		{Number: 1<<rangeBit | 5, Version: Version{Sequence: 1}},
		{Number: 1<<rangeBit | 4, Version: Version{Sequence: shown + 2}},
		{Number: shown + 1, Version: Version{Sequence: shown + 4}},
	} {
		places = append(places, d.Place())
	}
	if !slices.IsSorted(places) || len(slices.Compact(slices.Clone(places))) != len(places) {
		t.Errorf("the places are %x", places)
	}
}
