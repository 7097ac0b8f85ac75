package parameter

import (
	"math"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/account"
	"github.com/mayflydb/mayfly/internal/mongo/call"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/expression"
)

// A parser checks a value, and gives the function that sets it.
type parser func(p *Parameters, r *call.Request, name string, v doc.Value) (set func() error, err error)

// A parameter is a setting of the server that clients can read, and perhaps change.
// https://www.mongodb.com/docs/v7.0/reference/parameters/
type parameter struct {
	value func(p *Parameters, a *doc.Writer, name string)

	// parse checks a value, and gives the function that sets it; nil if it cannot be changed while the server runs.
	parse   parser
	fixed   string // what to do instead, "" for nothing
	startup bool   // it is also an option of MongoDB's command line
}

// The parameters that are whole numbers.
const (
	TTLSleepSeconds = iota
	TTLSubPassSeconds
	deleteTargetDocs
	deleteTargetTimeMS
	TransactionSeconds
)

// numberedParameters have MongoDB's defaults and bounds.
var numberedParameters = [...]struct{ initial, low int32 }{
	TTLSleepSeconds:    {60, 1},
	TTLSubPassSeconds:  {60, 0},
	deleteTargetDocs:   {50_000, 0},
	deleteTargetTimeMS: {1000, 0},
	TransactionSeconds: {60, 1},
}

// table has every parameter by its name, which is case-sensitive.
var table = map[string]parameter{
	"quiet": {
		startup: true,
		value:   func(p *Parameters, a *doc.Writer, name string) { a.Bool(name, p.quiet.Load()) },
		parse: switched(func(p *Parameters, r *call.Request, on bool) error {
			p.quiet.Store(on)
			return nil
		}),
	},
	"logLevel": {
		startup: true,
		value:   func(p *Parameters, a *doc.Writer, name string) { a.Int32(name, p.verbosity.get("")) },
		parse:   parseLogLevel,
	},
	"logComponentVerbosity": {
		startup: true,
		value:   func(p *Parameters, a *doc.Writer, name string) { writeVerbosity(a, name, &p.verbosity) },
		parse:   parseVerbosity,
	},
	"ttlMonitorEnabled": {
		startup: true,
		value:   func(p *Parameters, a *doc.Writer, name string) { a.Bool(name, p.node.Catalog.DatesOn()) },
		parse: switched(func(p *Parameters, r *call.Request, on bool) error {
			return r.Node.Catalog.SetDates(r.Context, r.Now, on)
		}),
	},
	"ttlMonitorBatchDeletes": {
		startup: true,
		value:   func(p *Parameters, a *doc.Writer, name string) { a.Bool(name, p.batchDeletes.Load()) },
		parse: switched(func(p *Parameters, r *call.Request, on bool) error {
			p.batchDeletes.Store(on)
			return nil
		}),
	},
	"featureCompatibilityVersion": {
		value: func(_ *Parameters, a *doc.Writer, name string) {
			a.Object(name)
			a.String("version", "7.0")
			a.Close()
		},
		fixed: "use the setFeatureCompatibilityVersion command instead",
	},
	"authenticationMechanisms": {
		startup: true,
		value: func(_ *Parameters, a *doc.Writer, name string) {
			a.Strings(name, account.MechanismNames(account.Mechanisms))
		},
	},
	"enableTestCommands": {
		startup: true,
		value:   func(p *Parameters, a *doc.Writer, name string) { a.Bool(name, p.testCommands) },
	},
	"requireApiVersion": {
		startup: true,
		value:   func(p *Parameters, a *doc.Writer, name string) { a.Bool(name, p.requireAPI.Load()) },
		parse: switched(func(p *Parameters, r *call.Request, on bool) error {
			p.requireAPI.Store(on)
			return nil
		}),
	},
	"ttlMonitorSleepSecs":             numbered(TTLSleepSeconds),
	"ttlMonitorSubPassTargetSecs":     numbered(TTLSubPassSeconds),
	"ttlIndexDeleteTargetDocs":        numbered(deleteTargetDocs),
	"ttlIndexDeleteTargetTimeMS":      numbered(deleteTargetTimeMS),
	"transactionLifetimeLimitSeconds": numbered(TransactionSeconds),
}

// switched gives the parse of a parameter that is on or off. As in MongoDB, a value of any type is one of the two.
// mongodb/mongo: src/mongo/bson/bsonelement.cpp, coerce(bool*)
func switched(set func(p *Parameters, r *call.Request, on bool) error) parser {
	return func(p *Parameters, r *call.Request, _ string, v doc.Value) (func() error, error) {
		on := expression.Truthy(v)
		return func() error { return set(p, r, on) }, nil
	}
}

// numbered makes the parameter of one of numberedParameters.
func numbered(i int) parameter {
	return parameter{
		startup: true,
		value:   func(p *Parameters, a *doc.Writer, name string) { a.Int32(name, int(p.Number(i))) },
		parse: func(p *Parameters, r *call.Request, name string, v doc.Value) (func() error, error) {
			n, err := coerced(name, v)
			if err != nil {
				return nil, err
			}
			if err := checkNumber(i, name, n); err != nil {
				return nil, err
			}
			return func() error {
				p.numbers[i].Store(int32(n))
				if i == TTLSleepSeconds {
					p.wakeTTL(r.Context, r.Now)
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
	case i == TTLSleepSeconds: // MongoDB states this bound in another way
		return code.New(code.BadValue, "Invalid value for parameter %s: %d is not greater than 0", name, n)
	}
	return code.New(code.BadValue,
		"Invalid value for parameter %s: %d is not greater than or equal to %d", name, n, low)
}

// coerced reads the integer that a parameter is set to.
// mongodb/mongo: src/mongo/bson/bsonelement.h, tryCoerce; src/mongo/idl/idl_server_parameter_with_storage.h
func coerced(name string, v doc.Value) (int64, error) {
	n, ok := call.WholeOf(v)
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
