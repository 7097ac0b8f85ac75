package command

import (
	"math"
	"sync/atomic"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
)

// A parameter is a setting of the server that clients see and perhaps change.
// https://www.mongodb.com/docs/v7.0/reference/parameters/
type parameter struct {
	value func(s *Server, a *answer, name string)

	// parse checks a value and gives what sets it; nil when it cannot be changed while the server runs.
	parse func(r *request, name string, v doc.Value) (set func() error, err error)
	fixed string // what to do instead, when there is something
}

// parameters are the values that clients change. They are those of MongoDB until then, and do not outlive the server.
type parameters struct {
	batchDeletes atomic.Bool
	requireAPI   atomic.Bool
	numbers      [len(numberedParameters)]atomic.Int32
}

// The parameters that are whole numbers.
const (
	sleepSecs = iota
	subPassTargetSecs
	deleteTargetDocs
	deleteTargetTimeMS
	transactionLifetimeLimitSeconds
)

// numberedParameters have MongoDB's defaults and bounds.
var numberedParameters = [...]struct {
	name         string
	initial, low int32
}{
	sleepSecs:                       {"ttlMonitorSleepSecs", 60, 1},
	subPassTargetSecs:               {"ttlMonitorSubPassTargetSecs", 60, 0},
	deleteTargetDocs:                {"ttlIndexDeleteTargetDocs", 50_000, 0},
	deleteTargetTimeMS:              {"ttlIndexDeleteTargetTimeMS", 1000, 0},
	transactionLifetimeLimitSeconds: {"transactionLifetimeLimitSeconds", 60, 1},
}

func (p *parameters) init() {
	p.batchDeletes.Store(true)
	for i, x := range numberedParameters {
		p.numbers[i].Store(x.initial)
	}
}

// number is the value of one of numberedParameters.
func (p *parameters) number(i int) int64 { return int64(p.numbers[i].Load()) }

// parameterTable has every parameter by its name, which is case-sensitive.
var parameterTable = map[string]parameter{
	"ttlMonitorEnabled": {
		value: func(s *Server, a *answer, name string) { a.bool(name, s.o.Catalog.DatesOn()) },
		parse: switched(func(r *request, on bool) error { return r.s.o.Catalog.SetDates(r.ctx, r.now, on) }),
	},
	"ttlMonitorBatchDeletes": {
		value: func(s *Server, a *answer, name string) { a.bool(name, s.parameters.batchDeletes.Load()) },
		parse: switched(func(r *request, on bool) error {
			r.s.parameters.batchDeletes.Store(on)
			return nil
		}),
	},
	"featureCompatibilityVersion": {
		value: func(_ *Server, a *answer, name string) {
			a.object(name)
			a.string("version", "7.0")
			a.close()
		},
		fixed: "use the setFeatureCompatibilityVersion command instead",
	},
	"authenticationMechanisms": {
		value: func(_ *Server, a *answer, name string) { a.strings(name, mechanismNames()) },
	},
	"enableTestCommands": {value: func(s *Server, a *answer, name string) { a.bool(name, s.o.TestCommands) }},
	"requireApiVersion": {
		value: func(s *Server, a *answer, name string) { a.bool(name, s.parameters.requireAPI.Load()) },
		parse: switched(func(r *request, on bool) error {
			r.s.parameters.requireAPI.Store(on)
			return nil
		}),
	},
}

func init() {
	for i, x := range numberedParameters {
		parameterTable[x.name] = parameter{
			value: func(s *Server, a *answer, name string) { a.int32(name, int(s.parameters.number(i))) },
			parse: numbered(i),
		}
	}
}

// switched makes the parse of a parameter that is on or off.
func switched(set func(r *request, on bool) error) func(*request, string, doc.Value) (func() error, error) {
	return func(r *request, _ string, v doc.Value) (func() error, error) {
		on, ok := truth(v)
		if !ok {
			return nil, code.New(code.BadValue, "Can't coerce value")
		}
		return func() error { return set(r, on) }, nil
	}
}

// numbered makes the parse of one of numberedParameters.
func numbered(i int) func(*request, string, doc.Value) (func() error, error) {
	return func(r *request, name string, v doc.Value) (func() error, error) {
		low := int64(numberedParameters[i].low)
		n, ok := wholeOf(v)
		switch {
		case !ok || n > math.MaxInt32 || n < math.MinInt32:
			return nil, code.New(code.BadValue, "Can't coerce value")
		case n < low && low == 1 && i == sleepSecs:
			return nil, code.New(code.BadValue, "Invalid value for parameter %s: %d is not greater than 0", name, n)
		case n < low:
			return nil, code.New(code.BadValue, "Invalid value for parameter %s: %d is not greater than or equal to %d", name, n, low)
		}
		return func() error {
			r.s.parameters.numbers[i].Store(int32(n))
			if i == sleepSecs {
				r.s.monitor.pass(r.ctx, r.now)
			}
			return nil
		}, nil
	}
}
