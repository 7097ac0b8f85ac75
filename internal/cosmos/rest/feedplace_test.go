package rest

import (
	"testing"

	"github.com/mayflydb/mayfly/internal/catalog"
)

// TestPlacesOfSplitRanges takes a sequence alone for one range, and for those that were split from one.
func TestPlacesOfSplitRanges(t *testing.T) {
	whole, other := catalog.Range{Number: 0}, catalog.Range{Number: 1}
	left := catalog.Range{Number: 2, Parents: []uint16{1}}
	right := catalog.Range{Number: 3, Parents: []uint16{1}}
	inner := catalog.Range{Number: 4, Parents: []uint16{1, 3}}
	for _, x := range []struct {
		ranges []catalog.Range
		ok     bool
	}{
		{[]catalog.Range{whole}, true},
		{[]catalog.Range{left}, true},
		{[]catalog.Range{left, right}, true},
		{[]catalog.Range{left, inner}, true},
		{[]catalog.Range{whole, other}, false},
		{[]catalog.Range{whole, left, right}, false},
	} {
		places, err := parsePlaces(`"57"`, x.ranges)
		if (err == nil) != x.ok {
			t.Errorf("%v: %v", x.ranges, err)
		}
		for i, p := range places {
			if p != (feedPlace{x.ranges[i].Number, 57}) {
				t.Errorf("%v: place %v", x.ranges, p)
			}
		}
		if _, err := parsePlaces(`"0"`, x.ranges); err != nil {
			t.Errorf("the beginning of %v: %v", x.ranges, err)
		}
	}
}
