package command

import (
	"errors"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/budget"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/wire"
)

// An answer is the document that a command answers with, written straight into
// the connection's buffer.
type answer struct {
	buf   []byte
	start int   // where the document begins in buf
	open  []int // where the documents and arrays begin that are not over
	next  []int // the index of the next element, for arrays; -1 for documents

	grown  bool    // buf is the answer's, not the connection's
	memory *ledger // of the client that it goes to; nil for a document that goes nowhere

	openRoom, nextRoom [4]int // where open and next begin
}

func newAnswer(dst []byte) *answer {
	a := &answer{buf: dst, start: len(dst)}
	a.open, a.next = a.openRoom[:0], a.nextRoom[:0]
	a.buf = append(a.buf, 0, 0, 0, 0)
	return a
}

const (
	freeAnswer  = budget.FreeBytes // answers up to this size ask for no memory
	smallAnswer = 8 << 10          // and up to this one they grow by themselves
)

// makeRoom makes room for n bytes more, for which it may wait.
func (a *answer) makeRoom(n int) error {
	if !a.mustGrow(n) {
		return nil
	}
	size := a.grownSize(n)
	if err := a.memory.Take(int64(size)); err != nil {
		return memoryErr(err)
	}
	a.grow(size)
	return nil
}

// tryRoom is makeRoom that never waits.
func (a *answer) tryRoom(n int) bool {
	if !a.mustGrow(n) {
		return true
	}
	size := a.grownSize(n)
	if !a.memory.TryTake(int64(size)) {
		return false
	}
	a.grow(size)
	return true
}

func (a *answer) mustGrow(n int) bool {
	n += len(a.buf)
	return n > cap(a.buf) && n > smallAnswer && a.memory != nil
}

// grownSize is how large the buffer becomes that n bytes more do not fit into.
func (a *answer) grownSize(n int) int {
	return wire.Size(max(len(a.buf)+n, min(4*cap(a.buf), maxBatchBytes), smallAnswer+1))
}

// grow puts the answer into a buffer that is held already, in place of the old one.
func (a *answer) grow(size int) {
	old := a.buf
	if a.buf = wire.Grown(old, size); a.grown { // else it is the connection's
		wire.Spare(old)
	}
	a.grown = true
	a.memory.sent()
	a.memory.unsent = int64(size)
}

// settle counts what the answer has become without asking.
func (a *answer) settle() {
	if n := int64(cap(a.buf)) - a.memory.unsent; n > 0 && cap(a.buf) > freeAnswer {
		a.memory.share.Add(n)
		a.memory.unsent += n
	}
}

// end completes the document, and gives the buffer.
func (a *answer) end() []byte {
	a.buf = append(a.buf, 0)
	setLength(a.buf, a.start)
	return a.buf
}

func setLength(b []byte, start int) {
	n := uint32(len(b) - start)
	b[start], b[start+1], b[start+2], b[start+3] = byte(n), byte(n>>8), byte(n>>16), byte(n>>24)
}

// size is how many bytes the document has so far.
func (a *answer) size() int { return len(a.buf) - a.start }

// empty forgets all that was written.
func (a *answer) empty() {
	a.buf, a.open, a.next = append(a.buf[:a.start], 0, 0, 0, 0), a.open[:0], a.next[:0]
}

func (a *answer) int32(name string, v int) {
	a.buf = bsoncore.AppendInt32Element(a.buf, name, int32(v))
}
func (a *answer) int64(name string, v int64)    { a.buf = bsoncore.AppendInt64Element(a.buf, name, v) }
func (a *answer) double(name string, v float64) { a.buf = bsoncore.AppendDoubleElement(a.buf, name, v) }
func (a *answer) bool(name string, v bool)      { a.buf = bsoncore.AppendBooleanElement(a.buf, name, v) }
func (a *answer) string(name, v string)         { a.buf = bsoncore.AppendStringElement(a.buf, name, v) }
func (a *answer) date(name string, ms int64)    { a.buf = bsoncore.AppendDateTimeElement(a.buf, name, ms) }
func (a *answer) null(name string)              { a.buf = bsoncore.AppendNullElement(a.buf, name) }
func (a *answer) doc(name string, d doc.Doc) {
	a.buf = bsoncore.AppendDocumentElement(a.buf, name, bsoncore.Document(d))
}

// value writes any value; a missing one is left out.
func (a *answer) value(name string, v doc.Value) {
	if v.Type != 0 {
		a.buf = doc.AppendElement(a.buf, name, v)
	}
}

// members writes all members of a document.
func (a *answer) members(d doc.Doc) {
	if len(d) > 5 {
		a.buf = append(a.buf, d[4:len(d)-1]...)
	}
}

// object begins a document; close ends it.
func (a *answer) object(name string) {
	a.buf = bsoncore.AppendHeader(a.buf, bsoncore.TypeEmbeddedDocument, name)
	a.begin(-1)
}

// array begins an array; close ends it.
func (a *answer) array(name string) {
	a.buf = bsoncore.AppendHeader(a.buf, bsoncore.TypeArray, name)
	a.begin(0)
}

func (a *answer) begin(next int) {
	a.open, a.next = append(a.open, len(a.buf)), append(a.next, next)
	a.buf = append(a.buf, 0, 0, 0, 0)
}

func (a *answer) close() {
	last := len(a.open) - 1
	a.buf = append(a.buf, 0)
	setLength(a.buf, a.open[last])
	a.open, a.next = a.open[:last], a.next[:last]
}

// index is the name of the next element of the array that is open.
func (a *answer) index() string {
	n := a.next[len(a.next)-1]
	a.next[len(a.next)-1]++
	return indexName(n)
}

// element writes the next element of the array that is open.
func (a *answer) element(d doc.Doc) {
	n := a.next[len(a.next)-1]
	a.next[len(a.next)-1]++
	a.buf = append(a.buf, byte(bsoncore.TypeEmbeddedDocument))
	a.buf = append(appendIndex(a.buf, n), 0)
	a.buf = append(a.buf, d...)
}

// fail writes an error in place of what was written.
func (a *answer) fail(err error) {
	a.empty()
	e := codeOf(err)
	a.double("ok", 0)
	a.string("errmsg", e.Message)
	a.int32("code", int(e.Code))
	a.string("codeName", e.Code.Name())
	a.members(e.Info)
	a.labels(e.Labels)
}

func (a *answer) strings(name string, list []string) {
	a.array(name)
	for _, s := range list {
		a.string(a.index(), s)
	}
	a.close()
}

func (a *answer) labels(labels []string) {
	if len(labels) == 0 {
		return
	}
	a.array("errorLabels")
	for _, label := range labels {
		a.string(a.index(), label)
	}
	a.close()
}

// writeError writes an element of writeErrors.
func (a *answer) writeError(index int, err error) {
	e := codeOf(err)
	a.object(a.index())
	a.int32("index", index)
	a.int32("code", int(e.Code))
	a.string("errmsg", e.Message)
	a.members(e.Info)
	a.close()
}

// codeOf is any error as MongoDB's.
func codeOf(err error) *code.Error {
	if e, ok := errors.AsType[*code.Error](err); ok {
		return e
	}
	return translate(err)
}

func indexName(n int) string { return string(appendIndex(nil, n)) }

func appendIndex(dst []byte, n int) []byte {
	if n >= 10 {
		dst = appendIndex(dst, n/10)
	}
	return append(dst, byte('0'+n%10))
}
