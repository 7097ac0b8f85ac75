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

// SystemBounds encloses every system key.
func SystemBounds() (lower, upper []byte) { return Prefixed([]byte{spaceSystem}) }

// CatalogIDs takes a key of the catalog apart.
func CatalogIDs(key []byte) (kind byte, ids []uint32, err error) {
	size := len(System("catalog"))
	if len(key) <= size || (len(key)-size-1)%4 != 0 || string(key[:size]) != string(System("catalog")) {
		return 0, nil, ErrCorrupt
	}
	for b := key[size+1:]; len(b) > 0; b = b[4:] {
		ids = append(ids, binary.BigEndian.Uint32(b))
	}
	return key[size], ids, nil
}

func appendIDs(key []byte, ids []uint32) []byte {
	for _, id := range ids {
		key = binary.BigEndian.AppendUint32(key, id)
	}
	return key
}
