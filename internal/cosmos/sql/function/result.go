package function

import (
	"encoding/binary"
	"strconv"
	"unicode/utf8"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/fault"
)

// What a function may build for one row. The service has no page above 4 MiB;
// an array takes several times its JSON in BSON.
const (
	maxTextBytes  = 4 << 20
	maxArrayBytes = 16 << 20
)

// Values that need no memory of their own.
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

// A room is the memory that a call keeps from row to row for its result and
// for what it needs on the way there.
type room struct {
	out         []byte
	number      [8]byte
	left, right []byte
	values      []doc.Value
	others      []doc.Value
	taken       []bool
}

func roomOf(c *Call) *room {
	if r, ok := c.Memo.(*room); ok {
		return r
	}
	r := &room{}
	c.Memo = r
	return r
}

// int is i as a value.
func (r *room) int(i int64) doc.Value {
	binary.LittleEndian.PutUint64(r.number[:], uint64(i))
	return doc.Value{Type: bsoncore.TypeInt64, Data: r.number[:]}
}

// float is f as a value; a whole one prints as an integer all the same.
func (r *room) float(f float64) doc.Value {
	copy(r.number[:], doc.Float(f).Data)
	return doc.Value{Type: bsoncore.TypeDouble, Data: r.number[:]}
}

// begin is where the bytes of a text go: append to it, and give it to text.
func (r *room) begin() []byte { return append(r.out[:0], 0, 0, 0, 0) }

// text closes what begin has opened.
func (r *room) text(b []byte) doc.Value {
	binary.LittleEndian.PutUint32(b, uint32(len(b)-4+1))
	r.out = append(b, 0)
	return doc.Value{Type: bsoncore.TypeString, Data: r.out}
}

func (r *room) copy(s string) doc.Value {
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

func (r *room) list() list { return list{b: append(r.out[:0], 0, 0, 0, 0)} }

// head begins an element.
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

// array closes the list; its memory is the room's.
func (r *room) array(c *Call, l list) doc.Value {
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

// texts gives the strings that the first two arguments are.
func texts(args []doc.Value) (a, b string, ok bool) {
	a, ok = doc.AsString(args[0])
	if !ok {
		return "", "", false
	}
	b, ok = doc.AsString(args[1])
	return a, b, ok
}

// flag is an optional boolean argument: false where it is not given or undefined.
func flag(args []doc.Value, at int) (set, ok bool) {
	if len(args) <= at || doc.IsUndefined(args[at]) {
		return false, true
	}
	return doc.AsBool(args[at])
}

// A verdict gathers what AND or OR makes of several truth values.
type verdict struct {
	decisive  bool // the value that decides: false for AND, true for OR
	undefined bool
}

// take reports whether v decides.
func (o *verdict) take(v, known bool) bool {
	o.undefined = o.undefined || !known
	return known && v == o.decisive
}

// none is the result when nothing has decided.
func (o *verdict) none() doc.Value {
	if o.undefined {
		return undefined
	}
	return truth(!o.decisive)
}

// replacement stands for half of a surrogate pair, which UTF-8 cannot write.
const replacement = string(utf8.RuneError)
