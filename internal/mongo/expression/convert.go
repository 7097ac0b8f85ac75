package expression

import (
	"encoding/hex"
	"math"
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
)

// conversion is $convert to one type, without onError and onNull.
func conversion(name string, target bsoncore.Type) operator {
	return func(arg doc.Value, names *Names, depth int) (*Expression, error) {
		if n := elements(arg); n != 1 {
			return nil, code.New(50723, "%s requires a single argument, got %d", name, n)
		}
		return one(name, func(s *Scope, v doc.Value) (doc.Value, error) {
			if nullish(v) {
				return null, nil
			}
			return convert(s, v, target)
		})(arg, names, depth)
	}
}

// elements is the number of arguments that an operator was given.
func elements(arg doc.Value) int {
	if arg.Type != bsoncore.TypeArray {
		return 1
	}
	n := 0
	for range doc.Elements(arg) {
		n++
	}
	return n
}

func compileConvert(arg doc.Value, names *Names, depth int) (*Expression, error) {
	if arg.Type != bsoncore.TypeEmbeddedDocument {
		return nil, code.New(code.FailedToParse, "$convert expects an object of named arguments but found: %s",
			code.TypeName(arg))
	}
	h := shape{name: "$convert", object: code.FailedToParse, unknown: code.FailedToParse, missing: code.FailedToParse,
		required: []string{"input", "to"}, optional: []string{"onError", "onNull"}}
	args, err := h.read(arg, names, depth)
	if err != nil {
		return nil, err
	}
	var known targetType
	if v, ok := args[1].Constant(); ok {
		known.kind, known.err = targetOf(v)
		known.known, known.isNull = true, nullish(v)
	}
	return fold(&Expression{run: func(s *Scope) (doc.Value, error) {
		target := known
		if !target.known {
			v, err := args[1].run(s)
			if err != nil {
				return v, err
			}
			target.isNull = nullish(v)
			target.kind, target.err = targetOf(v)
		}
		input, err := args[0].run(s)
		switch {
		case err != nil:
			return input, err
		case !target.isNull && target.err != nil:
			return doc.Value{}, target.err
		case nullish(input) && args[3] != nil:
			return args[3].run(s)
		case nullish(input), target.isNull:
			return null, nil
		}
		v, err := convert(s, input, target.kind)
		if args[2] != nil && code.Is(err, code.ConversionFailure) {
			return args[2].run(s)
		}
		return v, err
	}}, args...), nil
}

// A targetType is the type to convert to.
type targetType struct {
	known, isNull bool
	kind          bsoncore.Type
	err           error
}

// targetOf parses a type: a name or a number. "missing" is 0.
func targetOf(v doc.Value) (bsoncore.Type, error) {
	if name, ok := doc.AsString(v); ok {
		if t, ok := code.TypeNamed(name); ok {
			return t, nil
		}
		return 0, code.New(code.BadValue, "Unknown type name: %s", quoted(v))
	}
	if !doc.IsNumberBSON(v) {
		return 0, code.New(code.FailedToParse, "$convert's 'to' argument must be a string or number, but is %s",
			code.TypeName(v))
	}
	n, ok := whole32(v)
	if !ok {
		return 0, code.New(code.FailedToParse, "In $convert, numeric 'to' argument is not an integer")
	}
	t := bsoncore.Type(n)
	if n < -1 || n > math.MaxInt8 || code.TypeName(doc.Value{Type: t}) == "" {
		return 0, code.New(code.FailedToParse,
			"In $convert, numeric value for 'to' does not correspond to a BSON type: %d", n)
	}
	return t, nil
}

const noOnError = " in $convert with no onError value"

func unconvertible(v doc.Value, target bsoncore.Type) error {
	return code.New(code.ConversionFailure, "Unsupported conversion from %s to %s"+noOnError, code.TypeName(v),
		code.TypeName(doc.Value{Type: target}))
}

// convert converts a value that is not nullish. Its error is ConversionFailure.
// https://www.mongodb.com/docs/v7.0/reference/operator/aggregation/convert/
func convert(s *Scope, v doc.Value, target bsoncore.Type) (doc.Value, error) {
	switch target {
	case bsoncore.TypeDouble:
		return toDouble(s, v)
	case bsoncore.TypeString:
		return toText(s, v)
	case bsoncore.TypeObjectID:
		return toObjectID(s, v)
	case bsoncore.TypeBoolean:
		return boolean(truthy(v)), nil
	case bsoncore.TypeDateTime:
		return toDate(s, v)
	case bsoncore.TypeInt32, bsoncore.TypeInt64:
		return toInteger(s, v, target)
	case bsoncore.TypeDecimal128:
		return toDecimal(s, v)
	}
	return doc.Value{}, unconvertible(v, target)
}

