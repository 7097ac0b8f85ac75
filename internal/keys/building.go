package keys

import "encoding/binary"

// The kinds of index builds that have a Progress.
const (
	BuildOfPolicy byte = 'i' // a generation of the container's indexing policy
	BuildOfNamed  byte = 'n' // named indexes
)

// Building is the key of the Progress of a build of one of these kinds.
func (r Range) Building(dst []byte, kind byte) []byte {
	return append(r.AppendPrefix(dst, KindBuilding), kind)
}

// A Progress is how far an index build is, so that another process can go on with it.
type Progress struct {
	// Range is where the build is. The ranges before it are done.
	Range uint16
	// Next is the number of the document to go on with. Those of the range before it are done.
	Next    uint64
	Indexes []uint32 // what is built: the generation, or the named indexes by their ids
}

// Append appends the stored form: big-endian integers. The range comes last, unless it is that of the number.
func (p Progress) Append(dst []byte) []byte {
	dst = binary.BigEndian.AppendUint64(dst, p.Next)
	dst = appendIDs(dst, p.Indexes)
	if p.Range != RangeOfNumber(p.Next) {
		dst = binary.BigEndian.AppendUint16(dst, p.Range)
	}
	return dst
}

// DecodeProgress reads the form of Append.
func DecodeProgress(value []byte) (p Progress, err error) {
	if len(value) < 8 || len(value)%2 != 0 {
		return p, ErrCorrupt
	}
	p.Next = binary.BigEndian.Uint64(value)
	p.Range = RangeOfNumber(p.Next)
	if end := len(value) - 2; len(value)%4 != 0 {
		p.Range = binary.BigEndian.Uint16(value[end:])
		value = value[:end]
	}
	for rest := value[8:]; len(rest) > 0; rest = rest[4:] {
		p.Indexes = append(p.Indexes, binary.BigEndian.Uint32(rest))
	}
	return p, nil
}
