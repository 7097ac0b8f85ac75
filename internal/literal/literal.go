// Package literal reads values as people type them in mongosh: JavaScript literals with keys that need no quotes, and
// calls such as ObjectId("…") and ISODate("…"). It writes them as MongoDB's extended JSON. It evaluates nothing: a text
// that is anything but a literal is an error.
package literal

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
	"github.com/dop251/goja/parser"
	"github.com/dop251/goja/token"
)

// maxText is the longest text. The parser calls itself for each bracket, so that this bounds its stack, too.
const maxText = 64 << 10

// offset is how much longer the program is than the text in front of it.
const offset = 1

// ExtendedJSON converts a literal: an object, an array or any other value. Members keep their order.
func ExtendedJSON(text string) (json.RawMessage, error) {
	if len(text) > maxText {
		return nil, fmt.Errorf("the text has %d bytes, and %d is the most", len(text), maxText)
	}
	// In parentheses an object is not a block of statements.
	program, err := parser.ParseFile(nil, "", "("+text+"\n)", 0, parser.WithDisableSourceMaps)
	if err != nil {
		return nil, syntax(text, err)
	}
	w := writer{}
	if len(program.Body) != 1 {
		return nil, fmt.Errorf("write one value, such as {a: 1} or [{$match: {}}]")
	}
	statement, ok := program.Body[0].(*ast.ExpressionStatement)
	if !ok {
		return nil, fmt.Errorf("write one value, such as {a: 1} or [{$match: {}}]")
	}
	if err := w.value(statement.Expression); err != nil {
		return nil, err
	}
	return json.RawMessage(w.out.String()), nil
}

// syntax says where a text is wrong.
func syntax(text string, err error) error {
	list, ok := err.(parser.ErrorList)
	if !ok || len(list) == 0 {
		return err
	}
	first := list[0]
	if first.Position.Line > strings.Count(text, "\n")+1 {
		return fmt.Errorf("the text ends in the middle of a value")
	}
	column := first.Position.Column
	if first.Position.Line == 1 {
		column -= offset
	}
	return fmt.Errorf("line %d, column %d: %s", first.Position.Line, max(column, 1), first.Message)
}

// A writer writes extended JSON.
type writer struct{ out strings.Builder }

// fail is an error about the part of the text at a position.
func fail(at file.Idx, format string, args ...any) error {
	return fmt.Errorf("character %d: %s", max(1, int(at)-offset), fmt.Sprintf(format, args...))
}

func (w *writer) value(e ast.Expression) error {
	switch e := e.(type) {
	case *ast.ObjectLiteral:
		return w.object(e)
	case *ast.ArrayLiteral:
		return w.array(e)
	case *ast.StringLiteral:
		return w.text(e.Value.String())
	case *ast.TemplateLiteral:
		if len(e.Expressions) == 0 && e.Tag == nil && len(e.Elements) == 1 {
			return w.text(e.Elements[0].Parsed.String())
		}
	case *ast.NumberLiteral:
		return w.number(e, false)
	case *ast.UnaryExpression:
		return w.unary(e)
	case *ast.BooleanLiteral:
		return w.raw(strconv.FormatBool(e.Value))
	case *ast.NullLiteral:
		return w.raw("null")
	case *ast.RegExpLiteral:
		return w.wrap("$regularExpression", map[string]string{"pattern": e.Pattern, "options": e.Flags})
	case *ast.Identifier:
		return w.name(e)
	case *ast.CallExpression:
		return w.call(e.Callee, e.ArgumentList)
	case *ast.NewExpression:
		return w.call(e.Callee, e.ArgumentList)
	}
	return fail(e.Idx0(), "this is no literal: write a value, not something to compute")
}

func (w *writer) object(o *ast.ObjectLiteral) error {
	w.out.WriteByte('{')
	for i, p := range o.Value {
		if i > 0 {
			w.out.WriteByte(',')
		}
		member, ok := p.(*ast.PropertyKeyed)
		if !ok || member.Kind != ast.PropertyKindValue || member.Computed {
			return fail(p.Idx0(), "write a member as name: value")
		}
		if err := w.key(member.Key); err != nil {
			return err
		}
		w.out.WriteByte(':')
		if err := w.value(member.Value); err != nil {
			return err
		}
	}
	w.out.WriteByte('}')
	return nil
}

// key writes the name of a member. The parser turns names without quotes into texts, and leaves numbers.
func (w *writer) key(e ast.Expression) error {
	switch e := e.(type) {
	case *ast.StringLiteral:
		return w.text(e.Value.String())
	case *ast.NumberLiteral:
		return w.text(e.Literal)
	}
	return fail(e.Idx0(), "this is no name of a member")
}

func (w *writer) array(a *ast.ArrayLiteral) error {
	w.out.WriteByte('[')
	for i, element := range a.Value {
		if i > 0 {
			w.out.WriteByte(',')
		}
		if element == nil {
			return fail(a.LeftBracket, "an element of this array is missing")
		}
		if err := w.value(element); err != nil {
			return err
		}
	}
	w.out.WriteByte(']')
	return nil
}

func (w *writer) raw(text string) error {
	w.out.WriteString(text)
	return nil
}

func (w *writer) text(s string) error { return w.json(s) }

func (w *writer) json(v any) error {
	text, err := json.Marshal(v)
	w.out.Write(text)
	return err
}

// wrap writes {name: v}.
func (w *writer) wrap(name string, v any) error { return w.json(map[string]any{name: v}) }

func (w *writer) unary(e *ast.UnaryExpression) error {
	number, ok := e.Operand.(*ast.NumberLiteral)
	name, named := e.Operand.(*ast.Identifier)
	switch {
	case ok && (e.Operator == token.MINUS || e.Operator == token.PLUS):
		return w.number(number, e.Operator == token.MINUS)
	case named && name.Name == "Infinity" && e.Operator == token.MINUS:
		return w.wrap("$numberDouble", "-Infinity")
	}
	return fail(e.Idx0(), "this is no literal: write a value, not something to compute")
}

// number writes a number as mongosh sends it: whole numbers as integers, all others as doubles.
func (w *writer) number(e *ast.NumberLiteral, negative bool) error {
	f, whole := 0.0, false
	switch v := e.Value.(type) {
	case int64:
		f, whole = float64(v), true
		if negative {
			v = -v
		}
		if f != 0 || !negative {
			return w.raw(strconv.FormatInt(v, 10))
		}
	case float64:
		f = v
		whole = f == math.Trunc(f) && math.Abs(f) < 1<<53
	default:
		return fail(e.Idx0(), "%s is no number: use NumberLong(\"…\") for large ones", e.Literal)
	}
	if negative {
		f = -f
	}
	switch {
	case math.IsInf(f, 0):
		return fail(e.Idx0(), "%s is too large for a number", e.Literal)
	case whole && f != 0:
		return w.raw(strconv.FormatFloat(f, 'f', -1, 64))
	case f == 0:
		return w.wrap("$numberDouble", strconv.FormatFloat(f, 'f', 1, 64))
	}
	return w.wrap("$numberDouble", strconv.FormatFloat(f, 'g', -1, 64))
}

func (w *writer) name(e *ast.Identifier) error {
	switch name := e.Name.String(); name {
	case "undefined":
		return w.wrap("$undefined", true)
	case "NaN", "Infinity":
		return w.wrap("$numberDouble", name)
	case "MinKey", "MaxKey":
		return w.call(e, nil)
	default:
		return fail(e.Idx0(), "%s is no value: put texts in quotes", name)
	}
}
