package filter

import (
	"cmp"
	"encoding/binary"
	"slices"
	"strconv"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
)

// A valueSet has values that are the same whatever the order of fields in them.
type valueSet struct{ values []doc.Value }

func (s *valueSet) add(v doc.Value) { s.values = append(s.values, ordered(v, maxDepth)) }

// repeats sorts the set and reports whether a value is in it twice.
func (s *valueSet) repeats() bool {
	slices.SortFunc(s.values, doc.CompareBSON)
	for i := 1; i < len(s.values); i++ {
		if doc.EqualBSON(s.values[i-1], s.values[i]) {
			return true
		}
	}
	return false
}

// has looks into a set that repeats has sorted.
func (s *valueSet) has(v doc.Value) bool {
	_, found := slices.BinarySearchFunc(s.values, ordered(v, maxDepth), doc.CompareBSON)
	return found
}

// ordered is v with the fields of its objects sorted by name, as deep as levels.
func ordered(v doc.Value, levels int) doc.Value {
	if levels == 0 {
		return v
	}
	switch v.Type {
	case bsoncore.TypeArray:
		b, n := make([]byte, 4, len(v.Data)), 0
		for e := range doc.Elements(v) {
			b = doc.AppendElement(b, strconv.Itoa(n), ordered(e, levels-1))
			n++
		}
		return doc.Array(closed(b))
	case bsoncore.TypeEmbeddedDocument:
		return doc.Object(orderedFields(v.Data, levels-1))
	}
	return v
}

func orderedFields(d doc.Doc, levels int) doc.Doc {
	type field struct {
		name  string
		value doc.Value
	}
	var fields []field
	for name, v := range doc.Members(d) {
		fields = append(fields, field{name, v})
	}
	slices.SortStableFunc(fields, func(a, b field) int { return cmp.Compare(a.name, b.name) })
	b := make([]byte, 4, len(d))
	for _, f := range fields {
		b = doc.AppendElement(b, f.name, ordered(f.value, levels))
	}
	return closed(b)
}

// closed ends a document whose length is not yet in its first four bytes.
func closed(b []byte) []byte {
	b = append(b, 0)
	binary.LittleEndian.PutUint32(b, uint32(len(b)))
	return b
}
