package doc

import (
	"encoding/binary"
	"math"
)

// Tags of AppendCanonicalBSON in addition to the canonical types.
const (
	canonicalInt     = 10
	canonicalFloat   = 11
	canonicalDecimal = 12
	canonicalEnd     = 0xFE // of an object or array
)

// AppendCanonicalBSON appends a form that is the same for two values exactly if they are
// equal, that is if CompareBSON returns 0: 1, 1.0 and the Decimal128 1.00 have the same form.
// It is for keys of maps. The forms have no useful order and cannot be decoded. No form is a
// prefix of another, so that several may follow each other. keys.AppendBSON is the form that
// sorts.
func AppendCanonicalBSON(dst []byte, v Value) []byte {
	return appendCanonical(dst, v, MaxCompareDepth)
}

func appendCanonical(dst []byte, v Value, levels int) []byte {
	kind := canonicalTypes[v.Type]
	if kind == CanonicalNumber {
		return appendCanonicalReal(dst, v)
	}
	dst = append(dst, byte(kind))
	switch kind {
	case CanonicalMinKey, CanonicalUndefined, CanonicalNull, CanonicalMaxKey:
		return dst
	case CanonicalBool:
		return append(dst, truth(v))
	case CanonicalDate, CanonicalTimestamp:
		return binary.LittleEndian.AppendUint64(dst, Uint64Padded(v.Data))
	case CanonicalObjectID:
		id := objectID(v)
		return append(dst, id[:]...)
	case CanonicalString, CanonicalCode:
		return appendCounted(dst, textOf(v.Data))
	case CanonicalObject, CanonicalArray:
		if levels == 0 {
			return appendCounted(dst, v.Data)
		}
		return appendCanonicalBody(dst, body(v.Data), kind == CanonicalObject, levels-1)
	case CanonicalBinary:
		return appendCounted(dst, Payload(v))
	case CanonicalScope:
		code, scope := CodeWithScope(v)
		return appendCanonical(appendCounted(dst, code), Object(scope), levels)
	case CanonicalUnknown:
		dst = append(dst, byte(v.Type))
	}
	return appendCounted(dst, v.Data)
}

func appendCanonicalBody(dst, b []byte, named bool, levels int) []byte {
	for {
		e, ok := next(b)
		if !ok {
			return append(dst, canonicalEnd)
		}
		dst = appendCanonical(dst, e.value(), levels)
		if named {
			dst = append(append(dst, e.name...), 0)
		}
		b = b[e.size:]
	}
}

func appendCounted(dst, b []byte) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(b))), b...)
}

func appendCanonicalReal(dst []byte, v Value) []byte {
	n, d, wide := readReal(v)
	if !wide {
		return appendCanonicalNumber(dst, n)
	}
	if i, ok := d.Int64(); ok {
		return appendCanonicalNumber(dst, number{i: i})
	}
	if f, ok := d.exactFloat(); ok {
		return appendCanonicalNumber(dst, number{class: classFloat, f: f})
	}
	hi, lo, exponent := d.stripped()
	if d.Negative {
		hi |= 1 << 63
	}
	dst = binary.LittleEndian.AppendUint64(append(dst, canonicalDecimal), hi)
	dst = binary.LittleEndian.AppendUint64(dst, lo)
	return binary.LittleEndian.AppendUint16(dst, uint16(int16(exponent)))
}

// appendCanonicalNumber writes an integer that fits int64 in the form of integers, whatever its type.
func appendCanonicalNumber(dst []byte, n number) []byte {
	if n.class == classFloat {
		if n.f != math.Trunc(n.f) || n.f < -two63 || n.f >= two63 {
			f := n.f
			if f != f {
				f = math.NaN() // the same bits for every NaN
			}
			return binary.LittleEndian.AppendUint64(append(dst, canonicalFloat), math.Float64bits(f))
		}
		n.i = int64(n.f)
	}
	return binary.LittleEndian.AppendUint64(append(dst, canonicalInt), uint64(n.i))
}
