package update

import (
	"bytes"
	"encoding/binary"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
)

// Replace returns the replacement of old: the _id of old first, if it has one, then the replacement's members. An empty
// timestamp at the root becomes the timestamp of in. If the bytes are the same, it returns old itself, not changed.
// Errors are *code.Error: ImmutableField if the replacement has another _id, and DollarPrefixedFieldName if a name in
// it begins with $ and in is not inserting.
// https://www.mongodb.com/docs/v7.0/reference/method/db.collection.replaceOne/
func Replace(old, replacement doc.Doc, in Input) (d doc.Doc, changed bool, err error) {
	if !in.Inserting {
		if err := checkDollarNames(replacement); err != nil {
			return nil, false, err
		}
	}
	return replace(old, stamped(replacement, in), in)
}

// Transform is Replace for the result of a pipeline on old. Names at the root may begin with $.
func Transform(old, result doc.Doc, in Input) (d doc.Doc, changed bool, err error) {
	return replace(old, result, in)
}

func replace(old, d doc.Doc, in Input) (out doc.Doc, changed bool, err error) {
	id, was := doc.Lookup(d, idName), doc.Lookup(old, idName)
	if !doc.IsUndefined(id) && !doc.IsUndefined(was) && !doc.EqualBSON(id, was) {
		return nil, false, code.New(code.ImmutableField,
			"After applying the update, the (immutable) field '_id' was found to have been altered to %s",
			elementText(idName, id))
	}
	if doc.IsUndefined(id) {
		id = was
	}
	d = withID(d, id)
	if bytes.Equal(old, d) {
		return old, false, nil
	}
	x := run{in: in}
	if err := x.checkSize(d); err != nil {
		return nil, false, err
	}
	if depthOf(doc.Object(d)) > MaxDepth {
		return nil, false, tooDeep()
	}
	return d, true, CheckID(id)
}

// withID is d with id as its first member and without any other _id.
func withID(d doc.Doc, id doc.Value) doc.Doc {
	if doc.IsUndefined(id) {
		return d
	}
	for name, v := range doc.Members(d) {
		if name == idName && unchanged(v, id) {
			return d
		}
		break
	}
	out := doc.AppendElement(make([]byte, 4, len(d)+len(id.Data)+len(idName)+2), idName, id)
	for name, v := range doc.Members(d) {
		if name != idName {
			out = doc.AppendElement(out, name, v)
		}
	}
	return end(out, 0)
}

// stamped is d with the current timestamp in place of empty ones at its root.
// https://www.mongodb.com/docs/v7.0/reference/bson-types/#timestamps
func stamped(d doc.Doc, in Input) doc.Doc {
	at, copied := 4, false
	for name, v := range doc.Members(d) {
		value := at + 2 + len(name)
		at = value + len(v.Data)
		if v.Type != bsoncore.TypeTimestamp || name == idName || binary.LittleEndian.Uint64(v.Data) != 0 {
			continue
		}
		if !copied {
			d, copied = bytes.Clone(d), true
		}
		copy(d[value:], in.timestamp().Data)
	}
	return d
}
