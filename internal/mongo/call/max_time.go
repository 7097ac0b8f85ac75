package call

import (
	"math"
	"time"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
)

// maxMaxTime bounds maxTimeMS.
const maxMaxTime = 24 * time.Hour

// readMaxTime reads maxTimeMS. The commands aggregate and getMore check its type as they check other
// members, and aggregate its sign too; all others leave that to one parser.
// mongodb/mongo: src/mongo/db/query/max_time_ms_parser.cpp
func readMaxTime(r *Request, v doc.Value) error {
	n, ok := WholeOf(v)
	switch {
	case !ok && v.Type != bsoncore.TypeNull && (r.Name == "aggregate" || r.Name == "getMore"):
		return r.WrongType("maxTimeMS", v, "[long, int, decimal, double]")
	case !ok:
		return code.New(code.BadValue, "maxTimeMS must be a number")
	case n < 0 && r.Name == "aggregate":
		return code.New(ValueTooSmall, "BSON field 'maxTimeMS' value must be >= 0, actual value '%d'", n)
	case n < 0 || n > math.MaxInt32:
		return code.New(code.BadValue, "%d value for maxTimeMS is out of range [0, %d]", n, math.MaxInt32)
	}
	if f, _ := doc.AsFloat(v); f != math.Trunc(f) {
		return code.New(code.BadValue, "maxTimeMS has non-integral value")
	}
	r.MaxTime = min(time.Duration(n)*time.Millisecond, maxMaxTime)
	return nil
}
