package exec

import (
	"bytes"
	"encoding/binary"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/cosmos/sql/function"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/fault"
)

// An eval computes an expression for the current row of a frame.
type eval func(*frame) doc.Value

// A frame is the data that expressions use: one document, and one row built from it.
type frame struct {
	meter  *function.Meter // of the query
	source Source
	d      *access.Document
	slots  []doc.Value // of aliases, and of results of aggregates
	mem    arena       // of values that the next row makes anew
	kept   arena       // of rows that subqueries keep behind their loops
	err    error       // ends the query

	steps int  // rows that loops in the current document have produced
	heap  int  // bytes of groups in running subqueries
	made  int  // bytes of objects and arrays under construction
	large bool // the document is so large that a lookup in it counts as work
	start int  // where the current row begins in the output

	system, whole         doc.Doc // of d, once computed
	systemSpace, allSpace []byte
}

const (
	maxSteps = 20_000_000 // rows of joins and subqueries for one document
	piece    = 4 << 10    // bytes from which a value is large
)

// Units of work, see function.Meter. Computing a row costs one more unit for each part of its expressions.
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

// reset frees the values of the row.
func (f *frame) reset() {
	f.heap, f.made = 0, 0
	f.mem.reset()
	f.kept.reset()
}

// A point is a state of a frame's memory. release returns to it when neither values computed since then nor rows kept
// since then are needed.
type point struct{ mem, kept mark }

func (f *frame) mark() point { return point{f.mem.mark(), f.kept.mark()} }

func (f *frame) release(p point) {
	f.mem.release(p.mem)
	f.kept.release(p.kept)
}

// fail ends the query with an error.
func (f *frame) fail(err error) doc.Value {
	if f.err == nil {
		f.err = err
	}
	return doc.Value{}
}

// step counts n rows of the current document, and reports whether the query may continue.
func (f *frame) step(n int) bool {
	if f.steps += n; f.steps > maxSteps {
		f.fail(errWork)
	}
	return f.work(n * rowUnits)
}

// work counts units of work, and reports whether the query may continue.
func (f *frame) work(units int) bool {
	if !f.meter.Spend(units) {
		f.fail(f.meter.Err)
	}
	return f.err == nil
}

// spend counts the work on a value of n bytes, and reports whether the query may continue.
func (f *frame) spend(n int) bool { return f.work(1 + n/function.BytesPerUnit) }

// spendBoth counts the work of comparing two values.
func (f *frame) spendBoth(a, b doc.Value) bool { return f.spend(min(len(a.Data), len(b.Data))) }

// compareKeys is bytes.Compare until the query must stop. Then all keys are equal, so that sorting ends.
func (f *frame) compareKeys(a, b []byte) int {
	if !f.work(sortUnits + min(len(a), len(b))/(4*function.BytesPerUnit)) {
		return 0
	}
	return bytes.Compare(a, b)
}

var (
	errWork = fault.New(fault.TooLarge,
		"A single document makes the query do too much work. Join fewer arrays, or filter them in subqueries.")
	errRow = fault.New(fault.TooLarge, "A row of the query computes more than %d MiB.", maxRow>>20)
)

// mayHold reports whether the row may compute n more bytes.
func (f *frame) mayHold(n int) bool {
	if n > maxRow || f.mem.size()+f.kept.size()+f.heap+f.made > maxRow-n {
		f.fail(errRow)
		return false
	}
	return true
}

// body is the document without system properties.
func (f *frame) body() doc.Doc {
	if f.d == nil {
		return nil
	}
	return f.d.Body
}

// systemMembers are the system properties of the document.
func (f *frame) systemMembers() doc.Doc {
	if f.system == nil && f.d != nil && f.source != nil {
		f.systemSpace = f.source.System(f.systemSpace[:0], f.d)
		f.system = f.systemSpace
	}
	return f.system
}

// all is the document including system properties.
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
