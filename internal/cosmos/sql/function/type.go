package function

import (
	"math"
	"time"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
)

// These functions are true or false for every argument, including undefined.
var typeFunctions = []Function{
	{Name: "IS_ARRAY", Family: "Type checking", Min: 1, Max: 1, Run: checked(doc.IsArray)},
	{Name: "IS_BOOL", Family: "Type checking", Min: 1, Max: 1, Run: checked(isBool)},
	{Name: "IS_DATETIME", Family: "Type checking", Min: 1, Max: 1, Run: checked(isDateTime)},
	{Name: "IS_DEFINED", Family: "Type checking", Min: 1, Max: 1, Run: checked(isDefined)},
	{Name: "IS_FINITE_NUMBER", Family: "Type checking", Min: 1, Max: 1, Run: checked(isFiniteNumber)},
	{Name: "IS_INTEGER", Family: "Type checking", Min: 1, Max: 1, Run: checked(isInteger)},
	{Name: "IS_NULL", Family: "Type checking", Min: 1, Max: 1, Run: checked(doc.IsNull)},
	{Name: "IS_NUMBER", Family: "Type checking", Min: 1, Max: 1, Run: checked(doc.IsNumber)},
	{Name: "IS_OBJECT", Family: "Type checking", Min: 1, Max: 1, Run: checked(isObject)},
	{Name: "IS_PRIMITIVE", Family: "Type checking", Min: 1, Max: 1, Run: checked(isPrimitive)},
	{Name: "IS_STRING", Family: "Type checking", Min: 1, Max: 1, Run: checked(isString)},
}

func checked(is func(doc.Value) bool) func(*Call, []doc.Value) doc.Value {
	return func(_ *Call, args []doc.Value) doc.Value { return truth(is(args[0])) }
}

func isDefined(v doc.Value) bool { return !doc.IsUndefined(v) }
func isBool(v doc.Value) bool    { return v.Type == bsoncore.TypeBoolean }
func isString(v doc.Value) bool  { return v.Type == bsoncore.TypeString }
func isObject(v doc.Value) bool  { return v.Type == bsoncore.TypeEmbeddedDocument }

func isPrimitive(v doc.Value) bool {
	return isString(v) || isBool(v) || doc.IsNull(v) || doc.IsNumber(v)
}

func isFiniteNumber(v doc.Value) bool {
	f, ok := doc.AsFloat(v)
	return ok && !math.IsNaN(f) && !math.IsInf(f, 0)
}

func isInteger(v doc.Value) bool {
	_, ok := doc.AsInt(v)
	return ok
}

// isDateTime implements the page IS_DATETIME: a date, optionally with a time after a T or a space, up to seven
// fractional digits, and an optional Z at the end.
func isDateTime(v doc.Value) bool {
	s, ok := doc.AsString(v)
	if !ok {
		return false
	}
	if n := len(s); n > 0 && s[n-1] == 'Z' {
		s = s[:n-1]
	}
	if len(s) == len(time.DateOnly) {
		return isDateText(s)
	}
	at := len(time.DateOnly)
	return len(s) > at && (s[at] == 'T' || s[at] == ' ') && isDateText(s[:at]) && isTimeText(s[at+1:])
}

func isDateText(s string) bool {
	year, ok := digitsAt(s, 0, 4)
	month, ok1 := digitsAt(s, 5, 2)
	day, ok2 := digitsAt(s, 8, 2)
	if !ok || !ok1 || !ok2 || s[4] != '-' || s[7] != '-' || month < 1 || month > 12 || day < 1 {
		return false
	}
	return time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC).Day() == day
}

func isTimeText(s string) bool {
	if len(s) < len(time.TimeOnly) || s[2] != ':' || s[5] != ':' {
		return false
	}
	hour, ok := digitsAt(s, 0, 2)
	minute, ok1 := digitsAt(s, 3, 2)
	second, ok2 := digitsAt(s, 6, 2)
	if !ok || !ok1 || !ok2 || hour > 23 || minute > 59 || second > 59 {
		return false
	}
	rest := s[len(time.TimeOnly):]
	if rest == "" {
		return true
	}
	_, ok = digitsAt(rest, 1, len(rest)-1)
	return ok && rest[0] == '.' && len(rest) >= 2 && len(rest) <= 8
}

// digitsAt parses n digits of s, which must be long enough.
func digitsAt(s string, at, n int) (number int, ok bool) {
	for _, b := range []byte(s[at : at+n]) {
		if b < '0' || b > '9' {
			return 0, false
		}
		number = number*10 + int(b-'0')
	}
	return number, true
}
