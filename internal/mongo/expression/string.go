package expression

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/work"
)

// openText begins a string in the arena, to which the caller appends; closeText ends it. No other value may be made in
// between.
func (s *Scope) openText() (start int) {
	start = len(s.arena)
	s.arena = append(s.arena, 0, 0, 0, 0)
	return start
}

// closeText is the string that openText began. It fails if that is too large.
func (s *Scope) closeText(start int) (doc.Value, error) {
	s.arena = append(s.arena, 0)
	if err := fits(len(s.arena) - start); err != nil {
		return doc.Value{}, err
	}
	if err := s.room(0); err != nil {
		return doc.Value{}, err
	}
	binary.LittleEndian.PutUint32(s.arena[start:], uint32(len(s.arena)-start-4))
	return s.value(bsoncore.TypeString, start), nil
}

// compileConcat evaluates arguments up to the first that is nullish.
func compileConcat(arg doc.Value, names *Names, depth int) (*Expression, error) {
	args, err := arguments("$concat", arg, 0, many, names, depth)
	if err != nil {
		return nil, err
	}
	return fold(&Expression{run: func(s *Scope) (doc.Value, error) {
		base := len(s.stack)
		defer func() { s.stack = s.stack[:base] }()
		for _, x := range args {
			v, err := x.run(s)
			switch {
			case err != nil:
				return v, err
			case nullish(v):
				return null, nil
			case v.Type != bsoncore.TypeString:
				return doc.Value{}, code.New(16702, "$concat only supports strings, not %s", code.TypeName(v))
			}
			s.stack = append(s.stack, v)
			if err := s.spend(work.Operator); err != nil {
				return v, err
			}
		}
		return joined(s, s.stack[base:])
	}}, args...), nil
}

// joined concatenates strings.
func joined(s *Scope, list []doc.Value) (doc.Value, error) {
	size := 0
	for _, v := range list {
		size += len(v.Data)
	}
	if err := s.room(size); err != nil {
		return doc.Value{}, err
	}
	start := s.openText()
	for _, v := range list {
		text, _ := doc.AsString(v)
		s.arena = append(s.arena, text...)
	}
	return s.closeText(start)
}

func split(s *Scope, input, separator doc.Value) (doc.Value, error) {
	if nullish(input) || nullish(separator) {
		return null, nil
	}
	text, ok := doc.AsString(input)
	if !ok {
		return doc.Value{}, code.New(40085,
			"$split requires an expression that evaluates to a string as a first argument, found: %s",
			code.TypeName(input))
	}
	by, ok := doc.AsString(separator)
	if !ok {
		return doc.Value{}, code.New(40086,
			"$split requires an expression that evaluates to a string as a second argument, found: %s",
			code.TypeName(separator))
	}
	if by == "" {
		return doc.Value{}, code.New(40087, "$split requires a non-empty separator")
	}
	b := s.array()
	for {
		at, err := s.Meter.Index(text, by)
		if err != nil {
			return doc.Value{}, err
		}
		if at < 0 {
			break
		}
		if err := b.addText(text[:at]); err != nil {
			return doc.Value{}, err
		}
		text = text[at+len(by):]
	}
	if err := b.addText(text); err != nil {
		return doc.Value{}, err
	}
	return b.done()
}

// addText is add of a string.
func (b *builder) addText(text string) error {
	mark := b.s.mark()
	v, err := b.s.string(text)
	if err != nil {
		return err
	}
	err = b.add(v)
	b.s.release(mark)
	return err
}

// asText converts an argument of operators that take more than strings: numbers, dates and timestamps become text,
// nullish values "".
func asText(v doc.Value) (string, error) {
	switch v.Type {
	case bsoncore.TypeString, bsoncore.TypeSymbol, bsoncore.TypeJavaScript:
		v.Type = bsoncore.TypeString
		text, _ := doc.AsString(v)
		return text, nil
	case 0, bsoncore.TypeNull, bsoncore.TypeUndefined:
		return "", nil
	case bsoncore.TypeInt32, bsoncore.TypeInt64:
		return strconv.FormatInt(asInt(v), 10), nil
	case bsoncore.TypeDouble:
		return string(appendDoubleText(nil, asDouble(v))), nil
	case bsoncore.TypeDecimal128:
		return asDecimal(v).String(), nil
	case bsoncore.TypeDateTime:
		text, err := appendDate(nil, isoFormat, asDate(v), utc)
		return string(text), err
	case bsoncore.TypeTimestamp:
		seconds, ordinal := timestampParts(v)
		return time.Unix(int64(seconds), 0).UTC().Format(time.Stamp) + fmt.Sprintf(":%x", ordinal), nil
	}
	return "", code.New(16007, "can't convert from BSON type %s to String", code.TypeName(v))
}

