package main

import "testing"

func TestEstimateShowsItsMargin(t *testing.T) {
	for want, got := range map[string]string{
		"1,234":           estimate(1234, true, 0),
		"about 1,234 ±56": estimate(1234, false, 56),
		"about 1,234":     estimate(1234, false, 0), // of an older server
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
