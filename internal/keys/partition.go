package keys

import (
	"math"

	"github.com/mayflydb/mayfly/internal/doc"
)

// AppendPartition appends the prefix that all keys of one logical partition share: for
// each component its effective partition key, then its value, so that values whose
// hashes collide are still two partitions. A prefix of the values of a hierarchical key
// gives a prefix of the bytes, and no complete partition is a prefix of another. Without
// multi, the effective partition key is that of all values together, and comes first.
//
// The bytes are in the order of effective partition keys. The exception is a hierarchical
// key whose earlier component has the same hash as another value: such partitions are in
// the order of that value.
//
// As in Cosmos DB, numbers are doubles here: integers that round to the same double are
// one partition, and -0.0 is 0. The values must be Partitionable; others count as
// undefined. The form is at most twice as long as the values, and 16 (multi or HashV2)
// or 336 (HashV1) bytes longer for each of at most three values.
func AppendPartition(dst []byte, version PartitionVersion, multi bool, values []doc.Value) []byte {
	if !multi {
		dst = appendEPK(dst, version, values)
		for _, v := range values {
			dst = componentOf(v).appendExact(dst)
		}
		return dst
	}
	for i := range values {
		dst = appendEPK(dst, HashV2, values[i:i+1])
		dst = componentOf(values[i]).appendExact(dst)
	}
	return dst
}

// appendEPK hashes -0.0 as 0: equal values must not be two partitions.
func appendEPK(dst []byte, version PartitionVersion, values []doc.Value) []byte {
	for i, v := range values {
		if f, _, ok := number(v); ok && f == 0 && math.Signbit(f) {
			values = append([]doc.Value(nil), values...)
			values[i] = doc.Int(0)
		}
	}
	return EffectivePartitionKey(dst, version, false, values)
}

func (c component) appendExact(dst []byte) []byte {
	switch c.mark {
	case markNull:
		return append(dst, tagNull)
	case markFalse:
		return append(dst, tagFalse)
	case markTrue:
		return append(dst, tagTrue)
	case markNumber:
		return appendReal(append(dst, tagNumber), c.f, 0)
	case markString:
		return appendEscaped(append(dst, tagString), c.text, endWhole)
	}
	return append(dst, tagUndefined)
}

// PartitionEPK appends the effective partition key of the partition of n components at
// the start of b, and returns the bytes of b after the partition.
func PartitionEPK(dst, b []byte, version PartitionVersion, multi bool, n int) (epk, rest []byte, err error) {
	for i := range n {
		if i == 0 || multi {
			size, ok := epkBytes(b, version, multi, n)
			if !ok {
				return nil, nil, ErrCorrupt
			}
			dst = append(dst, b[:size]...)
			b = b[size:]
		}
		if b, err = skipExact(b); err != nil {
			return nil, nil, err
		}
	}
	return dst, b, nil
}

// epkBytes is the length of the run of effective partition key bytes at the start of b:
// one hash, or a whole version 1 key of n components.
func epkBytes(b []byte, version PartitionVersion, multi bool, n int) (size int, ok bool) {
	if !multi && version < HashV2 {
		return v1Bytes(b, n)
	}
	return hashBytes, len(b) >= hashBytes
}
