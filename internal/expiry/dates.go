package expiry

import "math"

// DateDeadline is the first second at which a document does not exist that ends so many
// seconds after a date, in milliseconds since 1970: MongoDB's TTL index, whose documents are
// due when date <= now - seconds. A whole second is as fine as the clock is.
// https://www.mongodb.com/docs/manual/core/index-ttl/
func DateDeadline(ms, seconds int64) Stamp {
	whole := ms / 1000
	if ms%1000 > 0 {
		whole++
	}
	return whole + seconds
}

// LastDue is the greatest date, in milliseconds, that is due at now for that many seconds.
func LastDue(now Stamp, seconds int64) (ms int64) {
	if at := now - seconds; at > math.MinInt64/1000 {
		return at * 1000
	}
	return math.MinInt64
}
