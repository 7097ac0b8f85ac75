package expression

import (
	"encoding/binary"
	"math"
	"time"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
)

// durationOverflow is the code of a time beyond what a date holds.
const durationOverflow code.Code = 159

// dateOf is the instant, in milliseconds, of what stands for one: a date, a timestamp or
// an ObjectId, whose seconds have a sign.
func dateOf(v doc.Value) (ms int64, ok bool) {
	switch v.Type {
	case bsoncore.TypeDateTime:
		return asDate(v), true
	case bsoncore.TypeTimestamp:
		seconds, _ := timestampParts(v)
		return int64(seconds) * 1000, true
	case bsoncore.TypeObjectID:
		return int64(int32(binary.BigEndian.Uint32(v.Data))) * 1000, true
	}
	return 0, false
}

// mustDate is dateOf, or the error of most operators.
func mustDate(v doc.Value) (int64, error) {
	ms, ok := dateOf(v)
	if !ok {
		return 0, code.New(16006, "can't convert from BSON type %s to Date", typeName(v))
	}
	return ms, nil
}

// optionals evaluates at most four arguments. One that is nil is missing.
func optionals(s *Scope, args []*Expression) (v [4]doc.Value, err error) {
	for i, x := range args {
		if x == nil {
			continue
		}
		if v[i], err = x.run(s); err != nil {
			return v, err
		}
	}
	return v, nil
}

// weekOfYear counts from the first Sunday of the year; days before it are in week 0.
func weekOfYear(t time.Time) int { return (t.YearDay() - int(t.Weekday()) + 6) / 7 }

// isoWeekday is 1 on Mondays and 7 on Sundays.
func isoWeekday(t time.Time) int { return (int(t.Weekday())+6)%7 + 1 }

// isoDay is the day of a week-numbering year; weeks and days beyond it count on.
func isoDay(year, week, day int) time.Time {
	fourth := time.Date(year, time.January, 4, 0, 0, 0, 0, time.UTC) // is in week 1
	return fourth.AddDate(0, 0, (week-1)*7+day-isoWeekday(fourth))
}

// shownBy is the seconds that clocks show, as if it were Unix time.
func shownBy(t time.Time) int64 {
	_, offset := t.Zone()
	return t.Unix() + int64(offset)
}

// milliseconds is seconds*1000 + ms, not ok when a date cannot hold it.
func milliseconds(seconds, ms int64) (total int64, ok bool) {
	if seconds > math.MaxInt64/1000 || seconds < math.MinInt64/1000 {
		return 0, false
	}
	return plus(seconds*1000, ms)
}

// plus adds, not ok when the sum is out of range.
func plus(a, b int64) (sum int64, ok bool) {
	sum = a + b
	return sum, (sum > a) == (b > 0)
}

// times multiplies two numbers above 0, not ok when the product is out of range.
func times(a, b int64) (product int64, ok bool) {
	return a * b, a <= math.MaxInt64/b
}

// floorDivide rounds down, where / rounds towards 0.
func floorDivide(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}
