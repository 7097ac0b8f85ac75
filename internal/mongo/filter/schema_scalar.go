package filter

import (
	"math/big"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/work"
)

var (
	numeric = setOf(numbers...)
	texts   = setOf(bsoncore.TypeString)
)

// bound is minimum and maximum, together with exclusiveMinimum and exclusiveMaximum.
func bound(s *schema, name string, arg doc.Value) (rule, error) {
	if !doc.IsNumberBSON(arg) {
		return nil, wrongType(name, "a number")
	}
	beside := s.keywords["exclusiveM"+name[1:]]
	outside, _ := doc.AsBool(beside)
	o := order{greater: true, equal: !outside}
	if name == "maximum" {
		o = order{less: true, equal: !outside}
	}
	return onType(numeric, o.than(arg).holds()), nil
}

// exclusive checks that minimum or maximum is given, which reads it.
func exclusive(s *schema, name string, arg doc.Value) (rule, error) {
	with := strings.ToLower(strings.TrimPrefix(name, "exclusive"))
	if !s.has(with) {
		return nil, code.New(code.FailedToParse, "$jsonSchema keyword '%s' must be a present if %s is present", with,
			name)
	}
	if _, ok := doc.AsBool(arg); !ok {
		return nil, wrongType(name, "a boolean")
	}
	return nil, nil
}

// textLength is minLength and maxLength, in code points.
func textLength(_ *schema, name string, arg doc.Value) (rule, error) {
	return counted(texts, name, arg, func(v doc.Value, m *work.Meter) int64 {
		text, _ := doc.AsString(v)
		_ = m.Spend(work.Scanned(len(text)))
		return int64(utf8.RuneCountInString(text))
	})
}

// schemaPattern is pattern.
func schemaPattern(s *schema, name string, arg doc.Value) (rule, error) {
	text, ok := doc.AsString(arg)
	if !ok {
		return nil, wrongType(name, "a string")
	}
	p, err := newRegularExpression(text, "", s.c.meter)
	if err != nil {
		return nil, err
	}
	return onType(texts, p.accepts), nil
}

// multipleOf accepts multiples of a number.
func multipleOf(_ *schema, name string, arg doc.Value) (rule, error) {
	if !doc.IsNumberBSON(arg) {
		return nil, wrongType(name, "a number")
	}
	by, ok := decimal(arg)
	if !ok || by.Negative || by.IsZero() {
		return nil, code.New(code.FailedToParse, "$jsonSchema keyword '%s' must have a positive value", name)
	}
	whole, isWhole := doc.AsInt(arg)
	return onType(numeric, check(func(v doc.Value, m *work.Meter) bool {
		if n, ok := doc.AsInt(v); ok && isWhole {
			return n%whole == 0
		}
		d, ok := decimal(v)
		_ = m.Spend(100 + 2*max(d.Exponent-by.Exponent, by.Exponent-d.Exponent)) // numbers of any size
		return ok && divides(by, d)
	}).holds()), nil
}

// decimal is a number as a decimal, a double in its shortest form. It is not ok if the number is not finite.
func decimal(v doc.Value) (doc.Decimal, bool) {
	d, ok := doc.AsDecimal(v)
	if !ok {
		if n, whole := doc.AsInt(v); whole {
			return doc.DecimalOf(n), true
		}
		d, ok = doc.ParseDecimal(strconv.FormatFloat(double(v), 'g', -1, 64))
	}
	return d, ok && d.Form == doc.DecimalFinite
}

// divides reports whether d is a multiple of by, which is not zero.
func divides(by, d doc.Decimal) bool {
	left, right := d.Coefficient(), by.Coefficient()
	digits := max(d.Exponent-by.Exponent, by.Exponent-d.Exponent)
	scale := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(digits)), nil)
	if d.Exponent > by.Exponent {
		left.Mul(left, scale)
	} else {
		right.Mul(right, scale)
	}
	return left.Rem(left, right).Sign() == 0
}
