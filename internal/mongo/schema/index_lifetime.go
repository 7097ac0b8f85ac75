package schema

import (
	"math"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/mongo/call"
	"github.com/mayflydb/mayfly/internal/mongo/code"
)

// stampField is the name by which indexes mean the system stamp, whatever a document has
// under it (T-79, A-22).
const stampField = "_ts"

// checkLifetime checks and takes in expireAfterSeconds. The rules of the field _ts are Cosmos DB's, those of
// others MongoDB's.
func (x *Index) checkLifetime(cosmos bool) error {
	if !x.Expires {
		return nil
	}
	v := doc.Lookup(x.asked, "expireAfterSeconds")
	if len(x.Columns) == 1 && x.Columns[0].Path == stampField && !x.Wildcard {
		return x.checkStampLifetime(v)
	}
	shown := code.Show(doc.Object(x.asked))
	switch {
	case cosmos:
		return code.New(code.BadValue, "The 'expireAfterSeconds' option is supported on '_ts' field only.")
	case x.Wildcard:
		return code.New(code.CannotCreateIndex, "wildcard indexes do not support TTL. Index spec: %s", shown)
	case len(x.Columns) > 1:
		return code.New(code.CannotCreateIndex,
			"TTL indexes are single-field indexes, compound indexes do not support TTL. Index spec: %s", shown)
	}
	seconds, e := lifetime(v)
	if e != nil {
		return code.New(code.CannotCreateIndex, ". Index spec: %s :: caused by :: %s", shown, e.Message)
	}
	x.Seconds = seconds
	return nil
}

// lifetime reads the seconds of a TTL index on dates: any number from 0 to the greatest int32, fractions cut off.
func lifetime(v doc.Value) (int32, *code.Error) {
	switch v.Type {
	case bsoncore.TypeInt32, bsoncore.TypeInt64, bsoncore.TypeDouble, bsoncore.TypeDecimal128:
	default:
		return 0, code.New(code.CannotCreateIndex,
			"TTL index 'expireAfterSeconds' option must be numeric, but received a type of '%s'", code.TypeName(v))
	}
	f, nan := number(v)
	switch {
	case nan:
		return 0, code.New(code.CannotCreateIndex, "TTL index 'expireAfterSeconds' option must not be NaN")
	case f <= -1:
		return 0, code.New(code.CannotCreateIndex, "TTL index 'expireAfterSeconds' option cannot be less than 0")
	case f >= math.MaxInt32+1:
		return 0, code.New(code.CannotCreateIndex,
			"TTL index 'expireAfterSeconds' option must be within the range of a 32-bit integer")
	}
	return int32(f), nil
}

// number reads any number as a double.
func number(v doc.Value) (f float64, nan bool) {
	if d, ok := doc.AsDecimal(v); ok {
		f = d.Float64()
	} else {
		f, _ = doc.AsFloat(v)
	}
	return f, math.IsNaN(f)
}

// checkStampLifetime reads the seconds of the index on _ts: -1 for no default, or from 1 to the
// greatest int32.
func (x *Index) checkStampLifetime(v doc.Value) error {
	n, ok := doc.AsInt64Exact(v)
	if !ok || n < -1 || n == 0 || n > math.MaxInt32 {
		return code.New(code.BadValue,
			"The input expireAfterSeconds '%s' is invalid. Ensure to provide a nonzero positive integer less than or "+
				"equal to '2147483647', "+
				"or '-1' which means never expire.", code.Show(v))
	}
	switch {
	case x.Unique:
		return code.New(code.BadValue, "An index on '_ts' with 'expireAfterSeconds' cannot be unique.")
	case x.Partial != nil:
		return code.New(code.BadValue,
			"An index on '_ts' with 'expireAfterSeconds' cannot have a 'partialFilterExpression'.")
	}
	x.stamp, x.ttl = true, n
	return nil
}

// stampSpec is the index that shows the lifetime of a container.
func stampSpec(st *catalog.State) doc.Doc {
	return stampIndex(st).Spec
}

func stampIndex(st *catalog.State) catalog.NamedIndex {
	x := Index{stamp: true, ttl: int64(st.Policy.Default)}
	x.Expires, x.Name, x.key = true, stampField+"_1", bsoncore.NewDocumentBuilder().AppendInt32(stampField, 1).Build()
	if st.TTLIndex != nil {
		x.Name, _ = doc.AsString(doc.Lookup(st.TTLIndex, "name"))
		x.key = call.Member(st.TTLIndex, "key")
		x.Hidden, _ = doc.AsBool(doc.Lookup(st.TTLIndex, "hidden"))
	}
	_ = x.parseKey() // it has been read before
	x.settle()
	return x.NamedIndex
}

// setLifetime sets the lifetime that counts from the stamp: the field that the API for NoSQL calls defaultTtl.
func setLifetime(r *Request, c *catalog.Container, ttl expiry.TTL, index doc.Doc) error {
	change := func(st *catalog.State) (catalog.Definition, error) {
		if ttl != expiry.Unset && st.Dialect != catalog.Mongo && st.Indexing.None { // T-66
			return catalog.Definition{}, code.New(code.BadValue,
				"Indexing mode value cannot be 'none' when 'defaultTtl' is specified in the collection")
		}
		def := st.Definition
		def.TTL, def.TTLIndex = ttl, index
		if ttl == expiry.Unset {
			def.TTLProperty = ""
		}
		return def, nil
	}
	_, effect, err := r.Node.Store.ReplaceContainer(r.Context, r.Now, c, change)
	lifetimeChanged(r, c, effect)
	return err
}
