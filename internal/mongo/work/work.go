// Package work counts the work of a MongoDB command, so that a command can be stopped at any point: by maxTimeMS,
// killOp, a closed connection or a shutdown. Code that works on what a client has sent spends units of a Meter for
// bytes, elements and comparisons. About once per millisecond of work the Meter calls Stop, whose error ends the
// command. The package never reads a clock.
package work

import (
	"github.com/mayflydb/mayfly/internal/doc"
)

// A unit is about ten nanoseconds of work.
const (
	quantum = 1 << 16 // units between two calls of Stop: somewhat less than a millisecond

	// Element is what a step from one element of an array, or one member of an object, to the next costs.
	Element = 2
	// Operator is what the call of an operator or of a condition costs.
	Operator = 4
)

// Scanned is what it costs to look at n bytes one by one.
func Scanned(n int) int { return n >> 3 }

// Copied is what it costs to copy n bytes, or to compare them with others.
func Copied(n int) int { return n >> 5 }

// A Meter counts the work of one command. It belongs to one goroutine. A nil Meter counts nothing and never
// stops anything. The zero Meter is ready for use.
type Meter struct {
	// Stop, if not nil, is called about once per millisecond of work. It may block for a short time, so do not spend
	// while you hold a lock. After it has returned an error, every Spend returns that error.
	Stop func() error

	// Hold, if not nil, is called when values under construction keep n more bytes, or -n fewer. It is called for
	// changes of 64 KiB or more. Its owner takes back what is still held when the command ends.
	Hold func(n int64) error

	spent int
	err   error // of Stop
	kept  int64 // the sum of what Hold was told
}

// Limited is a meter that first calls stop when that many units are spent.
func Limited(units int, stop func() error) *Meter { return &Meter{Stop: stop, spent: quantum - units} }

// Spend counts units of work that is done or about to be done. Its errors are those of Stop.
func (m *Meter) Spend(units int) error {
	if m == nil {
		return nil
	}
	if m.spent += units; m.spent < quantum {
		return nil
	}
	return m.ask()
}

func (m *Meter) ask() error {
	if m.err == nil && m.Stop != nil {
		m.err = m.Stop()
	}
	m.spent = 0
	if m.err != nil {
		m.spent = quantum
	}
	return m.err
}

// Ask calls Stop at once, before work whose cost is not known.
func (m *Meter) Ask() error {
	if m == nil {
		return nil
	}
	return m.ask()
}

// Err is the error of Stop that has ended the work, or nil. Compare and Equal cannot return an error, so check Err
// after a sort or a search that uses them.
func (m *Meter) Err() error {
	if m == nil {
		return nil
	}
	return m.err
}

// Kept tells Hold that n more bytes are kept. Its errors are those of Hold.
func (m *Meter) Kept(n int64) error {
	if m == nil || m.Hold == nil {
		return nil
	}
	err := m.Hold(n)
	if err == nil {
		m.kept += n
	}
	return err
}

// Mark returns how many bytes are kept now, for Release.
func (m *Meter) Mark() int64 {
	if m == nil {
		return 0
	}
	return m.kept
}

// Release tells Hold that what was kept since the mark is no longer in use: the scopes that have kept it are gone.
func (m *Meter) Release(mark int64) {
	if m != nil && m.kept > mark {
		_ = m.Kept(mark - m.kept)
	}
}

// largeValue is the size in bytes from which values are compared in steps, as one comparison takes long.
const largeValue = 4 << 10

// Compare is doc.CompareBSON. Once the work has to stop, it returns 0 for all values, so that a sort ends soon.
func (m *Meter) Compare(a, b doc.Value) int {
	n := min(len(a.Data), len(b.Data))
	if n >= largeValue {
		return m.compareLarge(a, b)
	}
	if m.Spend(Operator+Scanned(n)) != nil {
		return 0
	}
	return doc.CompareBSON(a, b)
}

func (m *Meter) compareLarge(a, b doc.Value) int {
	order, err := doc.CompareSteps(a, b, func(walked int) error { return m.Spend(2 * Scanned(walked)) })
	if err != nil {
		return 0
	}
	return order
}

// Equal reports whether Compare gives 0.
func (m *Meter) Equal(a, b doc.Value) bool {
	if a.Type == b.Type && len(a.Data) == len(b.Data) {
		if m.Spend(Operator+Copied(len(a.Data))) != nil {
			return true
		}
		if string(a.Data) == string(b.Data) {
			return true
		}
	}
	return m.Compare(a, b) == 0
}

// Lookup is doc.Lookup.
func (m *Meter) Lookup(d doc.Doc, name string) (doc.Value, error) {
	v, walked := doc.LookupWalked(d, name)
	return v, m.Spend(Element + Scanned(walked))
}
