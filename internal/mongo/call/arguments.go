package call

import (
	"math"
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/wire"
)

// Arguments of a command are the members of its document, and the documents that came beside it.
// Methods that read them note the first mistake in Err and give zero values then, so that a command
// asks for all that it wants and looks at Err once. Arguments share the connection's memory: what
// outlives the request is copied. Strings are copies already.
type Arguments struct {
	Message *wire.Message
	Body    doc.Doc
	Title   string    // the name of the command, for messages
	Arg     doc.Value // the value of the command's own member
	DB      string

	Err error // the first mistake
}

// BatchSize reads the size of a batch from a value, whose place is the command's name or that of `cursor`.
func (m *Arguments) BatchSize(within string, v doc.Value, otherwise int64) int64 {
	if v.Type == 0 || v.Type == bsoncore.TypeNull {
		return otherwise
	}
	n, ok := WholeOf(v)
	switch {
	case !ok:
		m.Fault(code.WrongType(within+".batchSize", v, "[long, int, decimal, double]"))
	case n < 0:
		m.Fault(code.New(ValueTooSmall, "BSON field 'batchSize' value must be >= 0, actual value '%d'", n))
	}
	return n
}

// RefuseOptions names an option that is set and that mayfly does not have.
func (m *Arguments) RefuseOptions(names ...string) error {
	for _, name := range names {
		v := m.Get(name)
		if b, ok := doc.AsBool(v); v.Type == 0 || ok && !b {
			continue
		}
		return code.Unsupported("the option '" + name + "' of the command " + m.Title)
	}
	return nil
}

// CheckCollation refuses every collation but the simple one.
func (m *Arguments) CheckCollation(name string) error {
	return CheckCollation(m.Document(name))
}

// FaultIf notes a mistake, if there is one.
func (m *Arguments) FaultIf(err error) {
	if err != nil {
		m.Fault(err)
	}
}

// WrongType says that a member has a type that it must not have.
func (m *Arguments) WrongType(name string, v doc.Value, want string) error {
	return code.WrongType(m.Title+"."+name, v, want)
}

// Fault notes a mistake. Only the first one counts.
func (m *Arguments) Fault(err error) {
	if m.Err == nil {
		m.Err = err
	}
}

// Get gives a member of the command; null counts as missing.
func (m *Arguments) Get(name string) doc.Value {
	v := doc.Lookup(m.Body, name)
	if v.Type == bsoncore.TypeNull {
		return doc.Value{}
	}
	return v
}

// String gives an optional string.
func (m *Arguments) String(name string) string {
	v := m.Get(name)
	s, ok := doc.AsString(v)
	if v.Type != 0 && !ok {
		m.Fault(m.WrongType(name, v, "string"))
	}
	return strings.Clone(s)
}

// Document gives an optional document, nil if there is none.
func (m *Arguments) Document(name string) doc.Doc {
	v := m.Get(name)
	d, ok := doc.AsDoc(v)
	if v.Type != 0 && !ok {
		m.Fault(m.WrongType(name, v, "object"))
	}
	return d
}

// List gives the elements of an optional array.
func (m *Arguments) List(name string) []doc.Value {
	v := m.Get(name)
	if v.Type == 0 {
		return nil
	}
	if v.Type != bsoncore.TypeArray {
		m.Fault(m.WrongType(name, v, "array"))
		return nil
	}
	var list []doc.Value
	for element := range doc.Elements(v) {
		list = append(list, element)
	}
	return list
}

// Documents gives the documents of a required array, which may have come as a sequence.
func (m *Arguments) Documents(name string) []doc.Doc {
	if list, ok := m.Message.Sequence(name); ok {
		return list
	}
	v := doc.Lookup(m.Body, name)
	if v.Type == 0 {
		m.Fault(code.New(code.MissingFieldOfCommand,
			"BSON field '%s.%s' is missing but a required field", m.Title, name))
		return nil
	}
	if v.Type != bsoncore.TypeArray {
		m.Fault(m.WrongType(name, v, "array"))
		return nil
	}
	var list []doc.Doc
	i := 0
	for element := range doc.Elements(v) {
		d, ok := doc.AsDoc(element)
		if !ok {
			m.Fault(code.WrongType(m.Title+"."+name+"."+strconv.Itoa(i), element, "object"))
			return nil
		}
		list = append(list, d)
		i++
	}
	return list
}

// Bool gives an optional boolean; numbers count as one.
func (m *Arguments) Bool(name string, otherwise bool) bool {
	v := m.Get(name)
	if v.Type == 0 {
		return otherwise
	}
	if b, ok := doc.AsBool(v); ok {
		return b
	}
	if f, ok := doc.AsFloat(v); ok {
		return f != 0
	}
	m.Fault(m.WrongType(name, v, "[bool, long, int, decimal, double]"))
	return false
}

// ValueTooSmall is the code of a number below the least one that a member may have.
const ValueTooSmall code.Code = 51024

// Int gives an optional whole number of at least low.
func (m *Arguments) Int(name string, low int64, otherwise int64) int64 {
	v := m.Get(name)
	if v.Type == 0 {
		return otherwise
	}
	n, ok := WholeOf(v)
	if !ok {
		m.Fault(m.WrongType(name, v, "[long, int, decimal, double]"))
		return otherwise
	}
	if n < low {
		m.Fault(code.New(ValueTooSmall, "BSON field '%s' value must be >= %d, actual value '%d'", name, low, n))
		return otherwise
	}
	return n
}

// WholeOf reads a number as MongoDB's long: fractions are cut off.
func WholeOf(v doc.Value) (int64, bool) {
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

// Truth reads a boolean or a number as one.
func Truth(v doc.Value) (on, ok bool) {
	if b, ok := doc.AsBool(v); ok {
		return b, true
	}
	f, ok := doc.AsFloat(v)
	return f != 0, ok
}

// IsTrue reads a member that is a switch: true or a number that is not zero.
func IsTrue(v doc.Value) bool {
	if b, ok := doc.AsBool(v); ok {
		return b
	}
	f, ok := doc.AsFloat(v)
	return ok && f != 0 && v.Type != bsoncore.TypeDecimal128
}

// CheckCollation refuses every collation but the simple one.
func CheckCollation(d doc.Doc) error {
	if doc.IsEmpty(d) {
		return nil
	}
	locale, ok := doc.AsString(doc.Lookup(d, "locale"))
	switch {
	case !ok:
		return code.New(code.MissingFieldOfCommand, "BSON field 'collation.locale' is missing but a required field")
	case locale != "simple":
		return code.Unsupported("the collation with locale '" + locale + "'")
	}
	return nil
}

// WrongMember is the error of a required member that is missing or has the wrong type.
func WrongMember(path string, v doc.Value, want string) error {
	if v.Type == 0 || v.Type == bsoncore.TypeNull {
		return code.New(code.MissingFieldOfCommand, "BSON field '%s' is missing but a required field", path)
	}
	return code.WrongType(path, v, want)
}

// FieldSet is the set of the names in a text.
func FieldSet(text string) map[string]bool {
	set := map[string]bool{}
	for _, name := range strings.Fields(text) {
		set[name] = true
	}
	return set
}

// Member gives a document in a document, nil if there is none.
func Member(d doc.Doc, name string) doc.Doc {
	m, _ := doc.AsDoc(doc.Lookup(d, name))
	return m
}
