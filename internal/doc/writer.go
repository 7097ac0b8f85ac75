package doc

import (
	"encoding/binary"
	"strconv"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"
)

// A Writer writes a document member by member. Names hold no NUL. It does not check whether a
// name is written twice. A Writer must not be copied.
type Writer struct {
	// Buf holds the document so far, behind the bytes that the Writer began with. Its owner may
	// move it to a larger buffer.
	Buf []byte

	start int   // where the document begins in Buf
	open  []int // where the documents and arrays begin that are not closed
	next  []int // the index of the next element of those that are arrays, -1 for documents

	openRoom, nextRoom [4]int // the first memory of open and next
}

// NewWriter begins a document behind the bytes of dst.
func NewWriter(dst []byte) *Writer {
	w := &Writer{}
	w.Begin(dst)
	return w
}

// Begin begins a document behind the bytes of dst.
func (w *Writer) Begin(dst []byte) {
	w.start = len(dst)
	w.Buf = append(dst, 0, 0, 0, 0)
	w.open, w.next = w.openRoom[:0], w.nextRoom[:0]
}

// End completes the document. It gives Buf, with what was there before the document.
func (w *Writer) End() []byte {
	w.Buf = append(w.Buf, 0)
	setLength(w.Buf, w.start)
	return w.Buf
}

// Start is where the document begins in Buf.
func (w *Writer) Start() int { return w.start }

// Size is how many bytes the document has so far.
func (w *Writer) Size() int { return len(w.Buf) - w.start }

// Clear takes back everything that was written.
func (w *Writer) Clear() { w.Begin(w.Buf[:w.start]) }

// Written is the members so far, as Members takes them. It is valid until the next write.
func (w *Writer) Written() []byte { return w.Buf[w.start+4:] }

// Append writes members that Written gave.
func (w *Writer) Append(members []byte) { w.Buf = append(w.Buf, members...) }

// setLength writes the length of the document that begins at start and ends with b.
func setLength(b []byte, start int) {
	binary.LittleEndian.PutUint32(b[start:], uint32(len(b)-start))
}

// Int32 writes a whole number of 32 bits.
func (w *Writer) Int32(name string, v int) {
	w.Buf = bsoncore.AppendInt32Element(w.Buf, name, int32(v))
}

// Int64 writes a whole number of 64 bits.
func (w *Writer) Int64(name string, v int64) {
	w.Buf = bsoncore.AppendInt64Element(w.Buf, name, v)
}

// PutInt64 replaces the number of a member of this name that Int64 wrote when the document had so many bytes.
func (w *Writer) PutInt64(size int, name string, v int64) {
	binary.LittleEndian.PutUint64(w.Buf[w.start+size+len(name)+2:], uint64(v))
}

// Count writes a whole number in 32 bits if it fits, and in 64 otherwise.
func (w *Writer) Count(name string, n int64) {
	if n == int64(int32(n)) {
		w.Int32(name, int(n))
	} else {
		w.Int64(name, n)
	}
}

// Double writes a number.
func (w *Writer) Double(name string, v float64) {
	w.Buf = bsoncore.AppendDoubleElement(w.Buf, name, v)
}

// Bool writes a truth value.
func (w *Writer) Bool(name string, v bool) {
	w.Buf = bsoncore.AppendBooleanElement(w.Buf, name, v)
}

// String writes text.
func (w *Writer) String(name, v string) {
	w.Buf = bsoncore.AppendStringElement(w.Buf, name, v)
}

// Date writes an instant in milliseconds since 1970.
func (w *Writer) Date(name string, ms int64) {
	w.Buf = bsoncore.AppendDateTimeElement(w.Buf, name, ms)
}

// Timestamp writes a BSON timestamp.
func (w *Writer) Timestamp(name string, seconds, count uint32) {
	w.Buf = bsoncore.AppendTimestampElement(w.Buf, name, seconds, count)
}

// Null writes null.
func (w *Writer) Null(name string) { w.Buf = bsoncore.AppendNullElement(w.Buf, name) }

// Binary writes bytes of a kind. https://bsonspec.org/spec.html
func (w *Writer) Binary(name string, subtype byte, b []byte) {
	w.Buf = bsoncore.AppendBinaryElement(w.Buf, name, subtype, b)
}

// ObjectID writes an ObjectId.
func (w *Writer) ObjectID(name string, id [12]byte) {
	w.Buf = bsoncore.AppendObjectIDElement(w.Buf, name, id)
}

// Doc writes a document.
func (w *Writer) Doc(name string, d Doc) {
	w.Buf = bsoncore.AppendDocumentElement(w.Buf, name, d)
}

// Value writes any value. A missing one is left out.
func (w *Writer) Value(name string, v Value) {
	if v.Type != 0 {
		w.Buf = AppendElement(w.Buf, name, v)
	}
}

// Members writes all members of a document.
func (w *Writer) Members(d Doc) {
	if len(d) > 5 {
		w.Buf = append(w.Buf, d[4:len(d)-1]...)
	}
}

// Strings writes an array of texts.
func (w *Writer) Strings(name string, list []string) {
	w.Array(name)
	for _, s := range list {
		w.String(w.Index(), s)
	}
	w.Close()
}

// Int64s writes an array of whole numbers of 64 bits.
func (w *Writer) Int64s(name string, list []int64) {
	w.Array(name)
	for _, n := range list {
		w.Int64(w.Index(), n)
	}
	w.Close()
}

// Object begins a document. Close ends it.
func (w *Writer) Object(name string) {
	w.Buf = bsoncore.AppendHeader(w.Buf, bsoncore.TypeEmbeddedDocument, name)
	w.begin(-1)
}

// Array begins an array. Close ends it.
func (w *Writer) Array(name string) {
	w.Buf = bsoncore.AppendHeader(w.Buf, bsoncore.TypeArray, name)
	w.begin(0)
}

func (w *Writer) begin(next int) {
	w.open, w.next = append(w.open, len(w.Buf)), append(w.next, next)
	w.Buf = append(w.Buf, 0, 0, 0, 0)
}

// Close ends the document or array that was begun last.
func (w *Writer) Close() {
	last := len(w.open) - 1
	w.Buf = append(w.Buf, 0)
	setLength(w.Buf, w.open[last])
	w.open, w.next = w.open[:last], w.next[:last]
}

// Index is the name of the next element of the array that was begun last.
func (w *Writer) Index() string { return strconv.Itoa(w.count()) }

func (w *Writer) count() int {
	n := &w.next[len(w.next)-1]
	*n++
	return *n - 1
}

// Element writes a document as the next element of the array that was begun last.
func (w *Writer) Element(d Doc) {
	n := w.count()
	w.Buf = append(w.Buf, byte(bsoncore.TypeEmbeddedDocument))
	w.Buf = append(strconv.AppendInt(w.Buf, int64(n), 10), 0)
	w.Buf = append(w.Buf, d...)
}

// Single is the document with one member. It has none if the value is missing.
func Single(name string, v Value) Doc {
	w := NewWriter(nil)
	w.Value(name, v)
	return w.End()
}
