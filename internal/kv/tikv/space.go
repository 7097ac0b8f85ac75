package tikv

import (
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/kv"
)

// maxKeyBytes is the limit for keys. TiKV refuses keys that take more than 8 KiB in its encoding, which makes nine
// bytes of eight (storage.max-key-size, components/codec: 910 groups, 7,279 bytes). Of these, a prefix takes up to 65,
// the byte that tells data from other keys one, and the number of a chunk of a large value 16.
const maxKeyBytes = 7 << 10

// MaxKeyBytes is the limit for keys.
func (e *Engine) MaxKeyBytes() int { return maxKeyBytes }

// The byte after the prefix says what a key is for. Keys of the engine's users are data; see value.go for the others.
const (
	dataKeys   = 'd'
	chunkKeys  = 'c'
	recordKeys = 'l'
)

// A space is the part of the cluster's keys that belongs to an engine.
type space struct{ prefix []byte }

// newSpace ends the prefix with a slash, which no prefix contains, so that no space lies within another one.
func newSpace(prefix string) space { return space{[]byte(prefix + "/")} }

// of is the cluster's key for key.
func (s space) of(kind byte, key []byte) []byte {
	full := make([]byte, 0, len(s.prefix)+1+len(key)+chunkSuffix)
	full = append(full, s.prefix...)
	return append(append(full, kind), key...)
}

func (s space) data(key []byte) []byte { return s.of(dataKeys, key) }

// bounds are the cluster's keys for [lower, upper), where nil is open.
func (s space) bounds(kind byte, lower, upper []byte) (from, to []byte) {
	if upper == nil {
		return s.of(kind, lower), s.of(kind+1, nil)
	}
	return s.of(kind, lower), s.of(kind, upper)
}

// user is the key that full is for.
func (s space) user(full []byte) []byte { return full[len(s.prefix)+1:] }

// checkKeys refuses keys that TiKV would refuse, and ranges, which it cannot delete within a transaction.
func checkKeys(ops []kv.Op) error {
	for i := range ops {
		if ops[i].End != nil {
			return fault.New(fault.Unsupported, "the cluster does not delete ranges of keys")
		}
		if err := checkKey(ops[i].Key); err != nil {
			return err
		}
	}
	return nil
}

func checkKey(key []byte) error {
	if len(key) > maxKeyBytes {
		return fault.New(fault.TooLarge, "a key is longer than %d bytes, the limit of the cluster", maxKeyBytes)
	}
	return nil
}
