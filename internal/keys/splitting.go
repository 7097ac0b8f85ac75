package keys

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/big"
)

// Splitting is the key of the SplitProgress of a split whose first new range this is.
func (r Range) Splitting(dst []byte) []byte {
	return append(r.AppendPrefix(dst, KindBuilding), splitting)
}

// splitting is what follows the prefix in the key of a SplitProgress, beside BuildOfPolicy and BuildOfNamed.
const splitting byte = 's'

// A SplitProgress is how far the documents of a range that is being split are copied.
type SplitProgress struct {
	Copied uint64 // every write up to this sequence has been copied
	New    [2]Copied
}

// Copied are the documents that a new range has got so far.
type Copied struct {
	Documents, Bytes uint64
}

const splitProgressBytes = 5 * 8

// Append appends the stored form: big-endian integers.
func (p SplitProgress) Append(dst []byte) []byte {
	dst = binary.BigEndian.AppendUint64(dst, p.Copied)
	for _, c := range p.New {
		dst = binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(dst, c.Documents), c.Bytes)
	}
	return dst
}

// DecodeSplitProgress reads the form of Append.
func DecodeSplitProgress(value []byte) (p SplitProgress, err error) {
	if len(value) != splitProgressBytes {
		return p, ErrCorrupt
	}
	p.Copied = binary.BigEndian.Uint64(value)
	for i := range p.New {
		p.New[i].Documents = binary.BigEndian.Uint64(value[8+16*i:])
		p.New[i].Bytes = binary.BigEndian.Uint64(value[16+16*i:])
	}
	return p, nil
}

// EPKMiddle is the bound in the middle of [low, high), two bounds as EPKBound makes them; ok is false if nothing is
// between them.
func EPKMiddle(version PartitionVersion, multi bool, low, high []byte) (middle []byte, ok bool) {
	bits := uint(8*hashBytes - 2)
	if version < HashV2 && !multi {
		bits = 32
	}
	// A bound is one below the number that it stands for, see EPKBound.
	from, to := new(big.Int), new(big.Int).Lsh(big.NewInt(1), bits)
	if len(low) > 0 {
		from.Add(boundNumber(bits, low), big.NewInt(1))
	}
	if !bytes.Equal(high, EPKEnd) {
		to.Add(boundNumber(bits, high), big.NewInt(1))
	}
	x := from.Add(from, to)
	x.Rsh(x, 1).Sub(x, big.NewInt(1))
	if x.Sign() < 0 {
		return nil, false
	}
	if bits == 32 {
		f, _ := x.Float64()
		middle = component{mark: markNumber, f: f}.appendV1(nil)
	} else {
		middle = x.FillBytes(make([]byte, hashBytes))
	}
	return middle, bytes.Compare(low, middle) < 0 && bytes.Compare(middle, high) < 0
}

func boundNumber(bits uint, bound []byte) *big.Int {
	if bits != 32 {
		return new(big.Int).SetBytes(bound)
	}
	f, _ := decodeV1Number(bound[1:])
	return new(big.Int).SetUint64(uint64(max(f, 0)))
}

// EPKCut cuts an effective partition key, or the form of a partition, to what may be a bound of a range: the hash of
// its first component. ok is false if it does not begin with one.
func EPKCut(version PartitionVersion, multi bool, epk []byte) (bound []byte, ok bool) {
	if version >= HashV2 || multi {
		if len(epk) < hashBytes || epk[0] >= 0x40 {
			return nil, false
		}
		return bytes.Clone(epk[:hashBytes]), true
	}
	if len(epk) == 0 || epk[0] != markNumber {
		return nil, false
	}
	f, size := decodeV1Number(epk[1:])
	if size == 0 || f < 0 || f > math.MaxUint32 {
		return nil, false
	}
	return bytes.Clone(epk[:1+size]), true
}

// decodeV1Number reads the output of appendV1Number from the beginning of b; size is 0 if it is not there.
func decodeV1Number(b []byte) (f float64, size int) {
	if len(b) < 2 {
		return 0, 0
	}
	bits, shift := uint64(b[0])<<56, 49
	for size = 1; ; size++ {
		if size == len(b) {
			return 0, 0
		}
		bits |= uint64(b[size]>>1) << shift
		if b[size]&1 == 0 {
			break
		}
		if shift -= 7; shift < 0 {
			return 0, 0
		}
	}
	if bits&signBit != 0 {
		bits &^= signBit
	} else {
		bits = -bits
	}
	return math.Float64frombits(bits), size + 1
}
