package literal

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/token"
)

// A constructor writes the value that a call makes from its arguments: texts and numbers.
type constructor func(w *writer, args []argument) error

// An argument of a call is a text or a number.
type argument struct {
	text   string
	number bool
}

// constructors are those of mongosh:
// https://www.mongodb.com/docs/mongodb-shell/reference/data-types/
var constructors = map[string]constructor{
	"ObjectId":      objectID,
	"ISODate":       date,
	"Date":          date,
	"NumberInt":     integer("$numberInt", math.MinInt32, math.MaxInt32),
	"Int32":         integer("$numberInt", math.MinInt32, math.MaxInt32),
	"NumberLong":    integer("$numberLong", math.MinInt64, math.MaxInt64),
	"Long":          integer("$numberLong", math.MinInt64, math.MaxInt64),
	"NumberDecimal": decimal,
	"Decimal128":    decimal,
	"Double":        double,
	"UUID":          uuid,
	"BinData":       binary,
	"Timestamp":     timestamp,
	"RegExp":        expression,
	"MinKey":        edge("$minKey"),
	"MaxKey":        edge("$maxKey"),
}

func (w *writer) call(callee ast.Expression, list []ast.Expression) error {
	name, ok := callee.(*ast.Identifier)
	if !ok {
		return fail(callee.Idx0(), "this is no literal: write a value, not something to compute")
	}
	construct, ok := constructors[name.Name.String()]
	if !ok {
		return fail(callee.Idx0(), "there is no %s here, but there are %s", name.Name,
			strings.Join(slices.Sorted(maps.Keys(constructors)), ", "))
	}
	args := make([]argument, len(list))
	for i, e := range list {
		if args[i], ok = argumentOf(e); !ok {
			return fail(e.Idx0(), "an argument of %s is a text or a number", name.Name)
		}
	}
	if err := construct(w, args); err != nil {
		return fail(callee.Idx0(), "%s: %s", name.Name, err)
	}
	return nil
}

func argumentOf(e ast.Expression) (argument, bool) {
	switch e := e.(type) {
	case *ast.StringLiteral:
		return argument{text: e.Value.String()}, true
	case *ast.NumberLiteral:
		return argument{e.Literal, true}, true
	case *ast.UnaryExpression:
		if number, ok := e.Operand.(*ast.NumberLiteral); ok && e.Operator == token.MINUS {
			return argument{"-" + number.Literal, true}, true
		}
	}
	return argument{}, false
}

// one is the only argument.
func one(args []argument, example string) (argument, error) {
	if len(args) != 1 {
		return argument{}, fmt.Errorf("write it like %s", example)
	}
	return args[0], nil
}

func objectID(w *writer, args []argument) error {
	const example = `ObjectId("65e5f5f0a1b2c3d4e5f60718")`
	a, err := one(args, example)
	if raw, wrong := hex.DecodeString(a.text); err == nil && (wrong != nil || len(raw) != 12) {
		err = fmt.Errorf("write 24 hexadecimal digits, like %s", example)
	}
	if err != nil {
		return err
	}
	return w.wrap("$oid", strings.ToLower(a.text))
}

// dateForms are what mongosh takes for a date. A date without a zone is in UTC.
var dateForms = []string{
	time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02T15:04Z07:00", "2006-01-02T15:04", "2006-01-02",
}

func date(w *writer, args []argument) error {
	a, err := one(args, `ISODate("2026-03-01T12:00:00Z")`)
	if err != nil {
		return err
	}
	if a.number {
		ms, err := strconv.ParseInt(a.text, 10, 64)
		if err != nil {
			return fmt.Errorf("%s is not a whole number of milliseconds", a.text)
		}
		return w.instant(ms)
	}
	for _, form := range dateForms {
		if t, err := time.Parse(form, a.text); err == nil {
			return w.instant(t.UnixMilli())
		}
	}
	return fmt.Errorf("%q is no date: write it like 2026-03-01T12:00:00Z", a.text)
}

func (w *writer) instant(ms int64) error {
	return w.wrap("$date", map[string]string{"$numberLong": strconv.FormatInt(ms, 10)})
}

func integer(member string, least, most int64) constructor {
	return func(w *writer, args []argument) error {
		a, err := one(args, "NumberLong(\"5\")")
		if err != nil {
			return err
		}
		n, err := strconv.ParseInt(a.text, 10, 64)
		if err != nil || n < least || n > most {
			return fmt.Errorf("%q is not a whole number from %d to %d", a.text, least, most)
		}
		return w.wrap(member, strconv.FormatInt(n, 10))
	}
}

func decimal(w *writer, args []argument) error {
	a, err := one(args, `NumberDecimal("1.5")`)
	if err != nil {
		return err
	}
	return w.wrap("$numberDecimal", a.text) // the server says whether it is one
}

func double(w *writer, args []argument) error {
	a, err := one(args, "Double(5)")
	if err != nil {
		return err
	}
	f, err := strconv.ParseFloat(a.text, 64)
	if err != nil {
		return fmt.Errorf("%q is no number", a.text)
	}
	return w.wrap("$numberDouble", strconv.FormatFloat(f, 'g', -1, 64))
}

func uuid(w *writer, args []argument) error {
	const example = `UUID("3b241101-e2bb-4255-8caf-4136c566a962")`
	a, err := one(args, example)
	if err != nil {
		return err
	}
	raw, err := hex.DecodeString(strings.ReplaceAll(a.text, "-", ""))
	if err != nil || len(raw) != 16 {
		return fmt.Errorf("write it like %s", example)
	}
	return w.binary(4, raw)
}

func binary(w *writer, args []argument) error {
	if len(args) != 2 {
		return fmt.Errorf(`write it like BinData(0, "aGVsbG8=")`)
	}
	kind, err := strconv.ParseUint(args[0].text, 10, 8)
	raw, wrong := base64.StdEncoding.DecodeString(args[1].text)
	if err != nil || wrong != nil {
		return fmt.Errorf(`write a number from 0 to 255 and base64, like BinData(0, "aGVsbG8=")`)
	}
	return w.binary(byte(kind), raw)
}

func (w *writer) binary(kind byte, raw []byte) error {
	return w.wrap("$binary", map[string]string{
		"base64": base64.StdEncoding.EncodeToString(raw), "subType": fmt.Sprintf("%02x", kind),
	})
}

func timestamp(w *writer, args []argument) error {
	if len(args) != 2 {
		return fmt.Errorf("write it like Timestamp(1772366400, 1)")
	}
	t, err := strconv.ParseUint(args[0].text, 10, 32)
	i, wrong := strconv.ParseUint(args[1].text, 10, 32)
	if err != nil || wrong != nil {
		return fmt.Errorf("write two whole numbers, like Timestamp(1772366400, 1)")
	}
	return w.wrap("$timestamp", map[string]uint64{"t": t, "i": i})
}

func expression(w *writer, args []argument) error {
	if len(args) < 1 || len(args) > 2 {
		return fmt.Errorf(`write it like RegExp("^a", "i")`)
	}
	options := ""
	if len(args) == 2 {
		options = args[1].text
	}
	return w.wrap("$regularExpression", map[string]string{"pattern": args[0].text, "options": options})
}

func edge(member string) constructor {
	return func(w *writer, args []argument) error {
		if len(args) > 0 {
			return fmt.Errorf("write it without arguments")
		}
		return w.wrap(member, 1)
	}
}
