package expression

import (
	"encoding/binary"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
)

// timestampParts are the seconds and the ordinal of a timestamp.
func timestampParts(v doc.Value) (seconds, ordinal uint32) {
	w := binary.LittleEndian.Uint64(v.Data)
	return uint32(w >> 32), uint32(w)
}

func timestampPart(name string, mistype code.Code, part func(seconds, ordinal uint32) uint32) operator {
	return one(name, func(s *Scope, v doc.Value) (doc.Value, error) {
		if nullish(v) {
			return null, nil
		}
		if v.Type != bsoncore.TypeTimestamp {
			return doc.Value{}, code.New(mistype, " Argument to %s must be a timestamp, but is %s", name,
				code.TypeName(v))
		}
		return s.int64(int64(part(timestampParts(v)))), nil
	})
}
