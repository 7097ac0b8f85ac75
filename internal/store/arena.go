package store

// An arena is memory that the keys of one step share, so that thousands of short keys are a few allocations. A full
// piece is left to the keys that are in it.
type arena []byte

// Bytes of the key of a record or a feed entry, and of memory that is taken at once.
const (
	numberedBytes = 16
	arenaBytes    = 8 << 10
)

// room returns an empty slice to which a key of n bytes can be appended.
func (a *arena) room(n int) []byte {
	if cap(*a)-len(*a) < n {
		*a = make([]byte, 0, max(arenaBytes, n))
	}
	start := len(*a)
	*a = (*a)[:start+n]
	return (*a)[start : start : start+n]
}

// keep copies a key.
func (a *arena) keep(key []byte) []byte { return append(a.room(len(key)), key...) }
