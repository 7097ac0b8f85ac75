// Package binaryjson decodes the binary form of JSON in which clients of Cosmos DB may send items: a tree of values,
// each after a byte with its type, with short forms for frequent values. It produces the same BSON as package doc
// does for the JSON text of the value, with the same limits. It never encodes, does not keep its input, and does not
// trust the lengths, counts and positions in it.
//
// The format is defined by its two public implementations: Azure/azure-cosmos-dotnet-v3:
// Microsoft.Azure.Cosmos/src/Json/JsonBinaryEncoding*.cs, and the crate azure_data_cosmos_driver 1.0.0:
// src/binary_json, which also documents the service's JSON text for types that JSON does not have.
package binaryjson

import (
	"sync"

	"github.com/mayflydb/mayfly/internal/doc"
)

// preamble is the first byte of the binary form. JSON text in UTF-8 cannot begin with it.
const preamble = 0x80

// Is reports whether a body is in the binary form instead of JSON text.
func Is(body []byte) bool { return len(body) > 0 && body[0] == preamble }

// Document is doc.FromJSON for a body in the binary form. opts.MaxBytes limits the body and also the smallest JSON
// text that it stands for, so short forms and references to earlier strings do not allow larger items.
func Document(dst, body []byte, opts doc.ParseOptions) (doc.Doc, error) {
	r := newReader(dst, body, opts)
	defer r.free()
	if err := r.begin(); err != nil {
		return nil, err
	}
	if m := r.peek(); m < obj0 || m > objLC4 {
		return nil, r.fail(r.at, "A JSON object was expected")
	}
	if _, err := r.root(); err != nil {
		return nil, err
	}
	return r.Bytes()[len(dst):], nil
}

// Value is doc.ValueFromJSON for a body in the binary form.
func Value(body []byte) (doc.Value, error) {
	r := newReader(nil, body, doc.ParseOptions{})
	defer r.free()
	if err := r.begin(); err != nil {
		return doc.Value{}, err
	}
	kind, err := r.root()
	if err != nil {
		return doc.Value{}, err
	}
	return doc.Value{Type: kind, Data: r.Bytes()}, nil
}

// readers are reused for their memory.
var readers = sync.Pool{New: func() any { return new(reader) }}

func newReader(dst, body []byte, opts doc.ParseOptions) *reader {
	r := readers.Get().(*reader)
	r.Reset(dst)
	r.body, r.at, r.end, r.depth = body, 0, len(body), 0
	r.skip, r.limit = opts.Skip, opts.MaxBytes
	if r.limit == 0 {
		r.limit = doc.MaxBytes
	}
	r.left = r.limit
	return r
}

func (r *reader) free() {
	const keep = 4096
	r.Reset(nil)
	r.body, r.skip = nil, nil
	if cap(r.text) <= keep {
		readers.Put(r)
	}
}
