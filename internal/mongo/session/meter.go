package session

import (
	"math/rand/v2"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/expression"
	"github.com/mayflydb/mayfly/internal/mongo/work"
)

// Random gives numbers from 0 up to 1.
func Random() float64 { return rand.Float64() }

// Scope is for expressions of the operation.
func (o *Operation) Scope(names *expression.Names, vars []doc.Value) *expression.Scope {
	s := &expression.Scope{Now: o.At, ClusterTime: o.ClusterTime(), Random: Random, Meter: o.Work()}
	n := len(vars)
	if names != nil {
		n = max(n, names.Slots())
	}
	s.Vars = make([]doc.Value, n)
	copy(s.Vars, vars)
	return s
}

// Stopped is asked about once in a millisecond of work. It fails when the operation's time is up, and waits where
// large operations take turns.
func (o *Operation) Stopped() error {
	o.Host.Watch()
	ctx := o.Context
	if o.Transaction != nil {
		ctx = o.Transaction.Context // of the operation that runs, which may be a later one
	}
	if ctx == nil {
		return nil
	}
	if ctx.Err() != nil {
		return Translate(ctx.Err())
	}
	if o.Done { // it is asked for a later operation, which has another share
		return nil
	}
	return o.Memory.Share.Yield(ctx)
}

// Pass is asked for every document of a walk, of so many bytes.
func (o *Operation) Pass(bytes int) error {
	l := o.Memory
	if l.passed += bytes + passCost; l.passed < passQuantum {
		if o.Context == nil || o.Context.Err() == nil {
			return nil
		}
	}
	l.passed = 0
	return o.Stopped()
}

// Work of about a millisecond, in what the documents of a walk cost.
const (
	passCost    = 256 // of a document, in addition to its bytes
	passQuantum = 64 << 10
)

// Work is the meter of what the operation costs: of its expressions, filters, updates and stages, while they are
// compiled and while they run. It asks whether the operation has to stop.
func (o *Operation) Work() *work.Meter {
	if o.meter.Stop == nil {
		if o.meter.Stop, o.meter.Hold = o.Stop, o.Hold; o.Stop == nil {
			o.meter.Stop = o.Stopped
		}
	}
	return &o.meter
}
