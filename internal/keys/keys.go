// Package keys is every key shape on disk: order-preserving encodings of values, the
// effective partition key hashes of the Cosmos DB SDKs, the prefix of a logical
// partition, and one constructor per kind of key. docs/format.md draws the same shapes.
// It never reads or writes an engine, and never decides what a key is for.
//
// Functions named Append, and the methods of Range, extend dst and return it; they do
// not allocate when dst has room. Decoders never panic: bytes that are not of the
// expected shape give ErrCorrupt.
package keys

import "errors"

// ErrCorrupt says that bytes are not a key or a value of the expected shape.
var ErrCorrupt = errors.New("keys: bytes are not of the expected shape")

// End is the smallest key after every key that begins with prefix, or nil when there is
// none: prefix is empty or consists of 0xFF alone.
func End(prefix []byte) []byte {
	for i := len(prefix) - 1; i >= 0; i-- {
		if prefix[i] != 0xFF {
			end := append([]byte(nil), prefix[:i+1]...)
			end[i]++
			return end
		}
	}
	return nil
}
