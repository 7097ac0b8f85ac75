package foresight

import (
	"testing"
	"time"

	"github.com/mayflydb/mayfly/internal/fault"
)

func TestCalendar(t *testing.T) {
	for _, c := range []struct {
		now, by     string
		parts       int
		first, last string
	}{
		{"2026-03-01T10:41:14Z", ByHour, 2, "2026-03-01T11:00:00Z", "2026-03-01T12:00:00Z"},
		{"2026-03-01T10:00:00Z", ByHour, 0, "2026-03-01T11:00:00Z", "2026-03-02T10:00:00Z"},
		{"2026-12-31T23:59:59Z", ByHour, 1, "2027-01-01T00:00:00Z", "2027-01-01T00:00:00Z"},
		{"2026-03-01T00:00:00Z", ByDay, 0, "2026-03-02T00:00:00Z", "2026-03-31T00:00:00Z"},
		{"2028-02-28T23:00:00Z", ByDay, 2, "2028-02-29T00:00:00Z", "2028-03-01T00:00:00Z"},
		{"2026-01-31T10:41:14Z", ByMonth, 0, "2026-02-01T00:00:00Z", "2027-01-01T00:00:00Z"},
		{"2026-12-01T00:00:00Z", ByMonth, 1000, "2027-01-01T00:00:00Z", "2110-04-01T00:00:00Z"},
		{"1969-12-31T23:30:00Z", ByHour, 1, "1970-01-01T00:00:00Z", "1970-01-01T00:00:00Z"},
	} {
		now, err := time.Parse(time.RFC3339, c.now)
		if err != nil {
			t.Fatal(err)
		}
		ends, err := calendar(now.Unix(), c.by, c.parts)
		if err != nil {
			t.Fatal(err)
		}
		if first, last := At(ends[0]).Time, At(ends[len(ends)-1]).Time; first != c.first || last != c.last {
			t.Errorf("%d parts by %s from %s: %s to %s, want %s to %s", c.parts, c.by, c.now, first, last, c.first,
				c.last)
		}
	}
	for _, c := range []struct {
		by    string
		parts int
	}{{"week", 1}, {"", 1}, {ByDay, -1}, {ByDay, MaxBuckets + 1}} {
		if _, err := calendar(0, c.by, c.parts); fault.KindOf(err) != fault.Invalid {
			t.Errorf("%d parts by %q: %v", c.parts, c.by, err)
		}
	}
}

func TestInstants(t *testing.T) {
	for second, want := range map[int64]string{
		0: "1970-01-01T00:00:00Z", 253402300799: "9999-12-31T23:59:59Z", 253402300800: "", 1 << 60: "", -1 << 60: "",
	} {
		if got := At(second); got.Time != want || got.Unix != second {
			t.Errorf("second %d: %+v", second, got)
		}
	}
}

func TestDuration(t *testing.T) {
	for seconds, want := range map[int64]string{
		0: "0 seconds", 1: "1 second", 90: "1 minute 30 seconds", 3600: "1 hour", 86400 * 30: "30 days",
		2147483647: "24855 days 3 hours 14 minutes 7 seconds", -60: "minus 1 minute",
	} {
		if got := Duration(seconds); got != want {
			t.Errorf("%d: %q, want %q", seconds, got, want)
		}
	}
}
