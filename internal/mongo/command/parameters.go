package command

import (
	"math"
	"sync/atomic"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/account"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/expression"
)

// A parameter is a setting of the server that clients can read, and perhaps change.
// https://www.mongodb.com/docs/v7.0/reference/parameters/
type parameter struct {
	value func(s *Server, a *doc.Writer, name string)

	// parse checks a value, and gives the function that sets it; nil if it cannot be changed while the server runs.
	parse   func(r *request, name string, v doc.Value) (set func() error, err error)
	fixed   string // what to do instead, "" for nothing
	startup bool   // it is also an option of MongoDB's command line
}

// parameters are the values that clients can change. They begin with MongoDB's defaults, and end with the server.
type parameters struct {
	batchDeletes atomic.Bool
	requireAPI   atomic.Bool
	quiet        atomic.Bool
	verbosity    logLevels
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
var numberedParameters = [...]struct{ initial, low int32 }{
	sleepSecs:                       {60, 1},
	subPassTargetSecs:               {60, 0},
	deleteTargetDocs:                {50_000, 0},
	deleteTargetTimeMS:              {1000, 0},
	transactionLifetimeLimitSeconds: {60, 1},
}

func (p *parameters) init() {
	p.batchDeletes.Store(true)
	p.verbosity.init()
	for i, x := range numberedParameters {
		p.numbers[i].Store(x.initial)
	}
}

// number is the value of one of numberedParameters.
func (p *parameters) number(i int) int64 { return int64(p.numbers[i].Load()) }

// parameterTable has every parameter by its name, which is case-sensitive.
var parameterTable = map[string]parameter{
	"quiet": {
		startup: true,
		value:   func(s *Server, a *doc.Writer, name string) { a.Bool(name, s.parameters.quiet.Load()) },
		parse: switched(func(r *request, on bool) error {
			r.s.parameters.quiet.Store(on)
			return nil
		}),
	},
	"logLevel": {
		startup: true,
		value:   func(s *Server, a *doc.Writer, name string) { a.Int32(name, s.parameters.verbosity.get("")) },
		parse:   parseLogLevel,
	},
	"logComponentVerbosity": {
		startup: true,
		value:   func(s *Server, a *doc.Writer, name string) { writeVerbosity(a, name, &s.parameters.verbosity) },
		parse:   parseVerbosity,
	},
	"ttlMonitorEnabled": {
		startup: true,
		value:   func(s *Server, a *doc.Writer, name string) { a.Bool(name, s.o.Catalog.DatesOn()) },
		parse:   switched(func(r *request, on bool) error { return r.s.o.Catalog.SetDates(r.Context, r.Now, on) }),
	},
	"ttlMonitorBatchDeletes": {
		startup: true,
		value:   func(s *Server, a *doc.Writer, name string) { a.Bool(name, s.parameters.batchDeletes.Load()) },
		parse: switched(func(r *request, on bool) error {
			r.s.parameters.batchDeletes.Store(on)
			return nil
		}),
	},
	"featureCompatibilityVersion": {
		value: func(_ *Server, a *doc.Writer, name string) {
			a.Object(name)
			a.String("version", "7.0")
			a.Close()
		},
		fixed: "use the setFeatureCompatibilityVersion command instead",
	},
	"authenticationMechanisms": {
		startup: true,
		value: func(_ *Server, a *doc.Writer, name string) {
			a.Strings(name, account.MechanismNames(account.Mechanisms))
		},
	},
	"enableTestCommands": {
		startup: true,
		value:   func(s *Server, a *doc.Writer, name string) { a.Bool(name, s.o.TestCommands) },
	},
	"requireApiVersion": {
		startup: true,
		value:   func(s *Server, a *doc.Writer, name string) { a.Bool(name, s.parameters.requireAPI.Load()) },
		parse: switched(func(r *request, on bool) error {
			r.s.parameters.requireAPI.Store(on)
			return nil
		}),
	},
	"ttlMonitorSleepSecs":             numbered(sleepSecs),
	"ttlMonitorSubPassTargetSecs":     numbered(subPassTargetSecs),
	"ttlIndexDeleteTargetDocs":        numbered(deleteTargetDocs),
	"ttlIndexDeleteTargetTimeMS":      numbered(deleteTargetTimeMS),
	"transactionLifetimeLimitSeconds": numbered(transactionLifetimeLimitSeconds),
}

// switched gives the parse of a parameter that is on or off. As in MongoDB, a value of any type is one of the two.
// mongodb/mongo: src/mongo/bson/bsonelement.cpp, coerce(bool*)
func switched(set func(r *request, on bool) error) func(*request, string, doc.Value) (func() error, error) {
	return func(r *request, _ string, v doc.Value) (func() error, error) {
		on := expression.Truthy(v)
		return func() error { return set(r, on) }, nil
	}
}

// numbered makes the parameter of one of numberedParameters.
func numbered(i int) parameter {
	return parameter{
		startup: true,
		value:   func(s *Server, a *doc.Writer, name string) { a.Int32(name, int(s.parameters.number(i))) },
		parse: func(r *request, name string, v doc.Value) (func() error, error) {
			n, err := coerced(name, v)
			if err != nil {
				return nil, err
			}
			if err := checkNumber(i, name, n); err != nil {
				return nil, err
			}
			return func() error {
				r.s.parameters.numbers[i].Store(int32(n))
				if i == sleepSecs {
					r.s.monitor.pass(r.Context, r.Now)
				}
				return nil
			}, nil
		},
	}
}

// checkNumber refuses values below the least one that a parameter may have.
func checkNumber(i int, name string, n int64) error {
	low := int64(numberedParameters[i].low)
	switch {
	case n >= low:
		return nil
	case i == sleepSecs: // MongoDB states this bound in another way
		return code.New(code.BadValue, "Invalid value for parameter %s: %d is not greater than 0", name, n)
	}
	return code.New(code.BadValue,
		"Invalid value for parameter %s: %d is not greater than or equal to %d", name, n, low)
}

// coerced reads the integer that a parameter is set to.
// mongodb/mongo: src/mongo/bson/bsonelement.h, tryCoerce; src/mongo/idl/idl_server_parameter_with_storage.h
func coerced(name string, v doc.Value) (int64, error) {
	n, ok := wholeOf(v)
	f, _ := doc.AsFloat(v)
	if on, isBool := doc.AsBool(v); isBool {
		n, ok = 0, true
		if on {
			n = 1
		}
	}
	why := ""
	switch {
	case !ok:
		why = "Unable to coerce value to integral type"
	case math.IsNaN(f) || math.IsInf(f, 0):
		why = "Unable to coerce NaN/Inf to integral type"
	case n > math.MaxInt32 || n < math.MinInt32:
		why = "Out of bounds coercing to integral value"
	default:
		return n, nil
	}
	return 0, code.New(code.BadValue, "Failed validating %s: %s", name, why)
}
