package doc

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"
)

// FromExtended gives the document that d, read by FromJSON, stands for as MongoDB's extended JSON, canonical or
// relaxed: an object such as {"$oid": "…"} becomes a value of its type, at any depth. As in MongoDB's tools, a plain
// whole number is an int32 if it fits, else an int64, else a double. An object whose first member is the name of such
// a type, but that has not its form, is an error of type *Error; other names that begin with $ are names like all
// others. The forms that mongoexport wrote before version 4.2 are read too.
//
// https://github.com/mongodb/specifications, extended-json
func FromExtended(d Doc) (Doc, error) {
	x := extendedReader{out: make([]byte, 0, len(d))}
	if err := x.members(d); err != nil {
		return nil, err
	}
	return x.out, nil
}

// An extendedReader appends what extended JSON stands for.
type extendedReader struct{ out []byte }

// members appends a document or an array.
func (x *extendedReader) members(d Doc) error {
	at := len(x.out)
	x.out = append(x.out, 0, 0, 0, 0)
	for name, v := range Members(d) {
		if err := x.element(name, v); err != nil {
			return err
		}
	}
	x.out = append(x.out, 0)
	binary.LittleEndian.PutUint32(x.out[at:], uint32(len(x.out)-at))
	return nil
}

func (x *extendedReader) element(name string, v Value) error {
	switch v.Type {
	case bsoncore.TypeInt64:
		if i, ok := AsInt(v); ok && i == int64(int32(i)) {
			v = Int32(int32(i))
		}
	case bsoncore.TypeDecimal128: // of FromJSON, for whole numbers beyond int64
		if f, ok := AsFloat(v); ok {
			v = Double(f)
		}
	case bsoncore.TypeEmbeddedDocument:
		special, is, err := extendedValue(v.Data)
		if err != nil {
			return err
		}
		if !is {
			x.out = bsoncore.AppendHeader(x.out, v.Type, name)
			return x.members(v.Data)
		}
		v = special
	case bsoncore.TypeArray:
		x.out = bsoncore.AppendHeader(x.out, v.Type, name)
		return x.members(v.Data)
	}
	x.out = appendElement(x.out, name, v)
	return nil
}

// extendedForms reads the object that stands for a value, by the name of its first member.
var extendedForms map[string]func(d Doc, v Value) (Value, bool)

func init() { // the form of $code reads a document
	extendedForms = map[string]func(d Doc, v Value) (Value, bool){
		"$oid": readOID, "$date": readDate, "$binary": readBinary, "$uuid": readUUID, "$timestamp": readTimestamp,
		"$numberInt": readInt, "$numberLong": readLong, "$numberDouble": readDouble, "$numberDecimal": readExactDecimal,
		"$regularExpression": readRegex, "$regex": readOldRegex, "$code": readScript, "$symbol": readSymbol,
		"$dbPointer": readPointer, "$undefined": readUndefined,
		"$minKey": readKey(bsoncore.TypeMinKey), "$maxKey": readKey(bsoncore.TypeMaxKey),
	}
}

// extendedValue is the value that an object stands for; is is false for an object that stands for itself.
func extendedValue(d Doc) (v Value, is bool, err error) {
	for name, first := range Members(d) {
		if !strings.HasPrefix(name, "$") {
			return Value{}, false, nil
		}
		form, ok := extendedForms[name]
		if !ok {
			return Value{}, false, nil
		}
		if v, ok = form(d, first); !ok {
			if name == "$regex" { // also an operator of a query, which a document may hold
				return Value{}, false, nil
			}
			return Value{}, false, &Error{Message: "An object that begins with " + strings.Clone(name) +
				" is not in the form of extended JSON for that type."}
		}
		return v, true, nil
	}
	return Value{}, false, nil
}

// only reports whether a document has exactly these members.
func only(d Doc, names ...string) bool {
	n := 0
	for name := range Members(d) {
		if !slices.Contains(names, name) {
			return false
		}
		n++
	}
	return n == len(names)
}

// textIn is the text of a member; false if it is no text.
func textIn(d Doc, name string) (string, bool) { return AsString(Lookup(d, name)) }

// count32 is a whole number of 32 bits without sign.
func count32(v Value) (uint32, bool) {
	n, ok := AsInt(v)
	return uint32(n), ok && n >= 0 && n <= math.MaxUint32
}

func readOID(d Doc, v Value) (Value, bool) {
	text, ok := AsString(v)
	id, err := hex.DecodeString(text)
	if !ok || err != nil || len(id) != 12 || !only(d, "$oid") {
		return Value{}, false
	}
	return ObjectID([12]byte(id)), true
}

func readDate(d Doc, v Value) (Value, bool) {
	if !only(d, "$date") {
		return Value{}, false
	}
	if ms, ok := AsInt(v); ok { // the form of old tools
		return Date(ms), true
	}
	if text, ok := AsString(v); ok {
		for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999Z0700"} {
			if at, err := time.Parse(layout, text); err == nil {
				return Date(at.UnixMilli()), true
			}
		}
		return Value{}, false
	}
	inner, _ := AsDoc(v)
	text, ok := textIn(inner, "$numberLong")
	ms, err := strconv.ParseInt(text, 10, 64)
	return Date(ms), ok && err == nil && only(inner, "$numberLong")
}

