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

// EpochKey is the key of the epoch of a container, a number (AppendNumber) that rises with every change of the
// container that an answer depends on. It exists, as long as the container does, where several processes share the
// data.
func EpochKey(container uint32) []byte { return System("epoch", container) }

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

// AuditKey is the key of an event of the audit trail by its number. Its value is made by AppendAudit.
func AuditKey(number uint64) []byte { return System("audit", uint32(number>>32), uint32(number)) }

// AuditNumber is the number in a key that AuditKey made.
func AuditNumber(key []byte) (uint64, error) {
	size := len(System("audit"))
	if len(key) != size+8 {
		return 0, ErrCorrupt
	}
	return binary.BigEndian.Uint64(key[size:]), nil
}

// AuditBounds encloses the events from a number on.
func AuditBounds(from uint64) (lower, upper []byte) { return AuditKey(from), End(System("audit")) }

// AppendAudit appends the stored form of an event: the bytes of all events before it, so that the size of any part of
// the trail is a difference, and JSON.
func AppendAudit(dst []byte, before uint64, event []byte) []byte {
	return append(binary.BigEndian.AppendUint64(dst, before), event...)
}

// DecodeAudit reads the form of AppendAudit. event shares its bytes.
func DecodeAudit(value []byte) (before uint64, event []byte, err error) {
	if len(value) < 8 {
		return 0, nil, ErrCorrupt
	}
	return binary.BigEndian.Uint64(value), value[8:], nil
}
