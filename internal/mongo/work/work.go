// Package work counts the work of a MongoDB command in what it costs: bytes, elements, comparisons. Whoever works
// on what a client has sent spends units of a Meter, and the Meter asks about once in a millisecond of
// work whether the command has to stop. It never reads a clock.
package work

import (
	"github.com/mayflydb/mayfly/internal/doc"
)

// A unit is about ten nanoseconds of work.
const (
	quantum = 1 << 16 // units between two questions: somewhat less than a millisecond

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
	// Stop, when not nil, is asked about once in a millisecond of work. It may wait for a little while, so nobody
	// spends while holding a lock. Once it has failed, so does every Spend.
	Stop func() error

	// Hold, when not nil, is told how many bytes more are kept for values that are being made, or fewer when n is negative. It is called
	// for changes of 64 KiB and more. What is still held when the command ends is no longer in use.
	Hold func(n int64) error

	spent int
	err   error // of Stop
	kept  int64 // what Hold was told, all in all
}

// Limited is a meter that asks stop for the first time when so many units are spent.
func Limited(units int, stop func() error) *Meter { return &Meter{Stop: stop, spent: quantum - units} }

// Spend counts units of work that is done or about to be done. Errors are those of Stop.
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

// Ask asks Stop at once, before work whose cost is not known.
func (m *Meter) Ask() error {
	if m == nil {
		return nil
	}
	return m.ask()
}

// Err is the error of Stop that has ended the work, nil if there is none. It is for comparisons, which
// cannot fail: after a sort by Compare the caller looks here.
func (m *Meter) Err() error {
	if m == nil {
		return nil
	}
	return m.err
}

// Kept tells Hold that n bytes more are kept. Errors are those of Hold.
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

// Mark is how much is kept now, for Release.
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

// largeValue is a value that takes long enough to compare to be compared in steps.
const largeValue = 4 << 10

// Compare is doc.CompareBSON. Once the work has to stop it gives 0 for everything, so that a sort ends soon.
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
