package exec

import (
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
)

// A tri is what a condition comes to: true, false, or undefined.
type tri uint8

const (
	unknown tri = iota
	no
	yes
)

// A test is a condition over a row. It is an eval without the value.
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

// not is false for true, true for false, undefined for undefined.
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

// truth is v as a condition: what is no boolean is undefined.
func truth(v doc.Value) tri {
	if v.Type != bsoncore.TypeBoolean || len(v.Data) == 0 {
		return unknown
	}
	return triOf(v.Data[0] != 0)
}