func toDouble(s *Scope, v doc.Value) (doc.Value, error) {
	switch v.Type {
	case bsoncore.TypeDouble:
		return v, nil
	case bsoncore.TypeString:
		f, err := parseDouble(v)
		return s.double(f), err
	case bsoncore.TypeBoolean:
		return s.double(float64(bit(v))), nil
	case bsoncore.TypeDateTime:
		return s.double(float64(asDate(v))), nil
	case bsoncore.TypeInt32, bsoncore.TypeInt64:
		return s.double(asDouble(v)), nil
	case bsoncore.TypeDecimal128:
		d := asDecimal(v)
		f := d.Float64()
		if d.Form == doc.DecimalFinite && (math.IsInf(f, 0) || f == 0 && !d.IsZero()) {
			return doc.Value{}, overflow(d.String())
		}
		return s.double(f), nil
	}
	return doc.Value{}, unconvertible(v, bsoncore.TypeDouble)
}

// bit is a boolean as a number.
func bit(v doc.Value) int64 {
	if b, _ := doc.AsBool(v); b {
		return 1
	}
	return 0
}

func overflow(value string) error {
	return code.New(code.ConversionFailure,
		"Conversion would overflow target type in $convert with no onError value: %s", value)
}

func toText(s *Scope, v doc.Value) (doc.Value, error) {
	start := s.openText()
	switch v.Type {
	case bsoncore.TypeString:
		s.release(start)
		return v, nil
	case bsoncore.TypeDouble:
		s.arena = appendDoubleText(s.arena, asDouble(v))
	case bsoncore.TypeObjectID:
		s.arena = hex.AppendEncode(s.arena, v.Data)
	case bsoncore.TypeBoolean:
		s.arena = strconv.AppendBool(s.arena, bit(v) == 1)
	case bsoncore.TypeDateTime:
		var err error
		if s.arena, err = appendDate(s.arena, isoFormat, asDate(v), utc); err != nil {
			return doc.Value{}, err
		}
	case bsoncore.TypeInt32, bsoncore.TypeInt64:
		s.arena = strconv.AppendInt(s.arena, asInt(v), 10)
	case bsoncore.TypeDecimal128:
		s.arena = append(s.arena, asDecimal(v).String()...)
	default:
		return doc.Value{}, unconvertible(v, bsoncore.TypeString)
	}
	return s.closeText(start)
}

func toObjectID(s *Scope, v doc.Value) (doc.Value, error) {
	if v.Type == bsoncore.TypeObjectID {
		return v, nil
	}
	text, ok := doc.AsString(v)
	if !ok {
		return doc.Value{}, unconvertible(v, bsoncore.TypeObjectID)
	}
	const failed = "Failed to parse objectId '%s' in $convert with no onError value: "
	if len(text) != 24 {
		return doc.Value{}, code.New(code.ConversionFailure,
			failed+"Invalid string length for parsing to OID, expected 24 but found %d", quoted(v), len(text))
	}
	var id [12]byte
	if _, err := hex.Decode(id[:], []byte(text)); err != nil {
		return doc.Value{}, code.New(code.ConversionFailure, failed+"Invalid character found in hex string", quoted(v))
	}
	return s.objectID(id), nil
}

func toDate(s *Scope, v doc.Value) (doc.Value, error) {
	switch v.Type {
	case bsoncore.TypeDateTime:
		return v, nil
	case bsoncore.TypeObjectID, bsoncore.TypeTimestamp:
		ms, _ := dateOf(v)
		return s.date(ms), nil
	case bsoncore.TypeString:
		text, _ := doc.AsString(v)
		ms, err := parseDate(text, "", false, utc)
		return s.date(ms), err
	case bsoncore.TypeInt64, bsoncore.TypeDouble, bsoncore.TypeDecimal128:
		n, err := integer(v, math.MinInt64, math.MaxInt64)
		return s.date(n), err
	}
	return doc.Value{}, unconvertible(v, bsoncore.TypeDateTime)
}

func toInteger(s *Scope, v doc.Value, target bsoncore.Type) (doc.Value, error) {
	if v.Type == target {
		return v, nil
	}
	least, most := int64(math.MinInt64), int64(math.MaxInt64)
	if target == bsoncore.TypeInt32 {
		least, most = math.MinInt32, math.MaxInt32
	}
	var n int64
	var err error
	switch v.Type {
	case bsoncore.TypeInt32, bsoncore.TypeInt64, bsoncore.TypeDouble, bsoncore.TypeDecimal128:
		n, err = integer(v, least, most)
	case bsoncore.TypeBoolean:
		n = bit(v)
	case bsoncore.TypeString:
		n, err = parseInteger(v, least, most)
	case bsoncore.TypeDateTime:
		if n = asDate(v); target == bsoncore.TypeInt32 {
			err = unconvertible(v, target)
		}
	default:
		err = unconvertible(v, target)
	}
	if err != nil {
		return doc.Value{}, err
	}
	if target == bsoncore.TypeInt32 {
		return s.int32(int32(n)), nil
	}
	return s.int64(n), nil
}

