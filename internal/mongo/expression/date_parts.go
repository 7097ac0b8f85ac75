package expression

import (
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
)

func millisecond(t time.Time) int { return t.Nanosecond() / 1e6 }

// isoWeekYear is an int64, as MongoDB answers; the other parts are int32.
func isoWeekYear(s *Scope, t time.Time) doc.Value {
	year, _ := t.ISOWeek()
	return s.int64(int64(year))
}

// datePart is an operator that gives a part of a date as an int32.
func datePart(name string, part func(time.Time) int) operator {
	return datePartAs(name, func(s *Scope, t time.Time) doc.Value { return s.int32(int32(part(t))) })
}

// datePartAs takes a date, an array of one date, or {date, timezone}.
func datePartAs(name string, part func(*Scope, time.Time) doc.Value) operator {
	return func(arg doc.Value, names *Names, depth int) (*Expression, error) {
		args, err := datePartArguments(name, arg, names, depth)
		if err != nil {
			return nil, err
		}
		zoned := zoneArgumentOf(args[1])
		return apply(args, func(s *Scope, args []doc.Value) (doc.Value, error) {
			if nullish(args[0]) {
				return null, nil
			}
			ms, err := mustDate(args[0])
			if err != nil {
				return doc.Value{}, err
			}
			z, err := zoned.of(args[1])
			if z == nil {
				return null, err
			}
			return part(s, z.at(ms)), nil
		}), nil
	}
}

// datePartArguments compiles the date and the time zone, nil if none is given.
func datePartArguments(name string, arg doc.Value, names *Names, depth int) ([]*Expression, error) {
	date := arg
	var timezone doc.Value
	switch arg.Type {
	case bsoncore.TypeEmbeddedDocument:
		if operation(arg) {
			break
		}
		date = doc.Value{}
		for member, v := range doc.Members(arg.Data) {
			switch member {
			case "date":
				date = v
			case "timezone":
				timezone = v
			default:
				return nil, code.New(40535, "unrecognized option to %s: \"%s\"", name, member)
			}
		}
		if date.Type == 0 {
			return nil, code.New(40539, "missing 'date' argument to %s, provided: %s: %s", name, name, code.Show(arg))
		}
	case bsoncore.TypeArray:
		n := 0
		for e := range doc.Elements(arg) {
			date = e
			n++
		}
		if n != 1 {
			return nil, code.New(40536, "%s accepts exactly one argument if given an array, but was given %d", name, n)
		}
	}
	args := make([]*Expression, 2)
	var err error
	if args[0], err = compile(date, names, depth); err == nil && timezone.Type != 0 {
		args[1], err = compile(timezone, names, depth)
	}
	return args, err
}

// operation reports whether an object is {$operator: ...}.
func operation(v doc.Value) bool {
	for name := range doc.Members(v.Data) {
		return strings.HasPrefix(name, "$")
	}
	return false
}
