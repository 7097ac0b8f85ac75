package pipeline

import (
	"cmp"
	"math"
	"slices"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/expression"
	"github.com/mayflydb/mayfly/internal/mongo/work"
)

// A bucketAuto is $bucketAuto: documents in a number of groups of about the same size, in the order of a value.
// https://www.mongodb.com/docs/v7.0/reference/operator/aggregation/bucketAuto/
type bucketAuto struct {
	by      *expression.Expression
	n       int
	outputs []*statement
	round   *rounder // nil for none
}

func (s *bucketAuto) name() string { return "$bucketAuto" }

func (s *bucketAuto) rows(r *run, in Rows) Rows {
	return func(yield func(doc.Doc, error) bool) {
		scope := r.scope()
		entries, err := s.collect(r, scope, in)
		if err != nil {
			yield(nil, err)
			return
		}
		each := max(1, int(math.Round(float64(len(entries))/float64(s.n))))
		var previous doc.Value
		var buf []byte
		for number := 1; number <= s.n && len(entries) > 0; number++ {
			n := min(each, len(entries))
			if number == s.n {
				n = len(entries)
			}
			n, lower, upper := s.bounds(r.meter, entries, n, previous)
			if buf, err = s.appendBucket(buf[:0], scope, entries[:n], lower, upper); err != nil {
				yield(nil, err)
				return
			}
			if !yield(buf, nil) {
				return
			}
			previous, entries = upper, entries[n:]
		}
	}
}

// bounds extends a bucket of the first n entries by all that have the same value as its last one. It also returns the
// bounds that are its _id.
func (s *bucketAuto) bounds(
	m *work.Meter, entries []entry, n int, previous doc.Value,
) (wider int, lower, upper doc.Value) {
	lower, upper = entries[0].keys[0], entries[n-1].keys[0]
	if s.round == nil {
		for n < len(entries) && m.Equal(entries[n].keys[0], upper) {
			n++
		}
		if n < len(entries) {
			upper = entries[n].keys[0]
		}
		return n, lower, upper
	}
	if lower = previous; previous.Type == 0 {
		lower = s.round.down(entries[0].keys[0])
	}
	last := upper
	upper = s.round.up(last)
	for n < len(entries) && (m.Compare(entries[n].keys[0], upper) < 0 || m.Equal(entries[n].keys[0], last)) {
		n++
	}
	if float(upper) == 0 && n < len(entries) {
		upper = s.round.down(entries[n].keys[0])
	}
	return n, lower, upper
}

// collect keeps all documents in memory, in the order of their values.
func (s *bucketAuto) collect(r *run, scope *expression.Scope, in Rows) ([]entry, error) {
	held := r.budget("$bucketAuto")
	var docs store
	var entries []entry
	for d, err := range in {
		if err != nil {
			return nil, err
		}
		scope.Reset(doc.Object(d))
		v, err := s.by.Evaluate(scope)
		if err != nil {
			return nil, err
		}
		if s.round != nil {
			if err := s.round.check(v); err != nil {
				return nil, err
			}
		}
		v = orNull(v)
		e := entry{d: docs.keep(d), keys: []doc.Value{{Type: v.Type, Data: docs.keep(v.Data)}}, seq: len(entries)}
		if err := held.take(e.bytes() + len(v.Data)); err != nil {
			return nil, err
		}
		entries = append(entries, e)
	}
	slices.SortFunc(entries, func(a, b entry) int {
		return cmp.Or(r.meter.Compare(a.keys[0], b.keys[0]), cmp.Compare(a.seq, b.seq))
	})
	return entries, r.meter.Err()
}

func (s *bucketAuto) appendBucket(
	dst []byte, scope *expression.Scope, entries []entry, lower, upper doc.Value,
) ([]byte, error) {
	scope.Reset(doc.Object(doc.Empty))
	accumulators, err := begin(s.outputs, null, scope, doc.Empty)
	if err != nil {
		return nil, err
	}
	held := budget{stage: "$bucketAuto"}
	for _, e := range entries {
		scope.Reset(doc.Object(e.d))
		grown, err := addTo(s.outputs, accumulators, scope, e.d)
		if err == nil {
			err = held.take(grown)
		}
		if err != nil {
			return nil, err
		}
	}
	dst, at := beginDoc(dst)
	dst, id := beginDoc(appendHead(dst, bsoncore.TypeEmbeddedDocument, "_id"))
	dst = endDoc(doc.AppendElement(doc.AppendElement(dst, "min", lower), "max", upper), id)
	dst, err = appendFields(scope.Work(), dst, s.outputs, accumulators)
	return endDoc(dst, at), err
}

func parseBucketAuto(c *compiler, arg doc.Value) (stage, error) {
	if !isObject(arg) {
		return nil, code.New(40240, "The argument to $bucketAuto must be an object, but found type: %s",
			code.TypeName(arg))
	}
	s := &bucketAuto{}
	given := false
	for name, v := range doc.Members(arg.Data) {
		given = given || name == "buckets"
		if err := s.option(c, name, v); err != nil {
			return nil, err
		}
	}
	if s.by == nil || !given {
		return nil, code.New(40246, "$bucketAuto requires 'groupBy' and 'buckets' to be specified")
	}
	if s.n <= 0 {
		return nil, code.New(40243, "The $bucketAuto 'buckets' field must be greater than 0, but found: %d", s.n)
	}
	if len(s.outputs) == 0 {
		s.outputs = []*statement{counted("count")}
	}
	return s, nil
}

func (s *bucketAuto) option(c *compiler, name string, v doc.Value) (err error) {
	switch name {
	case "groupBy":
		if text, _ := doc.AsString(v); !prefixedOrExpression(v) || text == "$" {
			return code.New(40239,
				"The $bucketAuto 'groupBy' field must be defined as a $-prefixed path or an expression object, but "+
					"found: %s", code.Show(v))
		}
		s.by, err = expression.Compile(v, c.names)
	case "buckets":
		if !doc.IsNumberBSON(v) {
			return code.New(40241, "The $bucketAuto 'buckets' field must be a numeric value, but found type: %s",
				code.TypeName(v))
		}
		n, ok := doc.AsInt64Exact(v)
		if !ok || int64(int32(n)) != n {
			return code.New(40242,
				"The $bucketAuto 'buckets' field must be representable as a 32-bit integer, but found %s", code.Show(v))
		}
		s.n = int(n)
	case "output":
		if !isObject(v) {
			return code.New(40244, "The $bucketAuto 'output' field must be an object, but found type: %s",
				code.TypeName(v))
		}
		s.outputs, err = parseOutputs(c, v.Data)
	case "granularity":
		text, ok := doc.AsString(v)
		if !ok {
			return code.New(40261, "The $bucketAuto 'granularity' field must be a string, but found type: %s",
				code.TypeName(v))
		}
		s.round, err = newRounder(text)
	default:
		err = code.New(40245, "Unrecognized option to $bucketAuto: %s", name)
	}
	return err
}
