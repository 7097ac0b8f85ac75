package pebble

import "testing"

func TestSlackIsFound(t *testing.T) {
	const limit = 800
	for _, c := range []struct {
		name  string
		cache []int64 // bytes in each second
		found int     // the second in which memory is found, counted from 1; 0 for none
	}{
		{"full", []int64{800, 800, 800, 800, 800}, 0},
		{"filling", []int64{100, 200, 300, 400, 500}, 0},
		{"a little less", []int64{800, 701, 701, 701, 701}, 0},
		{"much less", []int64{800, 700, 700, 700, 700}, 4},
		{"less and less", []int64{800, 750, 700, 650, 600}, 5},
		{"for two seconds", []int64{800, 400, 400, 800, 800, 400, 400, 800}, 0},
		{"more than before at last", []int64{100, 0, 0, 200, 200, 200}, 0},
	} {
		var w slackWatch
		found := 0
		for i, bytes := range c.cache {
			if w.found(bytes, limit) && found == 0 {
				found = i + 1
			}
		}
		if found != c.found {
			t.Errorf("%s: memory is found in second %d, want %d", c.name, found, c.found)
		}
	}
}
