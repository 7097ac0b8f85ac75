package exec

import (
	"context"
	"encoding/binary"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/fault"
)

// An eval computes an expression for the row that a frame holds.
type eval func(*frame) doc.Value

// A frame is what expressions see: one document, and one row made of it.
type frame struct {
	ctx    context.Context
	source Source
	late   func() bool // true ends the query; nil never
	d      *Document
	slots  []doc.Value // of aliases, and of results of aggregates
	mem    arena       // of values that the next row makes anew
	kept   arena       // of rows that subqueries keep behind their loops
	err    error       // ends the query

	steps int  // rows that loops in the current document have made
	work  int  // pieces of large values since the last look at the clock
	heap  int  // bytes that groups of the subqueries at work keep
	made  int  // bytes of the objects and arrays that are being made
	large bool // to look a member up in the document is work
	start int  // where the row begins that is being written

	system, whole         doc.Doc // of d, once made
	systemSpace, allSpace []byte
}

// Limits on the work for one document.
const (
	maxSteps   = 20_000_000 // rows of joins and subqueries
	stepsCheck = 1 << 8     // steps, or pieces of large values, between looks at the clock
	piece      = 4 << 10    // bytes
)

// begin moves the frame to the next document, nil for none.
func (f *frame) begin(d *Document) {
	f.d, f.system, f.whole, f.steps = d, nil, nil, 0
	f.large = d != nil && len(d.Body) >= 8*piece
	f.reset()
}

// reset forgets what the row has computed.
func (f *frame) reset() {
	f.heap, f.made = 0, 0
	f.mem.reset()
	f.kept.reset()
}

// A point is a fill of a frame's memory, to go back to when neither what was
// computed since matters any more, nor rows that subqueries have kept since.
type point struct{ mem, kept mark }

func (f *frame) mark() point { return point{f.mem.mark(), f.kept.mark()} }

func (f *frame) release(p point) {
	f.mem.release(p.mem)
	f.kept.release(p.kept)
}

// fail ends the query.
func (f *frame) fail(err error) doc.Value {
	if f.err == nil {
		f.err = err
	}
	return doc.Value{}
}

// over looks at the clock, and reports that the query has come to its end.
func (f *frame) over() bool {
	f.look()
	return f.err != nil
}

// step counts n units of work in the current document, and reports whether
// the query may go on.
func (f *frame) step(n int) bool {
	before := f.steps
	f.steps += n
	if before/stepsCheck != f.steps/stepsCheck {
		f.look()
	}
	return f.err == nil
}

// spend counts the work on a value of n bytes, and reports whether the query may
// go on. Small values are not worth counting.
func (f *frame) spend(n int) bool { return n < piece || f.spendLarge(n) }

func (f *frame) spendLarge(n int) bool {
	if f.work += n / piece; f.work >= stepsCheck {
		f.work = 0
		f.look()
	}
	return f.err == nil
}

// spendBoth counts the work of comparing two values.
func (f *frame) spendBoth(a, b doc.Value) bool { return f.spend(min(len(a.Data), len(b.Data))) }

// look ends the query if its time or its share of work is up.
func (f *frame) look() {
	if f.ctx != nil && f.ctx.Err() != nil {
		f.fail(f.ctx.Err())
	}
	if f.late != nil && f.late() {
		f.fail(errLate)
	}
	if f.steps > maxSteps {
		f.fail(errWork)
	}
}

var (
	errLate = fault.New(fault.Timeout, "The query took longer than a request may. Select fewer documents, or add an index.")
	errWork = fault.New(fault.TooLarge, "A single document makes the query do too much work. Join fewer arrays, or filter them in subqueries.")
	errRow  = fault.New(fault.TooLarge, "A row of the query computes more than %d MiB.", maxRow>>20)
)

// room reports whether the row may compute n more bytes.
func (f *frame) room(n int) bool {
	if n > maxRow || f.mem.size()+f.kept.size()+f.heap+f.made > maxRow-n {
		f.fail(errRow)
		return false
	}
	return true
}

// body is the document without the members that the service adds.
func (f *frame) body() doc.Doc {
	if f.d == nil {
		return nil
	}
	return f.d.Body
}

// systemMembers are those that the service adds to the document.
func (f *frame) systemMembers() doc.Doc {
	if f.system == nil && f.d != nil && f.source != nil {
		f.systemSpace = f.source.System(f.systemSpace[:0], f.d)
		f.system = f.systemSpace
	}
	return f.system
}

// all is the document with the members that the service adds.
func (f *frame) all() doc.Value {
	if f.whole == nil {
		f.allSpace = join(f.allSpace[:0], f.body(), f.systemMembers())
		f.whole = f.allSpace
	}
	return doc.Object(f.whole)
}

// join appends a document with the members of a, then those of b.
func join(dst []byte, a, b doc.Doc) []byte {
	start := len(dst)
	dst = append(dst, 0, 0, 0, 0)
	if len(a) > 5 {
		dst = append(dst, a[4:len(a)-1]...)
	}
	if len(b) > 5 {
		dst = append(dst, b[4:len(b)-1]...)
	}
	dst = append(dst, 0)
	binary.LittleEndian.PutUint32(dst[start:], uint32(len(dst)-start))
	return dst
}
