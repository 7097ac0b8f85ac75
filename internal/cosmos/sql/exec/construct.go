package exec

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strconv"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/cosmos/sql/function"
	"github.com/mayflydb/mayfly/internal/cosmos/sql/syntax"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/fault"
)

// An objectNode is an object literal or a SELECT list.
type objectNode struct {
	members []objectMember
}

type objectMember struct {
	name string
	json []byte // the name as a JSON string, and a colon
	node
	get eval
}

func newObject(names []string, nodes []node) *objectNode {
	o := &objectNode{}
	for i, n := range nodes {
		m := objectMember{name: names[i], node: n, get: n.eval()}
		m.json = append(doc.AppendJSONString(nil, names[i]), ':')
		o.members = append(o.members, m)
	}
	return o
}

// errName rejects names that BSON cannot represent. Documents cannot have them either.
func errName(at syntax.Span) error {
	return syntax.Wrong("", at, "A member name may not hold a NUL character.")
}

func (c *compiler) object(x *syntax.Object, s *scope) (node, error) {
	names, nodes := make([]string, len(x.Members)), make([]node, len(x.Members))
	for i := range x.Members {
		m := &x.Members[i]
		if indexZero(m.Name) >= 0 {
			return node{}, errName(m.Span)
		}
		n, err := c.expr(m.X, s)
		if err != nil {
			return node{}, err
		}
		names[i], nodes[i] = m.Name, n
	}
	o := newObject(names, nodes)
	n := c.fold(computed(o.value), nodes...)
	n.object = o
	return n, nil
}

func (c *compiler) array(x *syntax.Array, s *scope) (node, error) {
	items, err := c.list(x.Items, s)
	if err != nil {
		return node{}, err
	}
	values := make([]eval, len(items))
	for i, n := range items {
		values[i] = n.eval()
	}
	n := c.fold(computed(func(f *frame) doc.Value {
		b := f.open()
		for _, get := range values {
			b.element(get(f))
		}
		return b.close(bsoncore.TypeArray)
	}), items...)
	n.array = items
	return n, nil
}

// value creates the object without its undefined members.
func (o *objectNode) value(f *frame) doc.Value {
	b := f.open()
	for i := range o.members {
		m := &o.members[i]
		b.member(m.name, m.get(f))
	}
	return b.close(bsoncore.TypeEmbeddedDocument)
}

// A builder creates an object or an array for a row.
type builder struct {
	f     *frame
	bytes []byte
	count int
	made  int // this builder's part of frame.made
}

// open returns a new builder.
func (f *frame) open() builder {
	return builder{f: f, bytes: append(make([]byte, 0, 256), 0, 0, 0, 0)}
}

// maxMade is the largest object or array that an expression may create, in bytes.
const maxMade = 32 << 20

var errMade = fault.New(fault.TooLarge, "An expression makes an object or an array of more than %d MiB.", maxMade>>20)

func (b *builder) member(name string, v doc.Value) {
	if v.Type == 0 || !b.fits(len(name)+len(v.Data)) {
		return
	}
	b.bytes = append(append(append(b.bytes, byte(v.Type)), name...), 0)
	b.bytes = append(b.bytes, v.Data...)
}

func (b *builder) element(v doc.Value) {
	if v.Type == 0 || !b.fits(len(v.Data)) {
		return
	}
	b.bytes = append(strconv.AppendInt(append(b.bytes, byte(v.Type)), int64(b.count), 10), 0)
	b.bytes = append(b.bytes, v.Data...)
	b.count++
}

// fits counts a part of n bytes with its header. It is false if the query must end.
func (b *builder) fits(n int) bool {
	n += 8
	b.made += n
	b.f.made += n
	if len(b.bytes)+n > maxMade {
		b.f.fail(errMade)
	}
	return b.f.spend(n) && b.f.mayHold(0) && b.f.err == nil
}

func (b *builder) close(kind bsoncore.Type) doc.Value {
	if b.f.err != nil {
		return doc.Value{}
	}
	b.f.made -= b.made
	b.f.mem.outside += b.made
	b.bytes = append(b.bytes, 0)
	binary.LittleEndian.PutUint32(b.bytes, uint32(len(b.bytes)))
	return doc.Value{Type: kind, Data: b.bytes}
}

// A writer appends the value of an expression as JSON. If the value is undefined, it appends nothing and ok is false.
type writer func(f *frame, dst []byte) (out []byte, ok bool)

