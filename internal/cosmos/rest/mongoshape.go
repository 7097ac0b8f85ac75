package rest

import (
	"slices"
	"sync"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
)

// A document of the MongoDB API is converted to an item before anything else uses it, so that a filter sees the same
// values as the answer. `id` is derived from `_id`, and values that JSON does not have become objects of relaxed
// extended JSON (github.com/mongodb/specifications, extended-json). Numbers stay numbers, except for Decimal128, NaN
// and the infinities.

// itemBuffers are reusable buffers for converted items.
var itemBuffers = sync.Pool{New: func() any { return new([]byte) }}

// appendMongoItem appends a document as an item without system properties. Its own members named id, or named like a
// system property, are left out.
func appendMongoItem(dst []byte, body doc.Doc) []byte {
	at, dst := bsoncore.AppendDocumentStart(dst)
	dst, text := doc.BeginString(dst, "id")
	dst = doc.EndString(appendMongoID(dst, doc.Lookup(body, "_id")), text)
	for name, v := range doc.Members(body) {
		if name != "id" && !slices.Contains(systemMembers, name) {
			dst = doc.AppendExtended(dst, name, v)
		}
	}
	dst, _ = bsoncore.AppendDocumentEnd(dst, at)
	return dst
}
