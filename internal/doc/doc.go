// Package doc is the model of values and documents that both APIs share: BSON bytes, which are never decoded into maps.
// It reads and writes their JSON form exactly as Cosmos DB does, numbers included, follows paths, compares values and
// edits documents in their bytes. It knows nothing of storage, time or protocols.
package doc

import "go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

// A Doc is a document: BSON bytes. A Doc that this package produced is valid.
type Doc = bsoncore.Document

// A Value is one BSON value inside a document, sharing its bytes.
// The zero Value is undefined: no such member.
type Value = bsoncore.Value

// Empty is the document without members. All users share its bytes, so nobody changes them.
var Empty = Doc{5, 0, 0, 0, 0}

// IsEmpty reports whether d has no members. Nil has none.
func IsEmpty(d Doc) bool { return len(d) <= len(Empty) }

// Limits on what a client may send.
const (
	MaxBytes = 2 << 20 // JSON text of an item; Cosmos DB's documented item limit
	MaxDepth = 128     // nesting of objects and arrays
)