// integer drops the fraction of a number. It fails if the result is not between least and most.
func integer(v doc.Value, least, most int64) (int64, error) {
	var n int64
	isInt, isInfinite, text := true, false, ""
	switch v.Type {
	case bsoncore.TypeDouble:
		f := math.Trunc(asDouble(v))
		n, isInt, isInfinite = int64(f), f >= -1<<63 && f < 1<<63, math.IsInf(f, 0)
		text = string(appendDoubleText(nil, asDouble(v)))
	case bsoncore.TypeDecimal128:
		d := asDecimal(v)
		isInfinite, text = d.Form == doc.DecimalInfinite, d.String()
		n, isInt = roundDecimal(d, 0, towardZero).Int64()
	default:
		n = asInt(v)
		text = strconv.FormatInt(n, 10)
	}
	switch {
	case isNaN(v):
		return 0, code.New(code.ConversionFailure,
			"Attempt to convert NaN value to integer type in $convert with no onError value")
	case isInfinite:
		return 0, code.New(code.ConversionFailure,
			"Attempt to convert infinity value to integer type in $convert with no onError value")
	case !isInt, n < least, n > most:
		return 0, overflow(text)
	}
	return n, nil
}

func toDecimal(s *Scope, v doc.Value) (doc.Value, error) {
	switch v.Type {
	case bsoncore.TypeDecimal128:
		return v, nil
	case bsoncore.TypeInt32, bsoncore.TypeInt64, bsoncore.TypeDouble:
		return s.decimal(asDecimal(v)), nil
	case bsoncore.TypeBoolean:
		return s.decimal(doc.DecimalOf(bit(v))), nil
	case bsoncore.TypeDateTime:
		return s.decimal(doc.DecimalOf(asDate(v))), nil
	case bsoncore.TypeString:
		text, err := numeral(v)
		if err != nil {
			return doc.Value{}, err
		}
		d, ok := doc.ParseDecimal(text)
		if !ok {
			return doc.Value{}, unparsed(v, "Failed to parse string to decimal")
		}
		return s.decimal(d), nil
	}
	return doc.Value{}, unconvertible(v, bsoncore.TypeDecimal128)
}

func unparsed(v doc.Value, why string) error {
	return code.New(code.ConversionFailure, "Failed to parse number '%s' in $convert with no onError value: %s",
		quoted(v), why)
}

// maxNumeral limits the text of a number, in bytes.
const maxNumeral = 8192

// numeral is a string that may be a number.
func numeral(v doc.Value) (string, error) {
	text, _ := doc.AsString(v)
	switch {
	case strings.HasPrefix(text, "0x"):
		return "", code.New(code.ConversionFailure, "Illegal hexadecimal input in $convert with no onError value: %s",
			quoted(v))
	case text == "":
		return "", unparsed(v, "Empty string")
	case len(text) > maxNumeral:
		return "", unparsed(v, "Did not consume whole string.")
	}
	return text, nil
}

// parseInteger reads a decimal integer with or without a sign.
func parseInteger(v doc.Value, least, most int64) (int64, error) {
	text, err := numeral(v)
	if err != nil {
		return 0, err
	}
	digits := strings.TrimLeft(text[1:], "0123456789")
	switch first := text[0]; {
	case isDigit(first) && digits == "", (first == '-' || first == '+') && digits == "" && len(text) > 1:
	case isDigit(first), (first == '-' || first == '+') && len(digits) < len(text)-1:
		return 0, unparsed(v, "Did not consume whole string.")
	default:
		return 0, unparsed(v, "Did not consume any digits")
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < least || n > most {
		return 0, unparsed(v, "Overflow")
	}
	return n, nil
}

func parseDouble(v doc.Value) (float64, error) {
	text, err := numeral(v)
	if err != nil {
		return 0, err
	}
	if contains(" \t\n\v\f\r", text[0]) {
		return 0, unparsed(v, "Leading whitespace")
	}
	f, err := strconv.ParseFloat(text, 64)
	switch {
	case err == nil && !strings.ContainsAny(text, "xX_"):
		return f, nil
	case math.IsInf(f, 0):
		return 0, unparsed(v, "Out of range")
	case strings.IndexFunc(text, func(r rune) bool { return '0' <= r && r <= '9' }) < 0:
		return 0, unparsed(v, "Did not consume any digits")
	}
	return 0, unparsed(v, "Did not consume whole string.")
}
