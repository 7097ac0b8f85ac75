package foresight

import "testing"

func TestMargin(t *testing.T) {
	for _, c := range []struct {
		name string
		from sampling
		seen uint64
		want uint64
	}{
		{"half of a large sample", sampling{stored: 1_000_000, sampled: 100_000, runs: 2048}, 50_000, 21_635},
		{"nothing met", sampling{stored: 1_000_000, sampled: 100_000, runs: 2048}, 0, 2_325},
		{"all met", sampling{stored: 1_000_000, sampled: 100_000, runs: 2048}, 100_000, 2_325},
		{"one run", sampling{stored: 100, sampled: 32, runs: 1}, 16, 44},
		{"no sample", sampling{stored: 100}, 0, 100},
	} {
		if got := c.from.margin(c.seen); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
	if got := together(300, 400); got != 500 {
		t.Errorf("together %d", got)
	}
}
