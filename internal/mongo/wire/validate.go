package wire

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"unicode/utf8"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"
)

// Validate checks that b is one whole BSON document with at most limit levels of documents and arrays inside of it;
// limit is at most MaxDepth. It returns the number of levels, 0 for a flat document.
//
// It is stricter than MongoDB in two ways, because drivers cannot decode such values: names, strings, code and patterns
// must be valid UTF-8, and a binary of the old subtype 2 must have the right inner length. Errors are *Error of code
// 22, InvalidBSON, or 15, Overflow, for depth. https://bsonspec.org/spec.html
func Validate(b []byte, limit int) (depth int, err error) {
	switch {
	case len(b) < emptyBytes:
		return 0, refuse(codeBSON, "BSON data has to be at least 5 bytes")
	case length(b) != len(b):
		return 0, refuse(codeBSON, "Incorrect BSON length")
	case b[len(b)-1] != 0:
		return 0, refuse(codeBSON, "BSON object not terminated with EOO")
	}
	w := walk{b: b, at: 4, last: len(b) - 1, limit: min(limit, MaxDepth)}
	wrong, code := w.members()
	if wrong != "" {
		return 0, w.fail(code, wrong)
	}
	return w.deepest, nil
}

// length is the signed length at the start of b, which has the bytes.
func length(b []byte) int { return int(int32(binary.LittleEndian.Uint32(b))) }

// A style is the layout of a value: unknown, one plus a fixed number of bytes, or one of the constants below.
type style uint8

const (
	text style = iota + 32
	nested
	binaries
	boolean
	regex
	pointer
	scoped
)

var styles = [256]style{
	bsoncore.TypeDouble:           8 + 1,
	bsoncore.TypeString:           text,
	bsoncore.TypeEmbeddedDocument: nested,
	bsoncore.TypeArray:            nested,
	bsoncore.TypeBinary:           binaries,
	bsoncore.TypeUndefined:        0 + 1,
	bsoncore.TypeObjectID:         12 + 1,
	bsoncore.TypeBoolean:          boolean,
	bsoncore.TypeDateTime:         8 + 1,
	bsoncore.TypeNull:             0 + 1,
	bsoncore.TypeRegex:            regex,
	bsoncore.TypeDBPointer:        pointer,
	bsoncore.TypeJavaScript:       text,
	bsoncore.TypeSymbol:           text,
	bsoncore.TypeCodeWithScope:    scoped,
	bsoncore.TypeInt32:            4 + 1,
	bsoncore.TypeTimestamp:        8 + 1,
	bsoncore.TypeInt64:            8 + 1,
	bsoncore.TypeDecimal128:       16 + 1,
	bsoncore.TypeMinKey:           0 + 1,
	bsoncore.TypeMaxKey:           0 + 1,
}

// What can be wrong with a value.
const (
	tooShort   = "BSON size is larger than buffer size"
	noName     = "a field name does not end"
	badLength  = "incorrect BSON length"
	noEOO      = "BSON object not terminated with EOO"
	noNUL      = "Not null terminated string"
	noUTF8     = "invalid UTF-8"
	badBoolean = "BSON bool is neither false nor true"
	badBinary  = "the inner length of a binary of subtype 2 is wrong"
	badType    = "Unrecognized BSON type"
	tooDeep    = "BSONObj exceeds maximum nested object depth"
)

// A walk is one pass over the bytes of a document, without recursion.
type walk struct {
	b              []byte
	at             int // the element
	last           int // the NUL that ends the innermost document, which has been checked
	depth, deepest int
	limit          int
	outer          [MaxDepth]int32 // last of the enclosing documents
}

// members walks to the end of the root. It returns what is wrong with the element at w.at, "" if nothing is.
func (w *walk) members() (wrong string, code int32) {
	b := w.b
	for {
		if w.at == w.last {
			if w.depth == 0 {
				return "", 0
			}
			w.depth--
			w.at, w.last = w.at+1, int(w.outer[w.depth])
			continue
		}
		if b[w.at] == 0 {
			return badLength, codeBSON
		}
		n, ascii := cstring(b[w.at+1:])
		at := w.at + n + 2
		if at > w.last {
			return noName, codeBSON
		}
		if !ascii && !utf8.Valid(b[w.at+1:at-1]) {
			return noUTF8, codeBSON
		}
		s := styles[b[w.at]]
		var end int
		switch {
		case s == 0:
			return badType, codeBSON
		case s < text:
			end = at + int(s) - 1
			if end > w.last {
				return tooShort, codeBSON
			}
		case s == text:
			if end, wrong = w.text(at, w.last); wrong != "" {
				return wrong, codeBSON
			}
		case s == nested:
			if wrong, code = w.enter(at); wrong != "" {
				return wrong, code
			}
			continue
		case s == scoped:
			if end, wrong = w.scoped(at); wrong != "" {
				return wrong, codeBSON
			}
			if wrong, code = w.enter(end); wrong != "" {
				return wrong, code
			}
			continue
		default:
			if end, wrong = w.other(s, at); wrong != "" {
				return wrong, codeBSON
			}
		}
		w.at = end
	}
}