// writer writes documents and literals without creating their values.
func (n node) writer() writer {
	switch {
	case n.document:
		return writeDocument
	case n.constant:
	case n.object != nil:
		return n.object.writer()
	case n.array != nil:
		return arrayWriter(n.array)
	}
	get, stored := n.eval(), n.path != nil // documents only have numbers that JSON can represent
	return func(f *frame, dst []byte) ([]byte, bool) {
		v := get(f)
		if v.Type == 0 {
			return dst, false
		}
		out := doc.Query.AppendJSONValue(dst, v)
		if !stored && !finite(v, out[len(dst):]) {
			f.fail(ErrNotFinite)
		}
		return out, true
	}
}

// ErrNotFinite is the error for a row that JSON cannot represent, as in the service (its substatus is 4001).
var ErrNotFinite = fault.New(fault.Invalid,
	"The response content contains a numeric value that cannot be represented in JSON (e.g. Infinity and NaN). "+
		"Where a row may divide by zero, or call LOG(0) or SQRT(-1), select IS_FINITE_NUMBER(x) ? x : null instead of "+
		"x.")

// finite is function.Finite(v), with a fast path if the JSON is available: package doc writes other numbers as
// strings, so without such strings there are none.
func finite(v doc.Value, json []byte) bool {
	switch v.Type {
	case bsoncore.TypeArray, bsoncore.TypeEmbeddedDocument:
		return !bytes.Contains(json, textNaN) && !bytes.Contains(json, textInfinity) || function.Finite(v)
	}
	return function.Finite(v)
}

var textNaN, textInfinity = []byte(`"NaN"`), []byte(`Infinity"`)

// hasDocument reports whether the writer writes the whole document, alone or as a part.
func (n node) hasDocument() bool {
	if n.object != nil {
		return slices.ContainsFunc(n.object.members, func(m objectMember) bool { return m.hasDocument() })
	}
	return n.document || slices.ContainsFunc(n.array, node.hasDocument)
}

// writeDocument writes the document including system properties.
func writeDocument(f *frame, dst []byte) ([]byte, bool) {
	if f.d == nil || f.d.Memo == nil {
		return f.writeMembers(dst), true
	}
	if text := f.d.Memo.Text(); text != nil {
		return append(dst, text...), true
	}
	start := len(dst)
	dst = f.writeMembers(dst)
	f.d.Memo.Keep(dst[start:])
	return dst, true
}

// writeMembers is writeDocument without the text that is kept.
func (f *frame) writeMembers(dst []byte) []byte {
	body, system := f.body(), f.systemMembers()
	if len(system) <= 5 {
		return doc.Query.AppendJSON(dst, body)
	}
	if len(body) <= 5 {
		return doc.Query.AppendJSON(dst, system)
	}
	dst = doc.Query.AppendJSON(dst, body)
	joint := len(dst) - 1 // the closing brace becomes the comma
	dst = doc.Query.AppendJSON(dst[:joint], system)
	dst[joint] = ','
	return dst
}

// writes reports whether the row at the end of dst may become longer.
func (f *frame) writes(dst []byte) bool {
	if len(dst)-f.start > maxRow {
		f.fail(errRow)
	}
	return f.err == nil
}

func (o *objectNode) writer() writer {
	writers := make([]writer, len(o.members))
	for i := range o.members {
		writers[i] = o.members[i].node.writer()
	}
	return func(f *frame, dst []byte) ([]byte, bool) {
		dst = append(dst, '{')
		first := true
		for i, write := range writers {
			if !f.writes(dst) {
				break
			}
			before := len(dst)
			if !first {
				dst = append(dst, ',')
			}
			out, ok := write(f, append(dst, o.members[i].json...))
			if !ok {
				dst = out[:before]
				continue
			}
			dst, first = out, false
		}
		return append(dst, '}'), true
	}
}

func arrayWriter(items []node) writer {
	writers := make([]writer, len(items))
	for i, n := range items {
		writers[i] = n.writer()
	}
	return func(f *frame, dst []byte) ([]byte, bool) {
		dst = append(dst, '[')
		first := true
		for _, write := range writers {
			if !f.writes(dst) {
				break
			}
			before := len(dst)
			if !first {
				dst = append(dst, ',')
			}
			out, ok := write(f, dst)
			if !ok {
				dst = out[:before]
				continue
			}
			dst, first = out, false
		}
		return append(dst, ']'), true
	}
}
