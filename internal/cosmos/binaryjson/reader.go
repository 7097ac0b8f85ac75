package binaryjson

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
)

// A reader converts the binary form to BSON in one pass. Its methods begin at the first byte of what they read and
// end after the last.
type reader struct {
	doc.Builder
	body  []byte
	at    int
	end   int // of the innermost object or array with a length
	depth int
	skip  func(name []byte) bool
	limit int    // of the body, and of the JSON text that it stands for
	left  int    // remaining bytes of that JSON text
	text  []byte // the current string, if the body has it in a short form
}

// begin reads the preamble.
func (r *reader) begin() error {
	if len(r.body) > r.limit {
		return r.tooLarge(r.limit)
	}
	_, err := r.take(1)
	return err
}

// root reads the only value of the body.
func (r *reader) root() (bsoncore.Type, error) {
	kind, err := r.value()
	if err == nil && r.at < len(r.body) {
		err = r.fail(r.at, "There is data after the JSON value")
	}
	return kind, err
}

// value reads any value.
func (r *reader) value() (bsoncore.Type, error) {
	start := r.at
	marker, err := r.byte()
	if err != nil {
		return 0, err
	}
	switch {
	case isString(marker):
		text, err := r.string(marker)
		if err != nil {
			return 0, err
		}
		return r.Text(text), nil
	case marker >= arr0 && marker <= arrLC4:
		return bsoncore.TypeArray, r.array(marker - arr0)
	case marker >= obj0 && marker <= objLC4:
		return bsoncore.TypeEmbeddedDocument, r.object(marker - obj0)
	}
	switch marker {
	case guid, binary1, binary2, binary4:
		text, err := r.blob(marker)
		if err != nil {
			return 0, err
		}
		return r.Text(text), nil
	case arrNum1, arrNum2:
		return bsoncore.TypeArray, r.numbers(marker)
	case arrArrNum1, arrArrNum2:
		return bsoncore.TypeArray, r.arraysOfNumbers(marker)
	case float16:
		return 0, r.fail(start, "There is a 16-bit float, which has no JSON form")
	}
	if err := r.spend(1); err != nil {
		return 0, err
	}
	switch {
	case marker < system:
		return r.Int(int64(marker)), nil
	case numberSizes[marker] > 0:
		return r.number(marker)
	case marker == null:
		return r.Null(), nil
	case marker == yes, marker == no:
		return r.Bool(marker == yes), nil
	}
	return 0, r.fail(start, fmt.Sprintf("A value was expected instead of 0x%02X, which does not begin a value in "+
		"binary JSON", marker))
}

// byte reads one byte.
func (r *reader) byte() (byte, error) {
	b, err := r.take(1)
	if err != nil {
		return 0, err
	}
	return b[0], nil
}

// peek is the next byte, or an unknown type at the end.
func (r *reader) peek() byte {
	if r.at < r.end {
		return r.body[r.at]
	}
	return invalid
}

// take reads n bytes, which belong to the body.
func (r *reader) take(n int) ([]byte, error) {
	if n > r.end-r.at {
		return nil, r.short()
	}
	r.at += n
	return r.body[r.at-n : r.at], nil
}

// uint reads a whole number of 1 to 8 bytes.
func (r *reader) uint(size int) (uint64, error) {
	b, err := r.take(size)
	if err != nil {
		return 0, err
	}
	var buf [8]byte
	copy(buf[:], b)
	return binary.LittleEndian.Uint64(buf[:]), nil
}

// size reads a length, count or position of 1 to 4 bytes.
func (r *reader) size(width int) (int, error) {
	n, err := r.uint(width)
	if n > math.MaxInt32 { // larger than any body
		return 0, r.short()
	}
	return int(n), err
}

// spend counts n bytes of the smallest JSON text of the value.
func (r *reader) spend(n int) error {
	if r.left -= n; r.left < 0 {
		return r.tooLarge(r.at)
	}
	return nil
}

func (r *reader) fail(at int, message string) error {
	return &doc.Error{Offset: at, Message: message + " at byte " + strconv.Itoa(at) + "."}
}

// short is the error of a value that exceeds the object or array around it.
func (r *reader) short() error {
	if r.end < len(r.body) {
		return r.fail(r.at, "A value exceeds the length of the object or array around it")
	}
	return r.fail(len(r.body), "The binary JSON ends too early")
}

func (r *reader) tooLarge(at int) error {
	return &doc.Error{Offset: at, TooLarge: true,
		Message: "The JSON value has more than the limit of " + strconv.Itoa(r.limit) + " bytes as text."}
}
