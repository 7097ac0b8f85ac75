package keys

import (
	"bytes"
	"encoding/binary"
	"math"
	"unicode/utf8"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
)

// A PartitionVersion is the version member of a container's partition key definition.
// Anything below HashV2, such as the 0 of an absent member, is HashV1.
type PartitionVersion = int

// The two ways of hashing. Kind MultiHash is always hashed as HashV2.
const (
	HashV1 PartitionVersion = 1
	HashV2 PartitionVersion = 2
)

const (
	hashBytes = 16 // one version 2 hash

	// A version 1 key uses this much of a string: UTF-16 units for the hash, bytes (and
	// one more in place of the end mark) for the readable part.
	v1StringUnits = 100
)

// The marks that SDKs write before a component when they hash it.
const (
	markUndefined = 0x00
	markNull      = 0x01
	markFalse     = 0x02
	markTrue      = 0x03
	markNumber    = 0x05
	markString    = 0x08
)

// A component is one value of a partition key: its mark and its content.
type component struct {
	mark byte
	f    float64
	text []byte
}

// Partitionable reports whether v can be a component of a partition key: undefined,
// null, a boolean, a number or a string.
func Partitionable(v doc.Value) bool {
	return componentOf(v).mark != markUndefined || v.Type == 0 || v.Type == bsoncore.TypeUndefined
}

func componentOf(v doc.Value) component {
	switch v.Type {
	case bsoncore.TypeNull:
		return component{mark: markNull}
	case bsoncore.TypeBoolean:
		if len(v.Data) > 0 && v.Data[0] == 0 {
			return component{mark: markFalse}
		}
		return component{mark: markTrue}
	case bsoncore.TypeString:
		if s, ok := text(v); ok {
			return component{mark: markString, text: s}
		}
	}
	if f, _, ok := number(v); ok {
		return component{mark: markNumber, f: f}
	}
	return component{mark: markUndefined}
}

// EffectivePartitionKey appends the effective partition key of values: the bytes whose
// upper-case hexadecimal form SDKs compare with the bounds of partition key ranges.
// Numbers count as doubles, and -0.0 has another hash than 0. A value that is not
// Partitionable counts as undefined. No values give no bytes, the lowest key.
//
// HashV2 is MurmurHash3 x64 128 of all components, with its bytes reversed and the top
// two bits cleared, since the range ends at 0xFF. With multi, each component is hashed
// by itself, so that a prefix of the values gives a prefix of the key. HashV1 is
// MurmurHash3 x86 32 of the components with their strings cut, written as a number and
// followed by the components.
//
// Where SDKs disagree about HashV1 (JavaScript drops the last byte of numbers such as 0,
// and does not cut strings by bytes), this is the form of .NET and Java.
func EffectivePartitionKey(dst []byte, version PartitionVersion, multi bool, values []doc.Value) []byte {
	if len(values) == 0 {
		return dst
	}
	if multi {
		for i := range values {
			dst = appendHashV2(dst, values[i:i+1])
		}
		return dst
	}
	if version >= HashV2 {
		return appendHashV2(dst, values)
	}
	return appendHashV1(dst, values)
}

func appendHashV2(dst []byte, values []doc.Value) []byte {
	var buffer [256]byte
	b := buffer[:0]
	for _, v := range values {
		b = componentOf(v).appendHashed(b, 0xFF)
	}
	low, high := murmur128(b)
	high &^= 0b11 << 62
	dst = binary.BigEndian.AppendUint64(dst, high)
	return binary.BigEndian.AppendUint64(dst, low)
}

func appendHashV1(dst []byte, values []doc.Value) []byte {
	var buffer [512]byte
	b := buffer[:0]
	for _, v := range values {
		b = componentOf(v).cut().appendHashed(b, 0)
	}
	dst = component{mark: markNumber, f: float64(murmur32(b))}.appendV1(dst)
	for _, v := range values {
		dst = componentOf(v).cut().appendV1(dst)
	}
	return dst
}

// appendHashed appends a component in the form that is hashed.
func (c component) appendHashed(dst []byte, end byte) []byte {
	dst = append(dst, c.mark)
	switch c.mark {
	case markNumber:
		bits := math.Float64bits(c.f)
		if c.f != c.f {
			bits = 0xFFF8 << 48 // the NaN of .NET
		}
		dst = binary.LittleEndian.AppendUint64(dst, bits)
	case markString:
		dst = append(append(dst, c.text...), end)
	}
	return dst
}

// cut shortens a string to v1StringUnits UTF-16 units. If that splits a surrogate pair,
// the pair becomes U+FFFD, as in SDKs whose strings are UTF-16.
func (c component) cut() component {
	if len(c.text) <= v1StringUnits {
		return c
	}
	units := 0
	for i := 0; i < len(c.text); {
		r, size := utf8.DecodeRune(c.text[i:])
		wide := r > 0xFFFF
		switch {
		case units == v1StringUnits:
			c.text = c.text[:i]
			return c
		case wide && units == v1StringUnits-1:
			c.text = append(append([]byte(nil), c.text[:i]...), "\uFFFD"...)
			return c
		case wide:
			units++
		}
		units++
		i += size
	}
	return c
}

// appendV1 appends a component in the readable part of a version 1 key.
func (c component) appendV1(dst []byte) []byte {
	dst = append(dst, c.mark)
	switch c.mark {
	case markNumber:
		return appendV1Number(dst, c.f)
	case markString:
		return appendV1String(dst, c.text)
	}
	return dst
}

// appendV1Number appends the sortable bits of f, without trailing zeros: eight in the first
// byte, then seven per byte. The lowest bit of each later byte says whether another one
// follows.
func appendV1Number(dst []byte, f float64) []byte {
	b := math.Float64bits(f)
	if b&signBit == 0 {
		b |= signBit
	} else {
		b = -b
	}
	dst = append(dst, byte(b>>56))
	for b <<= 8; ; {
		x := byte(b >> 56)
		if b <<= 7; b == 0 {
			return append(dst, x&^1)
		}
		dst = append(dst, x|1)
	}
}

func appendV1String(dst, s []byte) []byte {
	long := len(s) > v1StringUnits
	if long {
		s = s[:v1StringUnits+1]
	}
	for _, x := range s {
		if x < 0xFF {
			x++
		}
		dst = append(dst, x)
	}
	if long {
		return dst
	}
	return append(dst, 0)
}

// v1Bytes is the length of the version 1 key of n values at the start of b; ok is false
// if b is too short.
func v1Bytes(b []byte, n int) (size int, ok bool) {
	for range n + 1 {
		c := v1ComponentBytes(b[size:])
		if c == 0 {
			return 0, false
		}
		size += c
	}
	return size, b[0] == markNumber
}

// v1ComponentBytes is the length of one component, 0 if b does not hold one.
func v1ComponentBytes(b []byte) int {
	if len(b) == 0 {
		return 0
	}
	switch b[0] {
	case markUndefined, markNull, markFalse, markTrue:
		return 1
	case markNumber:
		for i := 2; i < len(b); i++ {
			if b[i]&1 == 0 {
				return i + 1
			}
		}
	case markString:
		const longest = 1 + v1StringUnits + 1
		if i := bytes.IndexByte(b[1:min(len(b), longest)], 0); i >= 0 {
			return i + 2
		}
		if len(b) >= longest {
			return longest
		}
	}
	return 0
}

// InEPKRange reports whether epk is in [lower, upper). An empty upper means no bound.
func InEPKRange(epk, lower, upper []byte) bool {
	return bytes.Compare(epk, lower) >= 0 && (len(upper) == 0 || bytes.Compare(epk, upper) < 0)
}
