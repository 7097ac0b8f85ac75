package bench

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"
)

func TestMeasureCountsSuccessAndFailure(t *testing.T) {
	o := &Operation{Name: "alternating", kind: func(err error) string { return err.Error() },
		do: func(_ context.Context, n int) error {
			if n%2 == 0 {
				return errors.New("even")
			}
			return nil
		}}
	s, err := Measure(t.Context(), o, 2, 50*time.Millisecond, &Process{ID: os.Getpid()})
	if err != nil && strings.Contains(err.Error(), "no /proc") {
		s, err = Measure(t.Context(), o, 2, 50*time.Millisecond, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	if s.Calls == 0 || s.Failures == 0 || s.PerSecond <= 0 || s.P50 <= 0 || s.P99 < s.P50 || s.CPU < 0 {
		t.Errorf("%+v", s)
	}
}

func TestMeasureSaysWhyNothingSucceeds(t *testing.T) {
	o := &Operation{Name: "create", kind: func(error) string { return "429" },
		do: func(context.Context, int) error { return errors.New("too many") }}
	if _, err := Measure(t.Context(), o, 1, time.Millisecond, nil); err == nil ||
		err.Error() != "create: no call succeeded: 429" {
		t.Errorf("error %v", err)
	}
}

// Queries of a suite have known answers only if its documents are spread evenly.
func TestOrders(t *testing.T) {
	const count = 1000
	groups, partitions, scores := map[int]int{}, map[string]int{}, map[float64]bool{}
	for i := range count {
		o := makeOrder(i, count)
		groups[o.Group]++
		partitions[o.Partition]++
		scores[o.Score] = true
	}
	if len(groups) != count/together || len(partitions) != count/together || len(scores) != count {
		t.Errorf("%d groups, %d partitions, %d scores", len(groups), len(partitions), len(scores))
	}
	for group, n := range groups {
		if n != together {
			t.Errorf("group %d has %d documents", group, n)
		}
	}
}
