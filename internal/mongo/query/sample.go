package query

import (
	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/mongo/pipeline"
	"github.com/mayflydb/mayfly/internal/mongo/session"
)

// sampled gives size random documents of a selection of all, or if the store cannot draw them, all of it: a $sample
// draws from either.
func (q *Selection) sampled(p *PipelineCursor, size int64, all pipeline.Rows) pipeline.Rows {
	return func(yield func(doc.Doc, error) bool) {
		o := p.current
		if q.Container == nil || !q.countable(o) || q.Skip > 0 || q.Limit > 0 {
			all(yield)
			return
		}
		v, err := o.Enter(q.Container)
		if err != nil {
			yield(nil, err)
			return
		}
		numbers, ok, err := []uint64(nil), false, error(nil)
		if v.Dialect == catalog.Mongo {
			numbers, ok, err = o.Node.Store.Sample(o.Context, v, int(size), session.Random)
		}
		switch {
		case err != nil:
			yield(nil, err)
		case !ok:
			all(yield)
		default:
			numbered(o, v, numbers)(yield)
		}
	}
}

// numbered gives the documents with some numbers that are still there.
func numbered(o *session.Operation, v catalog.View, numbers []uint64) pipeline.Rows {
	return func(yield func(doc.Doc, error) bool) {
		var body doc.Doc
		for _, number := range numbers {
			err := o.Node.Store.Find(o.Context, v, number, func(d access.Document) error {
				body = append(body[:0], d.Body...)
				return nil
			})
			if fault.KindOf(err) == fault.NotFound {
				continue
			}
			if err == nil {
				err = o.Pass(len(body))
			}
			if !yield(body, err) || err != nil {
				return
			}
		}
	}
}
