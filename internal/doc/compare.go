package doc

import (
	"bytes"
	"cmp"
	"slices"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"
)

// A Rank is the position of a value's type in the order of types of Cosmos DB for
// NoSQL: ORDER BY sorts by type before it compares values.
type Rank uint8

// The ranks, lowest first. Numbers compare as numbers whatever their BSON type.
const (
	RankUndefined Rank = iota
	RankNull
	RankFalse
	RankTrue
	RankNumber
	RankString
	RankArray
	RankObject
	RankOther // types that JSON does not have
)

// RankOf returns the rank of v's type.
func RankOf(v Value) Rank {
	switch v.Type {
	case 0:
		return RankUndefined
	case bsoncore.TypeNull:
		return RankNull
	case bsoncore.TypeBoolean:
		if b, _ := AsBool(v); b {
			return RankTrue
		}
		return RankFalse
	case bsoncore.TypeString:
		return RankString
	case bsoncore.TypeArray:
		return RankArray
	case bsoncore.TypeEmbeddedDocument:
		return RankObject
	}
	if IsNumber(v) {
		return RankNumber
	}
	return RankOther
}

// Compare is the order of values for NoSQL: -1 if a sorts before b, 0 if they
// are equal, +1 otherwise. Types sort by Rank; numbers exactly, without rounding
// whole ones to doubles; strings by code point; arrays element by element; objects
// by their sorted names and the values of these, so that the order of members
// does not matter; types that JSON does not have by type and bytes. It is a
// total order, NaN being the least number and equal to itself.
func Compare(a, b Value) int {
	rank := RankOf(a)
	if c := cmp.Compare(rank, RankOf(b)); c != 0 {
		return c
	}
	switch rank {
	case RankNumber:
		m, _ := readNumber(a)
		n, _ := readNumber(b)
		return compareNumbers(m, n)
	case RankString:
		m, _ := text(a.Data)
		n, _ := text(b.Data)
		return bytes.Compare(m, n)
	case RankArray:
		return compareArrays(body(a.Data), body(b.Data))
	case RankObject:
		return compareObjects(body(a.Data), body(b.Data))
	case RankOther:
		return cmp.Or(cmp.Compare(a.Type, b.Type), bytes.Compare(a.Data, b.Data))
	}
	return 0
}

// Equal reports whether a and b are the same value, that is whether Compare returns
// 0. It reads no more than the shorter of the two, unless they are objects with the
// same number of members in another order, which have to be sorted.
func Equal(a, b Value) bool {
	if a.Type == b.Type && bytes.Equal(a.Data, b.Data) {
		return true
	}
	rank := RankOf(a)
	if rank != RankOf(b) {
		return false
	}
	switch rank {
	case RankArray:
		return equalArrays(body(a.Data), body(b.Data))
	case RankObject:
		return equalObjects(body(a.Data), body(b.Data))
	}
	return Compare(a, b) == 0
}

func equalArrays(a, b []byte) bool {
	for {
		m, more := next(a)
		n, other := next(b)
		if !more || !other {
			return more == other
		}
		if !Equal(m.value(), n.value()) {
			return false
		}
		a, b = a[m.size:], b[n.size:]
	}
}

func equalObjects(a, b []byte) bool {
	as, bs, ordered := a, b, true
	for {
		m, more := next(as)
		n, other := next(bs)
		if more != other {
			return false
		}
		if !more {
			break
		}
		ordered = ordered && bytes.Equal(m.name, n.name)
		as, bs = as[m.size:], bs[n.size:]
	}
	if ordered {
		return equalArrays(a, b)
	}
	return slices.EqualFunc(sorted(a), sorted(b), func(m, n element) bool {
		return bytes.Equal(m.name, n.name) && Equal(m.value(), n.value())
	})
}

func compareArrays(a, b []byte) int {
	for {
		m, more := next(a)
		n, other := next(b)
		if !more || !other {
			return compareBools(more, other)
		}
		if c := Compare(m.value(), n.value()); c != 0 {
			return c
		}
		a, b = a[m.size:], b[n.size:]
	}
}

func compareObjects(a, b []byte) int {
	if bytes.Equal(a, b) {
		return 0
	}
	return compareSorted(sorted(a), sorted(b))
}

func compareSorted(a, b []element) int {
	return slices.CompareFunc(a, b, func(m, n element) int {
		return cmp.Or(bytes.Compare(m.name, n.name), Compare(m.value(), n.value()))
	})
}

func sorted(b []byte) []element {
	var all []element
	for e, ok := next(b); ok; e, ok = next(b) {
		all = append(all, e)
		b = b[e.size:]
	}
	slices.SortStableFunc(all, func(m, n element) int { return bytes.Compare(m.name, n.name) })
	return all
}

func compareBools(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}
