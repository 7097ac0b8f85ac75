package pipeline

import (
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/expression"
)

// timeUnits are the names of units of time.
var timeUnits = strings.Fields("year quarter month week day hour minute second millisecond")

// unitMilliseconds is the length of each unit that has a constant length.
var unitMilliseconds = map[string]float64{
	"week": 7 * 86400000, "day": 86400000, "hour": 3600000, "minute": 60000, "second": 1000, "millisecond": 1,
}

func parseUnit(v doc.Value) (string, error) {
	text, ok := doc.AsString(v)
	if !ok || !slices.Contains(timeUnits, text) {
		return "", code.New(code.FailedToParse, "unknown time unit value: %s", code.Show(v))
	}
	return text, nil
}

// stepCost is the cost of adding to a date or a decimal, in units of package work.
const stepCost = 100

// adder adds numbers or, with a unit of time, an amount to a date. A value of the other kind is an error.
func adder(unit doc.Value) (func(v, by doc.Value) (doc.Value, error), error) {
	if unit.Type == 0 {
		return func(v, by doc.Value) (doc.Value, error) {
			if !doc.IsNumberBSON(v) {
				return v, code.New(5429413,
					"Expected a number, but found a value of type %s: for dates a 'unit' is needed", code.TypeName(v))
			}
			sum, err := plus.of(v, by)
			return doc.Clone(sum), err
		}, nil
	}
	text, err := parseUnit(unit)
	if err != nil {
		return nil, err
	}
	add, err := dateAdder(text)
	if err != nil {
		return nil, err
	}
	return func(v, by doc.Value) (doc.Value, error) {
		if v.Type != bsoncore.TypeDateTime {
			return v, code.New(5429513, "Expected a date, but found a value of type %s: with a 'unit' only dates count",
				code.TypeName(v))
		}
		sum, err := add.of(v, by)
		return doc.Clone(sum), err
	}, nil
}

// dateAdder is {$dateAdd: {startDate: "$$a", unit: unit, amount: "$$b"}}.
func dateAdder(unit string) (arithmetic, error) {
	names, _ := expression.NewNames().With("a")
	names, _ = names.With("b")
	args, at := beginDoc(nil)
	args = doc.AppendElement(args, "startDate", doc.String("$$a"))
	args = doc.AppendElement(args, "unit", doc.String(unit))
	args = endDoc(doc.AppendElement(args, "amount", doc.String("$$b")), at)
	spec, at := beginDoc(nil)
	spec = endDoc(doc.AppendElement(spec, "$dateAdd", doc.Object(args)), at)
	x, err := expression.Compile(doc.Object(spec), names)
	return arithmetic{x}, err
}
