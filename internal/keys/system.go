package keys

import "encoding/binary"

// System is a key outside the data of containers: a name that is fixed in the code and
// contains no NUL, then ids in this order.
func System(name string, ids ...uint32) []byte {
	key := append([]byte{spaceSystem}, name...)
	return appendIDs(append(key, 0), ids)
}

// CatalogKey is the key of a descriptor in the catalog: its kind, then the ids from the
// outermost resource to the innermost. A prefix of the ids gives a prefix of the key.
func CatalogKey(kind byte, ids ...uint32) []byte {
	return appendIDs(append(System("catalog"), kind), ids)
}

// ClockKey is the key of the clock's high-water mark.
func ClockKey() []byte { return System("clock") }

// CleanKey is the key of a mark with an empty value. It exists if no process has the data
// open, and the last one has closed it cleanly.
func CleanKey() []byte { return System("clean") }

// FormatKey is the key of the version of the layout, FormatVersion, as a number
// (AppendNumber).
func FormatKey() []byte { return System("format") }

// FormatVersion is the version of the layout that this program reads and writes.
const FormatVersion = 1

func appendIDs(key []byte, ids []uint32) []byte {
	for _, id := range ids {
		key = binary.BigEndian.AppendUint32(key, id)
	}
	return key
}
