package query

import (
	"errors"
	"strings"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/pipeline"
	"github.com/mayflydb/mayfly/internal/mongo/plan"
	"github.com/mayflydb/mayfly/internal/mongo/session"
)

// errEnough ends a walk over values that nobody wants any more.
var errEnough = errors.New("enough")

// RowsByValue gives documents of a selection such that each value at a path is that of one of them: from an index, one
// document for each value, if there is one; else all documents. Elements of arrays are values.
func RowsByValue(o *session.Operation, q *Selection, path string) pipeline.Rows {
	return func(yield func(doc.Doc, error) bool) {
		ok, err := eachValue(o, q, path, true, false, func(body doc.Doc, _ int64) error {
			if !yield(body, nil) {
				return errEnough
			}
			return nil
		})
		switch {
		case err == errEnough:
		case err != nil:
			yield(nil, err)
		case !ok:
			Rows(o, q)(yield)
		}
	}
}

// eachValue calls use for each value at a path, see access.ByValue. It is not ok if no index helps, which may be known
// only after some calls.
func eachValue(
	o *session.Operation, q *Selection, path string, nulls, count bool, use func(body doc.Doc, n int64) error,
) (ok bool, err error) {
	if q.Container == nil || o.Transaction != nil || q.Sort != nil || q.Skip > 0 || q.Limit > 0 ||
		ViewOf(q.Container) != nil {
		return false, nil
	}
	err = WithPlan(o, q, func(v catalog.View, p *plan.Plan) (begun bool, err error) {
		by, of, has := p.ByValue(path, !nulls)
		if ok = has && v.Dialect == catalog.Mongo; !ok {
			return false, nil
		}
		of.Count = count
		if o.Trace.On {
			of.Stats = &o.Trace.Stats
		}
		ok, err = o.Node.Store.EachValue(o.Context, v, &of, func(body doc.Doc, n uint64) error {
			if !begun {
				begun = true
				o.TracePlan(by, &by.Access)
				o.Node.Used(v.Container, by)
			}
			if err := o.Pass(len(body)); err != nil {
				return err
			}
			return use(body, int64(n))
		})
		return begun, err
	})
	return ok, err
}

// groupedRows gives the groups of a first stage that needs of its documents the value of a field, and how many have it:
// from an index, if one helps, else those of rest.
func (q *Selection) groupedRows(p *PipelineCursor, g *pipeline.Grouping, rest pipeline.Rows) pipeline.Rows {
	return func(yield func(doc.Doc, error) bool) {
		var counted groups
		defer func() { p.Holding.Give(counted.held) }()
		ok, err := eachValue(p.current, q, g.Path, false, g.Counts, func(body doc.Doc, n int64) error {
			return counted.add(p, valueAt(body, g.Path), n)
		})
		switch {
		case err != nil:
			yield(nil, err)
			return
		case !ok:
			p.Holding.Give(counted.held)
			counted = groups{}
			rest(yield)
			return
		}
		for i, key := range counted.keys {
			if !yield(g.Group(key, counted.n[i]), nil) {
				return
			}
		}
	}
}

// groups are groups that wait until all have been counted, since no snapshot is open between two batches. A value may
// come several times: one of which entries have only a part, or with several values of the columns before it.
type groups struct {
	byKey map[string]int
	keys  []doc.Value
	n     []int64
	held  int64
}

// groupBytes is what a group takes beside its key.
const groupBytes = 150

func (x *groups) add(p *PipelineCursor, key doc.Value, n int64) error {
	if key.Type == 0 {
		key = doc.Null()
	}
	form := doc.AppendCanonicalBSON(nil, key)
	if at, again := x.byKey[string(form)]; again {
		x.n[at] += n
		return nil
	}
	size := int64(len(form) + len(key.Data) + groupBytes)
	if x.held+size > pipeline.MaxMemory {
		return code.New(code.QueryExceededMemoryLimitNoDiskUseAllowed, "the groups used too much memory")
	}
	if err := p.Holding.Take(size); err != nil {
		return err
	}
	if x.held += size; x.byKey == nil {
		x.byKey = map[string]int{}
	}
	x.byKey[string(form)] = len(x.keys)
	x.keys, x.n = append(x.keys, doc.Clone(key)), append(x.n, n)
	return nil
}

// valueAt is the value at a dotted path without arrays, the zero Value if there is none.
func valueAt(d doc.Doc, path string) doc.Value {
	for {
		name, rest, more := strings.Cut(path, ".")
		v := doc.Lookup(d, name)
		if !more {
			return v
		}
		if d, path = nil, rest; v.Type == bsoncore.TypeEmbeddedDocument {
			d = v.Data
		}
		if d == nil {
			return doc.Value{}
		}
	}
}