func readBinary(d Doc, v Value) (Value, bool) {
	var text, kind string
	if inner, ok := AsDoc(v); ok {
		var both bool
		text, ok = textIn(inner, "base64")
		kind, both = textIn(inner, "subType")
		if !ok || !both || !only(inner, "base64", "subType") || !only(d, "$binary") {
			return Value{}, false
		}
	} else { // the form of old tools
		var both bool
		text, ok = AsString(v)
		kind, both = textIn(d, "$type")
		if !ok || !both || !only(d, "$binary", "$type") {
			return Value{}, false
		}
	}
	data, err := base64.StdEncoding.DecodeString(text)
	subtype, wrong := strconv.ParseUint(kind, 16, 8)
	return Value{Type: bsoncore.TypeBinary, Data: bsoncore.AppendBinary(nil, byte(subtype), data)},
		err == nil && wrong == nil
}

func readUUID(d Doc, v Value) (Value, bool) {
	text, ok := AsString(v)
	data, err := hex.DecodeString(strings.ReplaceAll(text, "-", ""))
	return Value{Type: bsoncore.TypeBinary, Data: bsoncore.AppendBinary(nil, 4, data)},
		ok && err == nil && len(data) == 16 && only(d, "$uuid")
}

func readTimestamp(d Doc, v Value) (Value, bool) {
	inner, ok := AsDoc(v)
	seconds, right := count32(Lookup(inner, "t"))
	count, also := count32(Lookup(inner, "i"))
	return Timestamp(seconds, count), ok && right && also && only(d, "$timestamp") && only(inner, "t", "i")
}

func readInt(d Doc, v Value) (Value, bool) {
	text, ok := AsString(v)
	n, err := strconv.ParseInt(text, 10, 32)
	return Int32(int32(n)), ok && err == nil && only(d, "$numberInt")
}

func readLong(d Doc, v Value) (Value, bool) {
	text, ok := AsString(v)
	n, err := strconv.ParseInt(text, 10, 64)
	return Int(n), ok && err == nil && only(d, "$numberLong")
}

func readDouble(d Doc, v Value) (Value, bool) {
	text, ok := AsString(v)
	f, err := strconv.ParseFloat(text, 64)
	return Value{Type: bsoncore.TypeDouble, Data: bsoncore.AppendDouble(nil, f)},
		ok && err == nil && only(d, "$numberDouble")
}

func readExactDecimal(d Doc, v Value) (Value, bool) {
	text, ok := AsString(v)
	number, right := ParseDecimal(text)
	return number.Value(), ok && right && only(d, "$numberDecimal")
}

func readRegex(d Doc, v Value) (Value, bool) {
	inner, ok := AsDoc(v)
	pattern, right := textIn(inner, "pattern")
	options, also := textIn(inner, "options")
	if !ok || !right || !also || !only(d, "$regularExpression") || !only(inner, "pattern", "options") {
		return Value{}, false
	}
	return regexValue(pattern, options)
}

func readOldRegex(d Doc, v Value) (Value, bool) {
	pattern, ok := AsString(v)
	options, also := textIn(d, "$options")
	if !ok || !also || !only(d, "$regex", "$options") {
		return Value{}, false
	}
	return regexValue(pattern, options)
}

func regexValue(pattern, options string) (Value, bool) {
	if strings.ContainsRune(pattern, 0) || strings.ContainsRune(options, 0) {
		return Value{}, false
	}
	return Value{Type: bsoncore.TypeRegex, Data: bsoncore.AppendRegex(nil, pattern, options)}, true
}

func readScript(d Doc, v Value) (Value, bool) {
	code, ok := AsString(v)
	if only(d, "$code") {
		return Value{Type: bsoncore.TypeJavaScript, Data: bsoncore.AppendString(nil, code)}, ok
	}
	inner, right := AsDoc(Lookup(d, "$scope"))
	scope, err := FromExtended(inner)
	return Value{Type: bsoncore.TypeCodeWithScope, Data: bsoncore.AppendCodeWithScope(nil, code, scope)},
		ok && right && err == nil && only(d, "$code", "$scope")
}

func readSymbol(d Doc, v Value) (Value, bool) {
	text, ok := AsString(v)
	return Value{Type: bsoncore.TypeSymbol, Data: bsoncore.AppendString(nil, text)}, ok && only(d, "$symbol")
}

func readPointer(d Doc, v Value) (Value, bool) {
	inner, ok := AsDoc(v)
	namespace, right := textIn(inner, "$ref")
	wrapper, _ := AsDoc(Lookup(inner, "$id"))
	id, also := readOID(wrapper, Lookup(wrapper, "$oid"))
	if !ok || !right || !also || !only(d, "$dbPointer") || !only(inner, "$ref", "$id") {
		return Value{}, false
	}
	return Value{Type: bsoncore.TypeDBPointer, Data: append(bsoncore.AppendString(nil, namespace), id.Data...)}, true
}

func readUndefined(d Doc, v Value) (Value, bool) {
	is, ok := AsBool(v)
	return Value{Type: bsoncore.TypeUndefined}, ok && is && only(d, "$undefined")
}

func readKey(kind bsoncore.Type) func(d Doc, v Value) (Value, bool) {
	return func(d Doc, v Value) (Value, bool) {
		n, ok := AsInt(v)
		return Value{Type: kind}, ok && n == 1 && (only(d, "$minKey") || only(d, "$maxKey"))
	}
}
