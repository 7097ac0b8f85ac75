package pebble

import (
	"fmt"
	"strings"
	"testing"
)

func TestPausesAreFound(t *testing.T) {
	const (
		begun   = -1 // a new memtable
		renewed = -2
	)
	for _, c := range []struct {
		name    string
		written []int64 // in each second
		found   int     // the second in which a pause is found, counted from 1; 0 for none
	}{
		{"nothing", []int64{0, 0, 0, 0}, 0},
		{"a little, then nothing", []int64{500, 0, 0, 0, 0}, 0},
		{"much, then nothing", []int64{2000, 0, 0}, 3},
		{"much, then a trickle", []int64{6400, 100, 100}, 3},
		{"all the time", []int64{2000, 2000, 2000, 2000, 2000}, 0},
		{"slowly", []int64{300, 300, 300, 300, 300, 300}, 0},
		{"with pauses of a second", []int64{2000, 0, 2000, 0, 2000, 0}, 0},
		{"a new memtable during the pause", []int64{2000, 0, begun, 0}, 0},
		{"a memtable from before", []int64{2000, 0, begun, 0, 0}, 5},
		{"a memtable from before, then a trickle", []int64{2000, 0, begun, 640, 10, 10}, 6},
		{"memtables with little", []int64{500, begun, 500, begun, 0, 0, 0}, 0},
		{"a memtable from before, renewed", []int64{2000, 0, begun, renewed, 0, 0, 0}, 0},
	} {
		w := pauseWatch{least: 1000}
		found := 0
		for i, n := range c.written {
			switch n {
			case begun:
				w.begun()
			case renewed:
				w.renewed()
			default:
				w.written.Add(n)
			}
			if w.found() && found == 0 {
				found = i + 1
			}
		}
		if found != c.found {
			t.Errorf("%s: a pause is found in second %d, want %d", c.name, found, c.found)
		}
	}
}

// When writes pause, what they wrote goes to tables, once, and is there.
func TestFlushInAPause(t *testing.T) {
	e := start(t, Options{Dir: t.TempDir(), MemTableBytes: 1 << 20})
	defer stop(t, e)
	value := strings.Repeat("v", 1000)
	const writes = 300 // more than an eighth, less than a memtable
	for i := range writes {
		set(t, e, fmt.Sprint("k", i), value)
	}
	flushes := func() int64 { return e.db.Metrics().Flush.Count }
	before := flushes()
	rest(e, pauseChecks+1)
	if flushes() == before {
		t.Error("nothing was flushed")
	}
	set(t, e, "k", value)
	before = flushes()
	rest(e, pauseChecks+1)
	if flushes() != before {
		t.Error("a little is flushed, too")
	}
	for i := range writes {
		want(t, e, fmt.Sprint("k", i), value)
	}
}
