package function

import (
	"encoding/binary"
	"strconv"
	"unicode/utf8"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/fault"
)

// Limits of what a function may create for one row. The service has no pages above 4 MiB; an array needs several
// times its JSON in BSON.
const (
	maxTextBytes  = 4 << 20
	maxArrayBytes = 16 << 20
)

// Values that need no memory.
var (
	undefined = doc.Value{}
	yes       = doc.Bool(true)
	no        = doc.Bool(false)
	emptyText = doc.String("")
)

func truth(b bool) doc.Value {
	if b {
		return yes
	}
	return no
}

// A scratch is memory that a call reuses from row to row, for its result and intermediate values.
type scratch struct {
	out         []byte
	number      [8]byte
	left, right []byte
	values      []doc.Value
	others      []doc.Value
	taken       []bool
}

func scratchOf(c *Call) *scratch {
	if r, ok := c.Memo.(*scratch); ok {
		return r
	}
	r := &scratch{}
	c.Memo = r
	return r
}

// int is i as a value.
func (r *scratch) int(i int64) doc.Value {
	binary.LittleEndian.PutUint64(r.number[:], uint64(i))
	return doc.Value{Type: bsoncore.TypeInt64, Data: r.number[:]}
}

// float is f as a value. Whole numbers still print as integers.
func (r *scratch) float(f float64) doc.Value {
	copy(r.number[:], doc.Float(f).Data)
	return doc.Value{Type: bsoncore.TypeDouble, Data: r.number[:]}
}

// begin starts a string: append its bytes to the result, and pass that to text.
func (r *scratch) begin() []byte { return append(r.out[:0], 0, 0, 0, 0) }

// text ends a string started by begin.
func (r *scratch) text(b []byte) doc.Value {
	binary.LittleEndian.PutUint32(b, uint32(len(b)-4+1))
	r.out = append(b, 0)
	return doc.Value{Type: bsoncore.TypeString, Data: r.out}
}

func (r *scratch) copy(s string) doc.Value {
	if s == "" {
		return emptyText
	}
	return r.text(append(r.begin(), s...))
}

func failText(c *Call) doc.Value {
	return c.Fail(fault.New(fault.TooLarge, "The text that a function makes has more than %d bytes.", maxTextBytes))
}

// A list is a BSON array under construction.
type list struct {
	b []byte
	n int
}

func (r *scratch) list() list { return list{b: append(r.out[:0], 0, 0, 0, 0)} }

// head starts an element.
func (l *list) head(kind bsoncore.Type) {
	l.b = append(l.b, byte(kind))
	l.b = strconv.AppendInt(l.b, int64(l.n), 10)
	l.b = append(l.b, 0)
	l.n++
}

func (l *list) add(v doc.Value) {
	l.head(v.Type)
	l.b = append(l.b, v.Data...)
}

func (l *list) addText(s string) {
	l.head(bsoncore.TypeString)
	l.b = appendText(l.b, s)
}

// array ends the list, whose memory is the scratch's.
func (r *scratch) array(c *Call, l list) doc.Value {
	if len(l.b) > maxArrayBytes {
		return failArray(c)
	}
	r.out = append(l.b, 0)
	binary.LittleEndian.PutUint32(r.out, uint32(len(r.out)))
	return doc.Value{Type: bsoncore.TypeArray, Data: r.out}
}

func failArray(c *Call) doc.Value {
	return c.Fail(fault.New(fault.TooLarge, "The array that a function makes has more than %d bytes.", maxArrayBytes))
}

func appendText(dst []byte, s string) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(s)+1))
	dst = append(dst, s...)
	return append(dst, 0)
}

// texts are the first two arguments as strings.
func texts(args []doc.Value) (a, b string, ok bool) {
	a, ok = doc.AsString(args[0])
	if !ok {
		return "", "", false
	}
	b, ok = doc.AsString(args[1])
	return a, b, ok
}

// flag is an optional boolean argument, which is false by default and if it is undefined.
func flag(args []doc.Value, at int) (set, ok bool) {
	if len(args) <= at || doc.IsUndefined(args[at]) {
		return false, true
	}
	return doc.AsBool(args[at])
}

// A verdict is the AND or OR of several values.
type verdict struct {
	decisive  bool // the value that decides: false for AND, true for OR
	undefined bool
}

// take adds a value, and reports whether it decides.
func (o *verdict) take(v, known bool) bool {
	o.undefined = o.undefined || !known
	return known && v == o.decisive
}

// none is the result if no value has decided.
func (o *verdict) none() doc.Value {
	if o.undefined {
		return undefined
	}
	return truth(!o.decisive)
}

// replacement replaces half of a surrogate pair, which UTF-8 cannot represent.
const replacement = string(utf8.RuneError)
