package expiry

import (
	"unicode/utf8"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/fault"
)

// ParseDefault reads a container's `defaultTtl`. Undefined and null are Unset,
// which is off (T-08, A-08). Anything but -1 and 1..MaxTTL is a *BadTTL (I-01); 60.0 is 60.
func ParseDefault(v doc.Value) (TTL, error) {
	if doc.IsUndefined(v) || doc.IsNull(v) {
		return Unset, nil
	}
	if ttl, ok := parse(v); ok {
		return ttl, nil
	}
	return Unset, refuse(v, true)
}

// ParseItem reads a document's own `ttl` by the rules of the API for NoSQL. Undefined is Unset. Any other value that is
// no life span is a *BadTTL (I-02). Callers that store such a value anyway take the Unset that comes with the error: it
// means nothing.
func ParseItem(v doc.Value) (TTL, error) {
	if doc.IsUndefined(v) {
		return Unset, nil
	}
	if ttl, ok := parse(v); ok {
		return ttl, nil
	}
	return Unset, refuse(v, false)
}

// CoerceItem reads a document's own `ttl` by the rules of the API for MongoDB: an int32, or an
// int64 or a double that is one, of -1 or above 0. Anything else is stored and means nothing (T-83, T-84, A-05).
func CoerceItem(v doc.Value) TTL {
	switch v.Type {
	case bsoncore.TypeInt32, bsoncore.TypeInt64, bsoncore.TypeDouble:
		ttl, _ := parse(v)
		return ttl
	}
	return Unset
}

func parse(v doc.Value) (TTL, bool) {
	n, ok := doc.AsInt(v)
	if !ok || n < int64(Never) || n == int64(Unset) || n > int64(MaxTTL) {
		return Unset, false
	}
	return TTL(n), true
}

// A BadTTL says that a value is no life span. It is a fault.Invalid; each API has its own text for it.
type BadTTL struct {
	Default bool   // the value is the default of a container, else a document's own
	Value   string // as JSON, cut off after maxEcho bytes
	TooLong bool   // it is a number above MaxTTL, perhaps milliseconds
}

// maxEcho bounds how much of a value an error repeats, so that a client's mistake does not fill a log.
const maxEcho = 64

var errBadTTL = fault.New(fault.Invalid, "A life span is -1 or a whole number of seconds from 1 to %d.", MaxTTL)

func (e *BadTTL) Error() string { return e.Value + " is no life span: " + errBadTTL.Error() }

// Unwrap gives the kind.
func (e *BadTTL) Unwrap() error { return errBadTTL }

func refuse(v doc.Value, byDefault bool) error {
	text := doc.AppendJSONValue(nil, v)
	if len(text) > maxEcho {
		end := maxEcho
		for !utf8.RuneStart(text[end]) {
			end-- // a character is not cut
		}
		text = append(text[:end:end], "..."...)
	}
	n, ok := doc.AsFloat(v)
	return &BadTTL{Default: byDefault, Value: string(text), TooLong: ok && n > float64(MaxTTL)}
}
