package function

import "context"

// A Meter counts the work of a query, on rows and on large values alike, so that what may end it is
// asked about once in a millisecond. It is used by one goroutine. The zero value asks nobody.
type Meter struct {
	// Context and Stop, when not nil, are asked. The first error is Err.
	Context context.Context
	Stop    func() error
	// Err, once set, ends the query.
	Err error

	done int // units since somebody was asked
}

// stopUnits is how much work goes by between two questions: a unit takes about ten nanoseconds.
const stopUnits = 1 << 16

// BytesPerUnit is how many bytes of a value are read, or written, in the time of a unit.
const BytesPerUnit = 8

// Spend counts so many units of work, and reports whether the query may go on.
func (m *Meter) Spend(units int) bool {
	if m.done += units; m.done < stopUnits {
		return m.Err == nil
	}
	return m.Ask()
}

// Ask asks at once whether the query may go on.
func (m *Meter) Ask() bool {
	m.done = 0
	if m.Err == nil && m.Context != nil {
		m.Err = m.Context.Err()
	}
	if m.Err == nil && m.Stop != nil {
		m.Err = m.Stop()
	}
	return m.Err == nil
}
