// Package expiry says when a document stops existing. It holds the rule of lifetime and nothing else: no clock, no
// storage. Policy is the whole rule of one container: by default, by a document's own ttl, by a property and by dates.
// Everything that reads documents asks Policy.Dead, so a document is gone at its deadline because every read applies
// the rule, never because a job has run.
//
// Numbers such as T-13 and A-01 are those of the TTL specification; docs/ttl.md has the same rules for users.
package expiry

// A Stamp is a whole number of Unix seconds.
type Stamp = int64

// A TTL is a life span in seconds. Unset (0) means that none was given; as the default of a container it switches
// lifetime off. Never (-1) means that there is no end.
type TTL int32

// The two TTL values that are not a number of seconds.
const (
	Unset TTL = 0
	Never TTL = -1
)

// MaxTTL is the longest life span, about 68 years (L-01).
const MaxTTL TTL = 1<<31 - 1

// Deadline is the first second at which a document whose life of t seconds starts at from does not exist. ok is false
// for Unset and Never. The arithmetic has 64 bits, so it cannot overflow for any stamp or date (section 1 of the
// rules).
func (t TTL) Deadline(from Stamp) (at Stamp, ok bool) {
	if t <= Unset {
		return 0, false
	}
	return from + Stamp(t), true
}

// due reports whether a life of t seconds from then on is over at now. The second of the deadline is the first one at
// which the document is gone (T-13, A-02).
func (t TTL) due(from, now Stamp) bool {
	at, ok := t.Deadline(from)
	return ok && at <= now
}
