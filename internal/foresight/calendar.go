package foresight

import (
	"time"

	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/fault"
)

// The parts of the calendar by which a Forecast counts. They begin at full hours, days and months of UTC.
const (
	ByHour  = "hour"
	ByDay   = "day"
	ByMonth = "month"
)

// MaxBuckets is how many parts a Forecast may have.
const MaxBuckets = 1000

// usualBuckets is how many parts a Forecast has that does not ask for a number.
var usualBuckets = map[string]int{ByHour: 24, ByDay: 30, ByMonth: 12}

// calendar is the ends of the first parts from now on, each the first second of the next part. The first part is the
// rest of the present one.
func calendar(now expiry.Stamp, by string, parts int) ([]expiry.Stamp, error) {
	usual, ok := usualBuckets[by]
	if !ok {
		return nil, fault.New(fault.Invalid, "A forecast counts by hour, day or month, not by '%s'.", by)
	}
	if parts == 0 {
		parts = usual
	}
	if parts < 1 || parts > MaxBuckets {
		return nil, fault.New(fault.Invalid, "A forecast has from 1 to %d parts.", MaxBuckets)
	}
	t := time.Unix(now, 0).UTC()
	var next func(i int) time.Time
	switch by {
	case ByHour:
		next = func(i int) time.Time { return t.Truncate(time.Hour).Add(time.Duration(i) * time.Hour) }
	case ByDay:
		next = func(i int) time.Time { return time.Date(t.Year(), t.Month(), t.Day()+i, 0, 0, 0, 0, time.UTC) }
	default:
		next = func(i int) time.Time { return time.Date(t.Year(), t.Month()+time.Month(i), 1, 0, 0, 0, 0, time.UTC) }
	}
	ends := make([]expiry.Stamp, parts)
	for i := range ends {
		ends[i] = next(i + 1).Unix()
	}
	return ends, nil
}
