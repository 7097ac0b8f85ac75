package store

import (
	"bytes"
	"context"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/keys"
	"github.com/mayflydb/mayfly/internal/kv"
)

// Identity is the Key of the document with that _id, in a container whose documents have one.
func Identity(id doc.Value) Key { return Key{ID: string(keys.AppendID(nil, id))} }

// EffectivePartitionKey is the hash that SDKs compute from partition key values: bytes whose upper-case hex is their
// text.
func EffectivePartitionKey(st *catalog.State, values []doc.Value) []byte {
	return keys.EffectivePartitionKey(nil, keys.PartitionVersion(st.Partition.Version), st.Partition.Multi, values)
}

// dead reports whether a record does not exist for v. It is the only way from a record to an answer.
func dead(v catalog.View, h keys.Header, body doc.Doc) bool {
	return v.Policy.Dead(versionOf(h, body), v.Now)
}

// versionOf is what the rule of lifetime looks at in a record.
func versionOf(h keys.Header, body doc.Doc) expiry.Document {
	return expiry.Document{Wrote: h.Stamp, TTL: expiry.TTL(h.TTL), Sequence: h.Sequence, Body: body}
}

// document makes a living Document of a record.
func document(v catalog.View, number uint64, h keys.Header, body doc.Doc) access.Document {
	d := access.Document{
		Number:  number,
		Version: access.Version{Sequence: h.Sequence, Stamp: h.Stamp},
		TTL:     expiry.TTL(h.TTL),
		Body:    body,
	}
	if !v.Policy.Lasting(d.TTL) {
		d.Deadline, _ = v.Policy.Deadline(versionOf(h, body))
	}
	return d
}

func corrupt(err error, what string) error {
	return fault.Wrap(fault.Corrupt, err, "The stored %s cannot be read. Run mayfly check.", what)
}

// getNumber reads a value that is a document number.
func getNumber(ctx context.Context, r kv.Reader, key []byte) (number uint64, found bool, err error) {
	found, err = r.Get(ctx, key, func(value []byte) error {
		var err error
		if number, err = keys.DecodeNumber(value); err != nil {
			return corrupt(err, "document number")
		}
		return nil
	})
	return number, found, err
}

// getRecord calls use with a record, and reports whether there is one.
func getRecord(ctx context.Context, r kv.Reader, key []byte, use func(keys.Header, doc.Doc) error) (bool, error) {
	return r.Get(ctx, key, func(value []byte) error {
		h, body, err := keys.DecodeHeader(value)
		if err != nil {
			return corrupt(err, "document")
		}
		return use(h, body)
	})
}

// eachRecordIn calls use with every record of a range.
func eachRecordIn(
	ctx context.Context, r kv.Reader, rng keys.Range, use func(number uint64, h keys.Header, body doc.Doc) error,
) error {
	lower, upper := rng.Bounds(keys.KindRecord)
	return walk(ctx, r, lower, upper, func(it kv.Iterator) error {
		number, err := keys.Number(it.Key())
		if err != nil {
			return corrupt(err, "document")
		}
		h, body, err := keys.DecodeHeader(it.Value())
		if err != nil {
			return corrupt(err, "document")
		}
		return use(number, h, body)
	})
}

// copyRecord is getRecord with a body that the caller may keep.
func copyRecord(ctx context.Context, r kv.Reader, key []byte) (h keys.Header, body doc.Doc, found bool, err error) {
	found, err = getRecord(ctx, r, key, func(header keys.Header, b doc.Doc) error {
		h, body = header, bytes.Clone(b)
		return nil
	})
	return h, body, found, err
}
