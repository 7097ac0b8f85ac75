package command

import (
	"github.com/mayflydb/mayfly/internal/budget"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/call"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/session"
	"github.com/mayflydb/mayfly/internal/mongo/wire"
)

// An answer is the document that a command answers with, written straight into the
// connection's buffer.
type answer struct {
	doc.Writer

	grown  bool            // Buf is the answer's, not the connection's
	memory *session.Memory // of the client that it goes to; nil for a document that goes nowhere
}

func newAnswer(dst []byte) *answer {
	a := &answer{}
	a.Begin(dst)
	return a
}

const (
	freeAnswer  = budget.FreeBytes // answers up to this size ask for no memory
	smallAnswer = 8 << 10          // and up to this one they grow by themselves
)

// Room makes room for n bytes more, for which it may wait.
func (a *answer) Room(n int) error {
	if !a.mustGrow(n) {
		return nil
	}
	size := a.grownSize(n)
	if err := a.memory.Take(int64(size)); err != nil {
		return session.MemoryError(err)
	}
	a.grow(size)
	return nil
}

// TryRoom is Room that never waits.
func (a *answer) TryRoom(n int) bool {
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
	n += len(a.Buf)
	return n > cap(a.Buf) && n > smallAnswer && a.memory != nil
}

// grownSize is how large the buffer becomes that n bytes more do not fit into.
func (a *answer) grownSize(n int) int {
	return wire.Size(max(len(a.Buf)+n, min(4*cap(a.Buf), session.MaxBatchBytes), smallAnswer+1))
}

// grow puts the answer into a buffer that is held already, in place of the old one.
func (a *answer) grow(size int) {
	old := a.Buf
	if a.Buf = wire.Grown(old, size); a.grown { // else it is the connection's
		wire.Spare(old)
	}
	a.grown = true
	a.memory.Sent()
	a.memory.Unsent = int64(size)
}

// settle counts what the answer has become without asking.
func (a *answer) settle() {
	if n := int64(cap(a.Buf)) - a.memory.Unsent; n > 0 && cap(a.Buf) > freeAnswer {
		a.memory.Share.Add(n)
		a.memory.Unsent += n
	}
}

// unknown answers that a write may or may not have happened, in place of what was written. That is what an error of the
// write concern says to a driver: what follows is not known to be there, and no error of a statement says that it is
// not.
func (a *answer) unknown(r *request, e *code.Error) {
	a.Clear()
	switch r.Name {
	case "insert", "delete":
		a.Int32("n", 0)
	case "update":
		a.Int32("n", 0)
		a.Int32("nModified", 0)
	case "findAndModify":
		a.Object("lastErrorObject")
		a.Int32("n", 0)
		a.Bool("updatedExisting", false)
		a.Close()
		a.Null("value")
	}
	a.Object("writeConcernError")
	a.Int32("code", int(e.Code))
	a.String("codeName", e.Code.Name())
	a.String("errmsg", e.Message)
	a.Close()
	call.WriteLabels(&a.Writer, e.Labels)
}

// fail writes an error in place of what was written.
func (a *answer) fail(err error) {
	a.Clear()
	e := session.CodeOf(err)
	a.Double("ok", 0)
	a.String("errmsg", e.Message)
	a.Int32("code", int(e.Code))
	a.String("codeName", e.Code.Name())
	a.Members(e.Info)
	call.WriteLabels(&a.Writer, e.Labels)
}
