package keys

import "encoding/binary"

// System is the key of something that belongs to no container's data: a name fixed in
// the code, without NUL, and ids that follow it in order.
func System(name string, ids ...uint32) []byte {
	key := append([]byte{spaceSystem}, name...)
	return appendIDs(append(key, 0), ids)
}

// CatalogKey is the key of a descriptor in the catalog: its kind, and the ids from the
// outermost resource to the innermost. A prefix of ids gives a prefix of the key.
func CatalogKey(kind byte, ids ...uint32) []byte {
	return appendIDs(append(System("catalog"), kind), ids)
}

// ClockKey is the key of the clock's high-water mark.
func ClockKey() []byte { return System("clock") }

// CleanKey is the key of a mark, with an empty value, that is there while no process has
// the data open and the last one has closed it.
func CleanKey() []byte { return System("clean") }

// FormatKey is the key of the version of the whole layout, FormatVersion, as a number
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
