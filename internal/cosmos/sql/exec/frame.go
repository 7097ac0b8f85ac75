package exec

import (
	"bytes"
	"encoding/binary"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/cosmos/sql/function"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/fault"
)

// An eval computes an expression for the row that a frame holds.
type eval func(*frame) doc.Value

// A frame is what expressions see: one document, and one row made of it.
type frame struct {
	meter  *function.Meter // of the query
	source Source
	d      *access.Document
	slots  []doc.Value // of aliases, and of results of aggregates
	mem    arena       // of values that the next row makes anew
	kept   arena       // of rows that subqueries keep behind their loops
	err    error       // ends the query

	steps int  // rows that loops in the current document have made
	heap  int  // bytes that groups of the subqueries at work keep
	made  int  // bytes of the objects and arrays that are being made
	large bool // to look a member up in the document is work
	start int  // where the row begins that is being written

	system, whole         doc.Doc // of d, once made
	systemSpace, allSpace []byte
}

const (
	maxSteps = 20_000_000 // rows of joins and subqueries for one document
	piece    = 4 << 10    // bytes of a large value
)

// Units of work, see function.Meter. What a row computes comes on top: a unit for each part of its expressions.
const (
	documentUnits = 1 << 10 // to read a document
	rowUnits      = 8       // of a join or a subquery
	sortUnits     = 4       // to compare two keys
)

// begin moves the frame to the next document, nil for none.
func (f *frame) begin(d *access.Document) {
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

// step counts n rows in the current document, and reports whether the query may go on.
func (f *frame) step(n int) bool {
	if f.steps += n; f.steps > maxSteps {
		f.fail(errWork)
	}
	return f.work(n * rowUnits)
}

// work counts units of work, and reports whether the query may go on.
func (f *frame) work(units int) bool {
	if !f.meter.Spend(units) {
		f.fail(f.meter.Err)
	}
	return f.err == nil
}

// spend counts the work on a value of n bytes, and reports whether the query may go on.
func (f *frame) spend(n int) bool { return f.work(1 + n/function.BytesPerUnit) }

// spendBoth counts the work of comparing two values.
func (f *frame) spendBoth(a, b doc.Value) bool { return f.spend(min(len(a.Data), len(b.Data))) }

// compareKeys is bytes.Compare as long as the query may go on, so that sorts end.
func (f *frame) compareKeys(a, b []byte) int {
	if !f.work(sortUnits + min(len(a), len(b))/(4*function.BytesPerUnit)) {
		return 0
	}
	return bytes.Compare(a, b)
}

var (
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
