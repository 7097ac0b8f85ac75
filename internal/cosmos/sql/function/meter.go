package function

import "context"

// A Meter counts the work of a query, on rows and on large values alike, so that Context and Stop are checked about
// once per millisecond. It is not safe for concurrent use. The zero value checks nothing.
type Meter struct {
	// Context and Stop are checked if not nil. The first error becomes Err.
	Context context.Context
	Stop    func() error
	// Err, if set, ends the query.
	Err error

	done int // units since the last check
}

// stopUnits is the work between two checks. A unit takes about ten nanoseconds.
const stopUnits = 1 << 16

// BytesPerUnit is how many bytes of a value are read or written in one unit.
const BytesPerUnit = 8

// Spend counts units of work, and reports whether the query may continue.
func (m *Meter) Spend(units int) bool {
	if m.done += units; m.done < stopUnits {
		return m.Err == nil
	}
	return m.Ask()
}

// Ask checks immediately whether the query may continue.
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
