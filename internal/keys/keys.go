// Package keys defines the shapes of all keys on disk: order-preserving encodings of values, the effective partition
// key hashes of the Cosmos DB SDKs, the prefix of a logical partition, and a constructor for each kind of key.
// docs/format.md describes the same shapes. The package never uses an engine, and does not know what a key is for.
//
// Functions named Append, and the methods of Range, append to dst and return it. They do not allocate if dst is large
// enough. Decoders never panic: for bytes that do not have the expected shape they return ErrCorrupt.
package keys

import "errors"

// ErrCorrupt means that bytes are not a key or a value of the expected shape.
var ErrCorrupt = errors.New("keys: bytes do not have the expected shape")

// End is the smallest key after all keys that begin with prefix. It is nil if there is no
// such key, because prefix is empty or consists of 0xFF alone.
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
