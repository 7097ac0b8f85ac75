package transfer

import (
	"bytes"
	"strconv"
)

// PositionMember is the first member of a line that is no document: it says from where an export goes on.
const PositionMember = "$position"

// The parts of a line with a position, such as {"$position":"7.1200","done":false}.
const (
	positionBegin = `{"` + PositionMember + `":"`
	positionDone  = `","done":`
)

// AppendPosition appends the line that says that an export of the container with that number is behind a place in its
// feed: a sequence, or where several feeds are merged, the place in one of them and the stamp there. stamp is 0 where
// there is one feed.
func AppendPosition(dst []byte, container uint32, place uint64, stamp int64, done bool) []byte {
	dst = strconv.AppendUint(append(dst, positionBegin...), uint64(container), 10)
	dst = strconv.AppendUint(append(dst, '.'), place, 10)
	if stamp != 0 {
		dst = strconv.AppendInt(append(dst, '.'), stamp, 10)
	}
	return append(strconv.AppendBool(append(dst, positionDone...), done), "}\n"...)
}

// IsPosition reports whether a line is one that AppendPosition makes, byte for byte. No line of a document is: those of
// items have an id, and those of documents of MongoDB an _id.
func IsPosition(line []byte) bool {
	rest, ok := bytes.CutPrefix(line, []byte(positionBegin))
	if !ok {
		return false
	}
	container, rest, _ := bytes.Cut(rest, []byte("."))
	at, rest, ok := bytes.Cut(rest, []byte(positionDone))
	place, stamp, several := bytes.Cut(at, []byte("."))
	ok = ok && isNumber(container) && isNumber(place) && (!several || isNumber(stamp))
	return ok && (string(rest) == "true}" || string(rest) == "false}")
}

// isNumber reports whether text is a number of at most 20 digits, as a uint64 has.
func isNumber(text []byte) bool {
	return len(text) > 0 && len(text) <= 20 && len(bytes.Trim(text, "0123456789")) == 0
}
