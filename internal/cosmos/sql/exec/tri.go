package exec

import (
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
)

// A tri is the value of a condition: true, false or undefined.
type tri uint8

const (
	unknown tri = iota
	no
	yes
)

// A test computes a condition for a row.
type test func(*frame) tri

var (
	vTrue  = doc.Bool(true)
	vFalse = doc.Bool(false)
)

func triOf(b bool) tri {
	if b {
		return yes
	}
	return no
}

// not is the negation. That of undefined is undefined.
func (t tri) not() tri {
	if t == unknown {
		return unknown
	}
	return yes + no - t
}

func (t tri) value() doc.Value {
	switch t {
	case yes:
		return vTrue
	case no:
		return vFalse
	}
	return doc.Value{}
}

// truth is v as a condition. A value that is not a boolean is undefined.
func truth(v doc.Value) tri {
	if v.Type != bsoncore.TypeBoolean || len(v.Data) == 0 {
		return unknown
	}
	return triOf(v.Data[0] != 0)
}
