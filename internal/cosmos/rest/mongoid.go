package rest

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"strconv"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/store"
)

// appendMongoID appends the id under which an _id is shown: a string unchanged, an ObjectId in hexadecimal, a number
// as text, everything else as extended JSON.
func appendMongoID(dst []byte, id doc.Value) []byte {
	switch id.Type {
	case bsoncore.TypeString:
		text, _ := doc.AsString(id)
		return append(dst, text...)
	case bsoncore.TypeObjectID:
		return hex.AppendEncode(dst, id.Data)
	case bsoncore.TypeDecimal128:
		d, _ := doc.AsDecimal(id)
		return append(dst, d.String()...)
	case bsoncore.TypeDouble:
		f, _ := doc.AsFloat(id)
		if text := doc.NonFinite(f); text != "" {
			return append(dst, text...)
		}
	}
	return doc.AppendJSONValue(dst, id)
}

// mongoIDs lists the _id values that could be shown as this text, the most likely first.
func mongoIDs(text string) []doc.Value {
	list := []doc.Value{doc.String(text)}
	try := func(v doc.Value) {
		if string(appendMongoID(nil, v)) == text {
			list = append(list, v)
		}
	}
	if raw, err := hex.DecodeString(text); err == nil && len(raw) == 12 {
		try(doc.ObjectID([12]byte(raw)))
	}
	if text == "" || len(text) > maxID {
		return list
	}
	switch c := text[0]; {
	case c == '{':
		if v, err := doc.ValueFromJSON([]byte(text)); err == nil {
			list = append(list, fromExtendedJSON(v))
		}
	case strings.IndexByte("+-.0123456789IN", c) >= 0:
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			try(doc.Int(n))
		}
		if f, err := strconv.ParseFloat(text, 64); err == nil {
			try(doc.Double(f))
		}
		if d, ok := doc.ParseDecimal(text); ok {
			try(d.Value())
		}
	case c == 't' || c == 'f' || c == 'n':
		for _, v := range []doc.Value{doc.Bool(true), doc.Bool(false), doc.Null()} {
			try(v)
		}
	}
	return list
}

// fromExtendedJSON converts extended JSON to the values that an _id is likely to have.
func fromExtendedJSON(v doc.Value) doc.Value {
	if doc.IsArray(v) {
		var list []doc.Value
		for element := range doc.Elements(v) {
			list = append(list, fromExtendedJSON(element))
		}
		return arrayOf(list...)
	}
	d, ok := doc.AsDoc(v)
	if !ok {
		return v
	}
	for name, inner := range doc.Members(d) {
		if special, ok := extendedValue(name, inner); ok {
			return special
		}
		break
	}
	at, kept := bsoncore.AppendDocumentStart(nil)
	for name, member := range doc.Members(d) {
		kept = doc.AppendElement(kept, name, fromExtendedJSON(member))
	}
	kept, _ = bsoncore.AppendDocumentEnd(kept, at)
	return doc.Object(kept)
}

// extendedValue is the value that the extended JSON {wrapper: v} stands for.
func extendedValue(wrapper string, v doc.Value) (doc.Value, bool) {
	text, _ := doc.AsString(v)
	fields, _ := doc.AsDoc(v)
	switch wrapper {
	case "$oid":
		raw, err := hex.DecodeString(text)
		if err != nil || len(raw) != 12 {
			return v, false
		}
		return doc.ObjectID([12]byte(raw)), true
	case "$date":
		if ms, err := strconv.ParseInt(textOf(fields, "$numberLong"), 10, 64); err == nil {
			return doc.Date(ms), true
		}
		at, err := time.Parse(time.RFC3339Nano, text)
		return doc.Date(at.UnixMilli()), err == nil
	case "$binary":
		data, err := base64.StdEncoding.DecodeString(textOf(fields, "base64"))
		subtype, wrong := strconv.ParseUint(textOf(fields, "subType"), 16, 8)
		return doc.Value{Type: bsoncore.TypeBinary, Data: bsoncore.AppendBinary(nil, byte(subtype), data)},
			err == nil && wrong == nil
	case "$numberDecimal":
		d, ok := doc.ParseDecimal(text)
		return d.Value(), ok
	case "$numberDouble":
		f, err := strconv.ParseFloat(text, 64)
		return doc.Double(f), err == nil
	case "$timestamp":
		t, ok := doc.AsInt(doc.Lookup(fields, "t"))
		i, also := doc.AsInt(doc.Lookup(fields, "i"))
		return doc.Timestamp(uint32(t), uint32(i)), ok && also
	case "$minKey":
		return doc.Value{Type: bsoncore.TypeMinKey}, true
	case "$maxKey":
		return doc.Value{Type: bsoncore.TypeMaxKey}, true
	}
	return v, false
}

// mongoKey finds the key of the item shown with an id: the first candidate that exists. If none exists, it is the key
// of the string.
func (a *API) mongoKey(ctx context.Context, v catalog.View, id string) (store.Key, error) {
	candidates := mongoIDs(id)
	first := store.Identity(candidates[0])
	if len(candidates) == 1 {
		return first, nil
	}
	for _, candidate := range candidates {
		key := store.Identity(candidate)
		err := a.store.Read(ctx, v, key, func(found access.Document) error {
			// equal to candidate, but shown with another id
			if string(appendMongoID(nil, doc.Lookup(found.Body, "_id"))) != id {
				return errNoItem
			}
			return nil
		})
		if fault.KindOf(err) != fault.NotFound {
			return key, err
		}
	}
	return first, nil
}

// mongoKeyOf finds the item with a number, and the id under which it is shown. It fails with fault.NotFound.
func (a *API) mongoKeyOf(ctx context.Context, v catalog.View, number uint64) (key store.Key, id string, err error) {
	err = a.store.Find(ctx, v, number, func(found access.Document) error {
		own := doc.Lookup(found.Body, "_id")
		key, id = store.Identity(own), string(appendMongoID(nil, own))
		return nil
	})
	return key, id, err
}

// mongoItemKey is itemKey for a container of the MongoDB API.
func (e *exchange) mongoItemKey(v catalog.View) (key store.Key, err error) {
	id := e.name
	number, ok := itemNumber(v.Container, e.name)
	if ok = ok && e.byRID; ok {
		if key, id, err = e.api.mongoKeyOf(e.Context(), v, number); fault.KindOf(err) == fault.NotFound {
			ok, id = false, e.name
		}
	}
	if !ok {
		key, err = e.api.mongoKey(e.Context(), v, id)
	}
	if err != nil {
		return key, err
	}
	return key, e.grant.authorizeItem(e, v, key, id)
}
