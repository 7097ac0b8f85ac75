package expiry

import (
	"unicode/utf8"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/fault"
)

// ParseDefault reads a container's `defaultTtl`. Undefined and null are Unset,
// which is off (T-08, A-08). Anything but -1 and 1..MaxTTL is fault.Invalid
// with the cloud's text (I-01); 60.0 is 60.
func ParseDefault(v doc.Value) (TTL, error) {
	if doc.IsUndefined(v) || doc.IsNull(v) {
		return Unset, nil
	}
	if ttl, ok := parse(v); ok {
		return ttl, nil
	}
	return Unset, refuse("defaultTtl", v, "Leave defaultTtl out to switch expiry off.")
}

// ParseItem reads a document's own `ttl`. Undefined is Unset. Any other value
// that is no life span is fault.Invalid with the cloud's text (I-02); callers for
// whom such a value is dormant take the Unset that comes with the error.
func ParseItem(v doc.Value) (TTL, error) {
	if doc.IsUndefined(v) {
		return Unset, nil
	}
	if ttl, ok := parse(v); ok {
		return ttl, nil
	}
	return Unset, refuse("ttl", v, "Leave ttl out to take the container's default.")
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

// maxEcho bounds how much of a refused value an error repeats.
const maxEcho = 64

func refuse(name string, v doc.Value, remedy string) error {
	text := doc.AppendJSONValue(nil, v)
	if len(text) > maxEcho {
		end := maxEcho
		for !utf8.RuneStart(text[end]) {
			end-- // a character is not cut
		}
		text = append(text[:end:end], "..."...)
	}
	if n, ok := doc.AsFloat(v); ok && n > float64(MaxTTL) {
		remedy = "It counts seconds, not milliseconds."
	}
	return fault.New(fault.Invalid, "The input %s '%s' is invalid. Ensure to provide a nonzero positive integer "+
		"less than or equal to '%d', or '-1' which means never expire. %s", name, text, MaxTTL, remedy)
}
