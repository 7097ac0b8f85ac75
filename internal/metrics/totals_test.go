package metrics

import (
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/mayflydb/mayfly/internal/node"
)

func TestTotals(t *testing.T) {
	m := New()
	name := func(int) string { return "same" }
	read := m.Operation("nosql", "ReadDocument", strconv.Itoa)
	create := m.Operation("nosql", "CreateDocument", strconv.Itoa)
	find := m.Operation("mongo", "find", name)
	var nosql, mongo node.Totals
	check := func(api string, into *node.Totals, errors uint64, took map[int]uint64) {
		t.Helper()
		m.Totals(api, into)
		want := make([]uint64, len(buckets)+1)
		for i, n := range took {
			want[i] = n
		}
		if into.Errors != errors || !slices.Equal(into.Took, want) || len(into.Bounds) != len(buckets) {
			t.Errorf("%s: %d errors, took %v, want %d and %v", api, into.Errors, into.Took, errors, want)
		}
	}
	check("nosql", &nosql, 0, nil)
	read(200, 0)
	read(304, 200*time.Microsecond)
	read(404, 200*time.Microsecond)
	create(409, time.Hour)
	for status := range 3 { // three statuses with one label
		find(status, 2*time.Second)
	}
	for range 2 { // nothing is counted twice
		check("nosql", &nosql, 2, map[int]uint64{0: 1, 1: 2, len(buckets): 1})
		m.Totals("mongo", &mongo)
		if got := sum(mongo.Took); got != 3 {
			t.Errorf("%d commands", got)
		}
	}
	read(200, 0)
	check("nosql", &nosql, 2, map[int]uint64{0: 2, 1: 2, len(buckets): 1})
}

// What a look at all requests costs, once a second: of a server on which fifty operations were used with two statuses,
// and of one where all of them go on.
func BenchmarkTotals(b *testing.B) {
	for name, busy := range map[string]bool{"idle": false, "busy": true} {
		b.Run(name, func(b *testing.B) {
			m := New()
			var all []func(int, time.Duration)
			for i := range 50 {
				done := m.Operation("nosql", fmt.Sprint("Operation", i), strconv.Itoa)
				done(200, time.Millisecond)
				done(404, time.Millisecond)
				all = append(all, done)
			}
			var t node.Totals
			b.ReportAllocs()
			for b.Loop() {
				if busy {
					for _, done := range all {
						done(200, time.Millisecond)
					}
				}
				m.Totals("nosql", &t)
			}
		})
	}
}
