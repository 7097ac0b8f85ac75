package expression

import (
	"encoding/binary"
	"math"
	"time"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
)

// durationOverflow is the code of the error for a time that a date cannot hold.
const durationOverflow code.Code = 159

// dateOf is the instant of a date, a timestamp or an ObjectId, in milliseconds. The seconds of an ObjectId are signed.
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
		return 0, code.New(16006, "can't convert from BSON type %s to Date", code.TypeName(v))
	}
	return ms, nil
}

// optionals evaluates up to four arguments. The value of a nil one is missing.
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

// weekOfYear counts weeks from the first Sunday of the year. The days before it are in week 0.
func weekOfYear(t time.Time) int { return (t.YearDay() - int(t.Weekday()) + 6) / 7 }

// isoWeekday is 1 on Mondays and 7 on Sundays.
func isoWeekday(t time.Time) int { return (int(t.Weekday())+6)%7 + 1 }

// isoDay is a day of a week-numbering year. Weeks and days out of range carry over.
func isoDay(year, week, day int) time.Time {
	fourth := time.Date(year, time.January, 4, 0, 0, 0, 0, time.UTC) // is in week 1
	return fourth.AddDate(0, 0, (week-1)*7+day-isoWeekday(fourth))
}

// shownBy is the local time as seconds, as if it were Unix time.
func shownBy(t time.Time) int64 {
	_, offset := t.Zone()
	return t.Unix() + int64(offset)
}

// milliseconds is seconds*1000 + ms. It is not ok if a date cannot hold that.
func milliseconds(seconds, ms int64) (total int64, ok bool) {
	if seconds > math.MaxInt64/1000 || seconds < math.MinInt64/1000 {
		return 0, false
	}
	return plus(seconds*1000, ms)
}

// plus is a+b. It is not ok if the sum overflows.
func plus(a, b int64) (sum int64, ok bool) {
	sum = a + b
	return sum, (sum > a) == (b > 0)
}

// times is a*b for numbers above 0. It is not ok if the product overflows.
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
