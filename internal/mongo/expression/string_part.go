package expression

import (
	"math"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
)

// A span has the arguments of $indexOfBytes and $indexOfCP: find token in text between start and end, which may be
// beyond the text.
type span struct {
	text, token string
	start, end  int
}

// readSpan reads the arguments. It is not ok if the text is nullish; then the result is null.
func readSpan(name string, codes [2]code.Code, args []doc.Value) (p span, ok bool, err error) {
	if nullish(args[0]) {
		return p, false, nil
	}
	if p.text, ok = doc.AsString(args[0]); !ok {
		return p, false, code.New(codes[0], "%s requires a string as the first argument, found: %s", name,
			code.TypeName(args[0]))
	}
	if p.token, ok = doc.AsString(args[1]); !ok {
		return p, false, code.New(codes[1], "%s requires a string as the second argument, found: %s", name,
			code.TypeName(args[1]))
	}
	p.end = math.MaxInt32
	if len(args) > 2 {
		if p.start, err = index(name, "starting index", args[2]); err != nil {
			return p, false, err
		}
	}
	if len(args) > 3 {
		if p.end, err = index(name, "ending index", args[3]); err != nil {
			return p, false, err
		}
	}
	return p, true, nil
}

// index reads an integer of 32 bits that is not negative.
func index(name, what string, v doc.Value) (int, error) {
	i, ok := whole32(v)
	if !ok {
		return 0, code.New(40096, "%s requires an integral %s, found a value of type: %s, with value: \"%s\"", name,
			what, code.TypeName(v), quoted(v))
	}
	if i < 0 {
		return 0, code.New(40097, "%s requires a nonnegative %s, found: %d", name, what, i)
	}
	return int(i), nil
}

func indexOfBytes(s *Scope, args []doc.Value) (doc.Value, error) {
	p, ok, err := readSpan("$indexOfBytes", [2]code.Code{40091, 40092}, args)
	if !ok {
		return null, err
	}
	end := min(p.end, len(p.text))
	if p.start > len(p.text) || end < p.start {
		return s.int32(-1), nil
	}
	at, err := s.Meter.Index(p.text[p.start:end], p.token)
	if at >= 0 {
		at += p.start
	}
	return s.int32(int32(at)), err
}

func indexOfCodePoint(s *Scope, args []doc.Value) (doc.Value, error) {
	p, ok, err := readSpan("$indexOfCP", [2]code.Code{40093, 40094}, args)
	if !ok {
		return null, err
	}
	if p.token == "" && p.start == 0 {
		return s.int32(0), nil
	}
	start, err := s.byteOf(p.text, p.start)
	if err != nil {
		return doc.Value{}, err
	}
	if p.end <= p.start || start >= len(p.text) {
		return s.int32(-1), nil
	}
	length, err := s.byteOf(p.text[start:], p.end-p.start)
	if err != nil {
		return doc.Value{}, err
	}
	at, err := s.Meter.Index(p.text[start:start+length], p.token)
	if at < 0 || err != nil {
		return s.int32(-1), err
	}
	n, err := s.codePoints(p.text[start : start+at])
	return s.int32(int32(p.start + n)), err
}

// truncated is a number as an int64: without its fraction, limited to the range, 0 for NaN.
func truncated(v doc.Value) int64 {
	if v.Type != bsoncore.TypeDouble {
		return asInt(v)
	}
	switch f := asDouble(v); {
	case f >= 1<<63:
		return math.MaxInt64
	case f <= -1<<63:
		return math.MinInt64
	case f != f:
		return 0
	default:
		return int64(f)
	}
}

func substringOfBytes(s *Scope, args []doc.Value) (doc.Value, error) {
	text, err := asText(args[0])
	if err != nil {
		return doc.Value{}, err
	}
	if !doc.IsNumberBSON(args[1]) || args[1].Type == bsoncore.TypeDecimal128 {
		return doc.Value{}, code.New(16034, "$substrBytes:  starting index must be a numeric type (is BSON type %s)",
			code.TypeName(args[1]))
	}
	if !doc.IsNumberBSON(args[2]) || args[2].Type == bsoncore.TypeDecimal128 {
		return doc.Value{}, code.New(16035, "$substrBytes:  length must be a numeric type (is BSON type %s)",
			code.TypeName(args[2]))
	}
	start, length := truncated(args[1]), truncated(args[2])
	if start < 0 {
		return doc.Value{}, code.New(50752, "$substrBytes:  starting index must be non-negative (got: %d)", start)
	}
	if start >= int64(len(text)) {
		return s.string("")
	}
	text = text[start:]
	if continues(text[0]) {
		return doc.Value{}, code.New(28656,
			"$substrBytes:  Invalid range, starting index is a UTF-8 continuation byte.")
	}
	if length >= 0 && length < int64(len(text)) {
		if continues(text[length]) {
			return doc.Value{}, code.New(28657,
				"$substrBytes:  Invalid range, ending index is in the middle of a UTF-8 character.")
		}
		text = text[:length]
	}
	return s.string(text)
}

func substringOfCodePoints(s *Scope, args []doc.Value) (doc.Value, error) {
	text, err := asText(args[0])
	if err != nil {
		return doc.Value{}, err
	}
	if !doc.IsNumberBSON(args[1]) {
		return doc.Value{}, code.New(34450, "$substrCP: starting index must be a numeric type (is BSON type %s)",
			code.TypeName(args[1]))
	}
	start, ok := whole32(args[1])
	if !ok {
		return doc.Value{}, code.New(34451,
			"$substrCP: starting index cannot be represented as a 32-bit integral value: %s", quoted(args[1]))
	}
	if !doc.IsNumberBSON(args[2]) {
		return doc.Value{}, code.New(34452, "$substrCP: length must be a numeric type (is BSON type %s)",
			code.TypeName(args[2]))
	}
	length, ok := whole32(args[2])
	switch {
	case !ok:
		return doc.Value{}, code.New(34453, "$substrCP: length cannot be represented as a 32-bit integral value: %s",
			quoted(args[2]))
	case length < 0:
		return doc.Value{}, code.New(34454, "$substrCP: length must be a nonnegative integer.")
	case start < 0:
		return doc.Value{}, code.New(34455, "$substrCP: the starting index must be nonnegative integer.")
	}
	from, err := s.byteOf(text, int(start))
	if err != nil {
		return doc.Value{}, err
	}
	text = text[from:]
	to, err := s.byteOf(text, int(length))
	if err != nil {
		return doc.Value{}, err
	}
	return s.string(text[:to])
}
