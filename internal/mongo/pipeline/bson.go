package pipeline

import (
	"encoding/binary"
	"strconv"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/work"
)

var (
	null      = doc.Value{Type: bsoncore.TypeNull}
	undefined = doc.Value{Type: bsoncore.TypeUndefined}
)

// nullish reports whether v is null, undefined or missing.
func nullish(v doc.Value) bool {
	return v.Type == 0 || v.Type == bsoncore.TypeNull || v.Type == bsoncore.TypeUndefined
}

// float is the double nearest to a number.
func float(v doc.Value) float64 {
	if d, ok := doc.AsDecimal(v); ok {
		return d.Float64()
	}
	f, _ := doc.AsFloat(v)
	return f
}

// orNull is v, or null if v is missing.
func orNull(v doc.Value) doc.Value {
	if v.Type == 0 {
		return null
	}
	return v
}

// integer is the number as an int32 if that holds it, else as an int64. MongoDB returns sums and counts so.
func integer(i int64) doc.Value {
	if int64(int32(i)) == i {
		return doc.Int32(int32(i))
	}
	return doc.Int(i)
}

// beginDoc leaves room for the length of a document or array; endDoc fills it.
func beginDoc(dst []byte) (begun []byte, at int) { return append(dst, 0, 0, 0, 0), len(dst) }

func endDoc(dst []byte, at int) []byte {
	dst = append(dst, 0)
	binary.LittleEndian.PutUint32(dst[at:], uint32(len(dst)-at))
	return dst
}

// appendHead appends the type and the name of a member, without its value.
func appendHead(dst []byte, kind bsoncore.Type, name string) []byte {
	return append(append(append(dst, byte(kind)), name...), 0)
}

// appendMember appends a member, or nothing if v is missing.
func appendMember(dst []byte, name string, v doc.Value) []byte {
	if v.Type == 0 {
		return dst
	}
	return doc.AppendElement(dst, name, v)
}

func appendIndex(dst []byte, kind bsoncore.Type, i int) []byte {
	return append(strconv.AppendInt(append(dst, byte(kind)), int64(i), 10), 0)
}

// appendElement appends an element of an array.
func appendElement(dst []byte, i int, v doc.Value) []byte {
	return append(appendIndex(dst, v.Type, i), v.Data...)
}

// A list builds an array.
type list struct {
	buf []byte
	n   int
}

func (l *list) add(v doc.Value) {
	if l.n == 0 && len(l.buf) == 0 {
		l.buf = append(l.buf, 0, 0, 0, 0)
	}
	l.buf = appendElement(l.buf, l.n, v)
	l.n++
}

// value is the array so far, valid until the next add.
func (l *list) value() doc.Value {
	if len(l.buf) == 0 {
		l.buf = append(l.buf, 0, 0, 0, 0)
	}
	whole := endDoc(l.buf, 0)
	l.buf = whole[:len(whole)-1]
	return doc.Value{Type: bsoncore.TypeArray, Data: whole}
}

func (l *list) reset() { l.buf, l.n = l.buf[:0], 0 }

// A lookup finds members of a document, with an index if there are many lookups. If its meter has failed, its results
// are meaningless.
type lookup struct {
	d     doc.Doc
	meter *work.Meter
	index map[string]doc.Value
}

// indexCost is the cost of adding a member to an index, in units of package work.
const indexCost = 20

// fewLookups is the number of lookups that are cheaper without an index.
const fewLookups = 16

func lookups(m *work.Meter, d doc.Doc, times int) lookup {
	l := lookup{d: d, meter: m}
	if times > fewLookups {
		l.index = map[string]doc.Value{}
		for name, v := range doc.Members(d) {
			if m.Spend(indexCost+work.Scanned(len(name))) != nil {
				break
			}
			if _, twice := l.index[name]; !twice {
				l.index[name] = v
			}
		}
	}
	return l
}

func (l lookup) get(name string) doc.Value {
	if l.index != nil {
		return l.index[name]
	}
	v, _ := l.meter.Lookup(l.d, name)
	return v
}

// membersOf looks up the children of n in a document.
func (n *node) membersOf(m *work.Meter, d doc.Doc) lookup { return lookups(m, d, len(n.children)) }

// size is the number of members of a document.
func size(d doc.Doc) int {
	n := 0
	for range doc.Members(d) {
		n++
	}
	return n
}

// appendMerged appends a with the members of b: each replaces the member of a with the same name, or comes last. If m
// has failed, the result is meaningless.
func appendMerged(m *work.Meter, dst []byte, a, b doc.Doc) []byte {
	sizeA, sizeB := size(a), size(b)
	inA, inB := lookups(m, a, sizeB), lookups(m, b, sizeA)
	dst, at := beginDoc(dst)
	for name, v := range doc.Members(a) {
		if m.Spend(work.Operator+work.Copied(len(v.Data))) != nil {
			break
		}
		if other := inB.get(name); other.Type != 0 {
			v = other
		}
		dst = doc.AppendElement(dst, name, v)
	}
	for name, v := range doc.Members(b) {
		if m.Spend(work.Operator+work.Copied(len(v.Data))) != nil {
			break
		}
		if inA.get(name).Type == 0 {
			dst = doc.AppendElement(dst, name, v)
		}
	}
	return endDoc(dst, at)
}
