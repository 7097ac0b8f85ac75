package keys

import "encoding/binary"

// LogKey is the key of an entry of the log by its time: seconds in the upper half, a count
// within the second in the lower half. Its value is the header of AppendLogHeader and BSON.
func LogKey(time uint64) []byte { return System("log", uint32(time>>32), uint32(time)) }

// LogTime is the time in a key that LogKey made.
func LogTime(key []byte) (uint64, error) {
	size := len(System("log"))
	if len(key) != size+8 {
		return 0, ErrCorrupt
	}
	return binary.BigEndian.Uint64(key[size:]), nil
}

// LogBounds encloses every entry of the log.
func LogBounds() (lower, upper []byte) { return Prefixed(System("log")) }

// LogCounterKey is the key of the LogCounter, which all writes of the log pass one at a time.
func LogCounterKey() []byte { return System("logged") }

// A LogCounter is the state of the log.
type LogCounter struct {
	Newest  uint64 // time of the newest entry
	Trimmed uint64 // entries up to this time have been removed
	Bytes   uint64 // of all entries that were ever written
	Lives   uint64 // how often a crash may have lost entries that clients had seen
}

const logCounterSize = 4 * 8

// Append appends the counter's stored form: four big-endian integers.
func (c LogCounter) Append(dst []byte) []byte {
	dst = binary.BigEndian.AppendUint64(dst, c.Newest)
	dst = binary.BigEndian.AppendUint64(dst, c.Trimmed)
	dst = binary.BigEndian.AppendUint64(dst, c.Bytes)
	return binary.BigEndian.AppendUint64(dst, c.Lives)
}

// DecodeLogCounter reads the form of Append. Nil gives the zero LogCounter: there is no log.
func DecodeLogCounter(value []byte) (LogCounter, error) {
	if value == nil {
		return LogCounter{}, nil
	}
	if len(value) != logCounterSize {
		return LogCounter{}, ErrCorrupt
	}
	return LogCounter{
		Newest:  binary.BigEndian.Uint64(value),
		Trimmed: binary.BigEndian.Uint64(value[8:]),
		Bytes:   binary.BigEndian.Uint64(value[16:]),
		Lives:   binary.BigEndian.Uint64(value[24:]),
	}, nil
}

// LogHeaderBytes is the length of the header of an entry of the log. BSON follows.
const LogHeaderBytes = 8 + 8

// AppendLogHeader appends the header of an entry: the bytes of all entries before it, so that
// the size of any part of the log is a difference, and the machine's time in milliseconds
// since 1970. The caller appends the BSON.
func AppendLogHeader(dst []byte, before uint64, wall int64) []byte {
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(dst, before), uint64(wall))
}

// DecodeLog reads the value of an entry. body shares its bytes and is not checked.
func DecodeLog(value []byte) (before uint64, wall int64, body []byte, err error) {
	if len(value) < LogHeaderBytes {
		return 0, 0, nil, ErrCorrupt
	}
	return binary.BigEndian.Uint64(value), int64(binary.BigEndian.Uint64(value[8:])), value[LogHeaderBytes:], nil
}
