package command

import (
	"math"
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/wire"
)

// The arguments of a command are the members of its document, and the documents that came beside it.
// Methods that read them note the first mistake in err and give zero values then, so that a command
// asks for all that it wants and looks at err once. Arguments share the connection's memory: what
// outlives the request is copied. Strings are copies already.
type arguments struct {
	msg   *wire.Message
	body  doc.Doc
	title string    // the name of the command, for messages
	arg   doc.Value // the value of the command's own member
	db    string

	err error // the first mistake
}

// batchSize reads the size of a batch from a value, whose place is the command's name or that of `cursor`.
func (m *arguments) batchSize(within string, v doc.Value, otherwise int64) int64 {
	if v.Type == 0 || v.Type == bsoncore.TypeNull {
		return otherwise
	}
	n, ok := wholeOf(v)
	switch {
	case !ok:
		m.fault(code.WrongType(within+".batchSize", v, "[long, int, decimal, double]"))
	case n < 0:
		m.fault(code.New(valueTooSmall, "BSON field 'batchSize' value must be >= 0, actual value '%d'", n))
	}
	return n
}

// refuseOptions names an option that is set and that mayfly does not have.
func (m *arguments) refuseOptions(names ...string) error {
	for _, name := range names {
		v := m.get(name)
		if b, ok := doc.AsBool(v); v.Type == 0 || ok && !b {
			continue
		}
		return code.Unsupported("the option '" + name + "' of the command " + m.title)
	}
	return nil
}

// checkCollation refuses every collation but the simple one.
func (m *arguments) checkCollation(name string) error {
	return simpleCollation(m.document(name))
}

// checkBooleans checks them. mongodb/mongo: src/mongo/idl/basic_types.h, OptionalBool
func (m *arguments) checkBooleans() error {
	for name, v := range doc.Members(m.body) {
		if booleans[name] && v.Type != bsoncore.TypeBoolean && v.Type != bsoncore.TypeNull {
			return code.New(code.TypeMismatch, "Field '%s' should be a boolean value, but found: %s", name, code.TypeName(v))
		}
	}
	return nil
}

func (m *arguments) faultIf(err error) {
	if err != nil {
		m.fault(err)
	}
}

// wrongType says that a member has a type that it must not have.
func (m *arguments) wrongType(name string, v doc.Value, want string) error {
	return code.WrongType(m.title+"."+name, v, want)
}

func (m *arguments) fault(err error) {
	if m.err == nil {
		m.err = err
	}
}

// get gives a member of the command; null counts as missing.
func (m *arguments) get(name string) doc.Value {
	v := doc.Lookup(m.body, name)
	if v.Type == bsoncore.TypeNull {
		return doc.Value{}
	}
	return v
}

// string gives an optional string.
func (m *arguments) string(name string) string {
	v := m.get(name)
	s, ok := doc.AsString(v)
	if v.Type != 0 && !ok {
		m.fault(m.wrongType(name, v, "string"))
	}
	return strings.Clone(s)
}

// document gives an optional document, nil if there is none.
func (m *arguments) document(name string) doc.Doc {
	v := m.get(name)
	d, ok := doc.AsDoc(v)
	if v.Type != 0 && !ok {
		m.fault(m.wrongType(name, v, "object"))
	}
	return d
}

// list gives the elements of an optional array.
func (m *arguments) list(name string) []doc.Value {
	v := m.get(name)
	if v.Type == 0 {
		return nil
	}
	if v.Type != bsoncore.TypeArray {
		m.fault(m.wrongType(name, v, "array"))
		return nil
	}
	var list []doc.Value
	for element := range doc.Elements(v) {
		list = append(list, element)
	}
	return list
}

// documents gives the documents of a required array, which may have come as a sequence.
func (m *arguments) documents(name string) []doc.Doc {
	if list, ok := m.msg.Sequence(name); ok {
		return list
	}
	v := doc.Lookup(m.body, name)
	if v.Type == 0 {
		m.fault(code.New(code.MissingFieldOfCommand, "BSON field '%s.%s' is missing but a required field", m.title, name))
		return nil
	}
	if v.Type != bsoncore.TypeArray {
		m.fault(m.wrongType(name, v, "array"))
		return nil
	}
	var list []doc.Doc
	i := 0
	for element := range doc.Elements(v) {
		d, ok := doc.AsDoc(element)
		if !ok {
			m.fault(code.WrongType(m.title+"."+name+"."+strconv.Itoa(i), element, "object"))
			return nil
		}
		list = append(list, d)
		i++
	}
	return list
}

// bool gives an optional boolean; numbers count as one.
func (m *arguments) bool(name string, otherwise bool) bool {
	v := m.get(name)
	if v.Type == 0 {
		return otherwise
	}
	if b, ok := doc.AsBool(v); ok {
		return b
	}
	if f, ok := doc.AsFloat(v); ok {
		return f != 0
	}
	m.fault(m.wrongType(name, v, "[bool, long, int, decimal, double]"))
	return false
}

// valueTooSmall is the code of a number below the least one that a member may have.
const valueTooSmall code.Code = 51024

// int gives an optional whole number of at least low.
func (m *arguments) int(name string, low int64, otherwise int64) int64 {
	v := m.get(name)
	if v.Type == 0 {
		return otherwise
	}
	n, ok := wholeOf(v)
	if !ok {
		m.fault(m.wrongType(name, v, "[long, int, decimal, double]"))
		return otherwise
	}
	if n < low {
		m.fault(code.New(valueTooSmall, "BSON field '%s' value must be >= %d, actual value '%d'", name, low, n))
		return otherwise
	}
	return n
}

// wholeOf reads a number as MongoDB's long: fractions are cut off.
func wholeOf(v doc.Value) (int64, bool) {
	if n, ok := doc.AsInt64Exact(v); ok {
		return n, true
	}
	f, ok := doc.AsFloat(v)
	switch {
	case !ok:
		return 0, false
	case math.IsNaN(f):
		return 0, true
	case f >= math.MaxInt64:
		return math.MaxInt64, true
	case f <= math.MinInt64:
		return math.MinInt64, true
	}
	return int64(f), true
}

// truth reads a boolean or a number as one.
func truth(v doc.Value) (on, ok bool) {
	if b, ok := doc.AsBool(v); ok {
		return b, true
	}
	f, ok := doc.AsFloat(v)
	return f != 0, ok
}

// isTrue reads a member that is a switch: true or a number that is not zero.
func isTrue(v doc.Value) bool {
	if b, ok := doc.AsBool(v); ok {
		return b
	}
	f, ok := doc.AsFloat(v)
	return ok && f != 0 && v.Type != bsoncore.TypeDecimal128
}