// appendDoubleText writes a double as MongoDB does: up to 16 significant digits.
func appendDoubleText(dst []byte, f float64) []byte {
	switch {
	case f-f == 0:
		return strconv.AppendFloat(dst, f, 'g', 16, 64)
	case f > 0:
		return append(dst, "Infinity"...)
	case f < 0:
		return append(dst, "-Infinity"...)
	}
	return append(dst, "NaN"...)
}

// compareFolded is $strcasecmp, which ignores the case of ASCII letters only.
func compareFolded(s *Scope, a, b doc.Value) (doc.Value, error) {
	left, err := asText(a)
	if err != nil {
		return doc.Value{}, err
	}
	right, err := asText(b)
	if err != nil {
		return doc.Value{}, err
	}
	order := 0
	err = s.Meter.Pieces(left[:min(len(left), len(right))], func(piece string, at int) bool {
		for i := 0; i < len(piece) && order == 0; i++ {
			order = cmp.Compare(other('a', 'z', piece[i]), other('a', 'z', right[at+i]))
		}
		return order == 0
	})
	if err != nil || order != 0 {
		return s.int32(int32(order)), err
	}
	return s.int32(int32(cmp.Compare(len(left), len(right)))), nil
}

// other is a letter from first to last in the other case; any other byte as it is.
func other(first, last, c byte) byte {
	if first <= c && c <= last {
		return c ^ 0x20
	}
	return c
}

// fold26 turns the 26 letters of ASCII from first to last into the other case.
func fold26(first, last byte) func(*Scope, doc.Value) (doc.Value, error) {
	return func(s *Scope, v doc.Value) (doc.Value, error) {
		text, err := asText(v)
		if err != nil {
			return doc.Value{}, err
		}
		if err := s.room(len(text) + 5); err != nil {
			return doc.Value{}, err
		}
		start := s.openText()
		err = s.Meter.Pieces(text, func(piece string, _ int) bool {
			from := len(s.arena)
			s.arena = append(s.arena, piece...)
			for i, c := range s.arena[from:] {
				s.arena[from+i] = other(first, last, c)
			}
			return true
		})
		if err != nil {
			return doc.Value{}, err
		}
		return s.closeText(start)
	}
}

func lengthInBytes(s *Scope, v doc.Value) (doc.Value, error) {
	text, ok := doc.AsString(v)
	if !ok {
		return doc.Value{}, code.New(34473, "$strLenBytes requires a string argument, found: %s", code.TypeName(v))
	}
	return s.int32(int32(len(text))), nil
}

func lengthInCodePoints(s *Scope, v doc.Value) (doc.Value, error) {
	text, ok := doc.AsString(v)
	if !ok {
		return doc.Value{}, code.New(34471, "$strLenCP requires a string argument, found: %s", code.TypeName(v))
	}
	n, err := s.codePoints(text)
	return s.int32(int32(n)), err
}

// continues reports whether a byte of UTF-8 is not the first of its code point.
func continues(c byte) bool { return c&0xC0 == 0x80 }

// codePoints counts code points.
func (s *Scope) codePoints(text string) (n int, err error) {
	err = s.Meter.Pieces(text, func(piece string, _ int) bool {
		for i := range len(piece) {
			if !continues(piece[i]) {
				n++
			}
		}
		return true
	})
	return n, err
}

// byteOf is the byte offset of the code point with an index, len(text) if there are not that many.
func (s *Scope) byteOf(text string, index int) (at int, err error) {
	at = len(text)
	err = s.Meter.Pieces(text, func(piece string, from int) bool {
		for i := range len(piece) {
			if continues(piece[i]) {
				continue
			}
			if index == 0 {
				at = from + i
				return false
			}
			index--
		}
		return true
	})
	return at, err
}

// quoted is a value as messages about strings show it: a string without quotes.
func quoted(v doc.Value) string {
	if text, ok := doc.AsString(v); ok {
		return strings.ToValidUTF8(text[:min(len(text), maxShown)], "")
	}
	return code.Show(v)
}