// enter begins the walk of the document or array at offset at.
func (w *walk) enter(at int) (wrong string, code int32) {
	if w.last-at < emptyBytes {
		return tooShort, codeBSON
	}
	n := length(w.b[at:])
	switch {
	case n < emptyBytes:
		return "Nested BSON object has to be at least 5 bytes", codeBSON
	case n > w.last-at:
		return tooShort, codeBSON
	case w.b[at+n-1] != 0:
		return noEOO, codeBSON
	case w.depth >= w.limit:
		return tooDeep, codeOverflow
	}
	w.outer[w.depth] = int32(w.last)
	w.depth++
	w.deepest = max(w.deepest, w.depth)
	w.at, w.last = at+4, at+n-1
	return "", 0
}

// text returns the end of the string at offset at, which is not beyond last.
func (w *walk) text(at, last int) (end int, wrong string) {
	if last-at < 5 {
		return 0, tooShort
	}
	n := length(w.b[at:])
	if n < 1 || n > last-at-4 {
		return 0, tooShort
	}
	end = at + 4 + n
	if w.b[end-1] != 0 {
		return 0, noNUL
	}
	if !w.isUTF8(at+4, end-1) {
		return 0, noUTF8
	}
	return end, ""
}

// isUTF8 reports whether the text between two offsets is valid. Most text is short and ASCII, so it checks eight bytes
// at a time; at least eight bytes of the document lie before the end of the text.
func (w *walk) isUTF8(from, to int) bool {
	b := w.b
	if to-from <= 64 {
		var seen uint64
		at := from
		for ; to-at >= 8; at += 8 {
			seen |= binary.LittleEndian.Uint64(b[at:])
		}
		if at < to {
			seen |= binary.LittleEndian.Uint64(b[to-8:]) >> (8 * (8 - (to - at)))
		}
		if seen&highs == 0 {
			return true
		}
	}
	return utf8.Valid(b[from:to])
}

// scoped returns where the scope of the code at offset at begins. It checks that the scope ends where the value does.
func (w *walk) scoped(at int) (scope int, wrong string) {
	if w.last-at < 4 {
		return 0, tooShort
	}
	n := length(w.b[at:])
	if n < 4+5+emptyBytes || n > w.last-at {
		return 0, tooShort
	}
	scope, wrong = w.text(at+4, at+n-emptyBytes)
	if wrong == "" && length(w.b[scope:]) != at+n-scope {
		wrong = badLength
	}
	return scope, wrong
}

// other returns the end of a value of one of the rarer styles.
func (w *walk) other(s style, at int) (end int, wrong string) {
	switch s {
	case boolean:
		if at >= w.last {
			return 0, tooShort
		}
		if w.b[at] > 1 {
			return 0, badBoolean
		}
		return at + 1, ""
	case binaries:
		return w.binary(at)
	case regex:
		if end, wrong = w.cstring(at); wrong != "" {
			return 0, wrong
		}
		return w.cstring(end)
	default: // pointer
		if end, wrong = w.text(at, w.last); wrong == "" && w.last-end < 12 {
			wrong = tooShort
		}
		return end + 12, wrong
	}
}

func (w *walk) binary(at int) (end int, wrong string) {
	if w.last-at < 5 {
		return 0, tooShort
	}
	n := length(w.b[at:])
	if n < 0 || n > w.last-at-5 {
		return 0, tooShort
	}
	if old := w.b[at+4] == 2; old && (n < 4 || length(w.b[at+5:]) != n-4) {
		return 0, badBinary
	}
	return at + 5 + n, ""
}

// cstring returns the end of the text at offset at that ends in a NUL.
func (w *walk) cstring(at int) (end int, wrong string) {
	if at >= w.last {
		return 0, tooShort
	}
	n, ascii := cstring(w.b[at:])
	end = at + n + 1
	if end > w.last {
		return 0, noNUL
	}
	if !ascii && !utf8.Valid(w.b[at:end-1]) {
		return 0, noUTF8
	}
	return end, ""
}

// The lowest and the highest bit of each of eight bytes.
const ones, highs = 0x0101010101010101, 0x8080808080808080

// cstring counts the bytes of b before its first NUL and reports whether they are ASCII. Most names are short, so it
// searches eight bytes at a time.
func cstring(b []byte) (n int, ascii bool) {
	var seen uint64
	for ; len(b)-n >= 8; n += 8 {
		x := binary.LittleEndian.Uint64(b[n:])
		if zero := (x - ones) &^ x & highs; zero != 0 {
			before := zero&-zero - 1
			return n + bits.TrailingZeros64(zero)>>3, (seen|x&before)&highs == 0
		}
		seen |= x
	}
	for ; n < len(b) && b[n] != 0; n++ {
		seen |= uint64(b[n])
	}
	return n, seen&highs == 0
}

// shownName is the length to which messages show names.
const shownName = 64

// fail makes the error, which names the element that is wrong.
func (w *walk) fail(code int32, wrong string) error {
	if code == codeOverflow {
		return refuse(code, "%s: %d", wrong, w.limit)
	}
	name := w.b[min(w.at+1, len(w.b)):]
	name = name[:min(len(name), shownName)]
	if i := bytes.IndexByte(name, 0); i >= 0 {
		name = name[:i]
	}
	if wrong == badType {
		return refuse(code, "%s %d in element with field name %q at byte %d", wrong, w.b[w.at], name, w.at)
	}
	return refuse(code, "%s in element with field name %q at byte %d", wrong, name, w.at)
}
