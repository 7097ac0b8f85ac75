package filter

import (
	"cmp"
	"encoding/binary"
	"slices"
	"strconv"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/work"
)

// A valueSet is a set of values for which the order of fields does not matter.
type valueSet struct{ values []doc.Value }

func (s *valueSet) add(v doc.Value, m *work.Meter) {
	_ = m.Spend(work.Element)
	s.values = append(s.values, ordered(v, maxDepth, m))
}

// repeats sorts the set and reports whether it has a value twice.
func (s *valueSet) repeats(m *work.Meter) bool {
	slices.SortFunc(s.values, m.Compare)
	for i := 1; i < len(s.values); i++ {
		if m.Equal(s.values[i-1], s.values[i]) {
			return true
		}
	}
	return false
}

// has reports whether the set has a value. It needs the order that repeats makes.
func (s *valueSet) has(v doc.Value, m *work.Meter) bool {
	_, found := slices.BinarySearchFunc(s.values, ordered(v, maxDepth, m), m.Compare)
	return found
}

// ordered is v with the fields of its objects sorted by name, down to that many levels.
func ordered(v doc.Value, levels int, m *work.Meter) doc.Value {
	if levels == 0 {
		return v
	}
	switch v.Type {
	case bsoncore.TypeArray:
		b, n := make([]byte, 4, len(v.Data)), 0
		for e := range doc.Elements(v) {
			b = doc.AppendElement(b, strconv.Itoa(n), ordered(e, levels-1, m))
			if n++; m.Spend(orderCost+work.Copied(len(e.Data))) != nil {
				break
			}
		}
		return doc.Array(closed(b))
	case bsoncore.TypeEmbeddedDocument:
		return doc.Object(orderedFields(v.Data, levels-1, m))
	}
	return v
}

// orderCost is the cost of sorting one field or element, in units of package work.
const orderCost = 10

func orderedFields(d doc.Doc, levels int, m *work.Meter) doc.Doc {
	type field struct {
		name  string
		value doc.Value
	}
	var fields []field
	for name, v := range doc.Members(d) {
		fields = append(fields, field{name, v})
		if m.Spend(work.Element) != nil {
			break
		}
	}
	slices.SortStableFunc(fields, func(a, b field) int {
		if m.Spend(work.Element+work.Copied(min(len(a.name), len(b.name)))) != nil {
			return 0
		}
		return cmp.Compare(a.name, b.name)
	})
	b := make([]byte, 4, len(d))
	for _, f := range fields {
		b = doc.AppendElement(b, f.name, ordered(f.value, levels, m))
		if m.Spend(orderCost+work.Copied(len(f.value.Data))) != nil {
			break
		}
	}
	return closed(b)
}

// closed ends a document and writes its length.
func closed(b []byte) []byte {
	b = append(b, 0)
	binary.LittleEndian.PutUint32(b, uint32(len(b)))
	return b
}
