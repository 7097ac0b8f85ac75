package main

import (
	"testing"

	"github.com/mayflydb/mayfly/internal/bench"
)

// A turn that was slow for both endpoints does not change the ratio.
func TestRatiosAreThoseOfTurns(t *testing.T) {
	first := []bench.Sample{{PerSecond: 100, CPU: 10}, {PerSecond: 10, CPU: 12}, {PerSecond: 100, CPU: 10}}
	second := []bench.Sample{{PerSecond: 200, CPU: 5}, {PerSecond: 20, CPU: 6}, {PerSecond: 20, CPU: 5}}
	if r := ratios(first, second); r.PerSecond != 2 || r.CPU != 0.5 || r.P50 != 0 {
		t.Errorf("%+v", *r)
	}
	if m := medians(first[:2]); m.PerSecond != 55 || m.CPU != 11 {
		t.Errorf("%+v", m)
	}
}
