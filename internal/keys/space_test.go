package keys_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/keys"
)

func TestEPKBoundsOfTheService(t *testing.T) {
	for _, c := range []struct {
		version, i, n int
		want          string
	}{
		{1, 0, 1, ""}, {1, 1, 1, "FF"},
		{1, 1, 2, "05C1DFFFFFFFFC"}, {1, 1, 4, "05C1CFFFFFFFF8"}, {1, 2, 4, "05C1DFFFFFFFFC"}, {1, 4, 4, "FF"},
		{2, 0, 2, ""}, {2, 1, 2, "1FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF"}, {2, 2, 2, "FF"},
		{2, 1, 4, "0FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF"}, {2, 3, 4, "2FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF"},
	} {
		if got := fmt.Sprintf("%X", keys.EPKBound(c.version, false, c.i, c.n)); got != c.want {
			t.Errorf("bound %d of %d, version %d: %s, want %s", c.i, c.n, c.version, got, c.want)
		}
	}
}

// TestEPKBoundsSpreadKeys counts how keys fall into equal parts, by the effective key and by the form in keys on disk,
// which must agree.
func TestEPKBoundsSpreadKeys(t *testing.T) {
	const parts, documents = 16, 8_000
	for _, version := range []int{1, 2} {
		var bounds [][]byte
		for i := range parts + 1 {
			bounds = append(bounds, keys.EPKBound(version, false, i, parts))
		}
		counts := make([]int, parts)
		for i := range documents {
			values := []doc.Value{doc.String(fmt.Sprint("tenant ", i))}
			epk := keys.EffectivePartitionKey(nil, version, false, values)
			form := keys.AppendPartition(nil, version, false, values)
			found := 0
			for p := range parts {
				in := keys.InEPKRange(epk, bounds[p], bounds[p+1])
				if same := bytes.Compare(form, bounds[p]) >= 0 && bytes.Compare(form, bounds[p+1]) < 0; same != in {
					t.Fatalf("version %d: the form of key %d is in another part than its hash", version, i)
				}
				if in {
					counts[p]++
					found++
				}
			}
			if found != 1 {
				t.Fatalf("version %d: key %d is in %d parts", version, i, found)
			}
		}
		for p, n := range counts {
			if n < documents/parts/2 || n > documents/parts*2 {
				t.Errorf("version %d: part %d of %d has %d of %d keys", version, p, parts, n, documents)
			}
		}
	}
}

func TestNumbersHoldTheirRange(t *testing.T) {
	for _, c := range []struct {
		rng   uint16
		count uint64
	}{{0, 1}, {0, keys.MaxCount}, {3, 7}, {keys.MaxRanges - 1, keys.MaxCount}} {
		n := keys.NumberOf(c.rng, c.count)
		if keys.RangeOfNumber(n) != c.rng || keys.CountOfNumber(n) != c.count || n >= 1<<60 {
			t.Errorf("%d in range %d: %d", c.count, c.rng, n)
		}
	}
	if keys.NumberOf(0, 42) != 42 {
		t.Error("the numbers of range 0 are not the counts")
	}
}
