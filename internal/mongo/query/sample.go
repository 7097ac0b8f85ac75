package query

import (
	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/mongo/pipeline"
	"github.com/mayflydb/mayfly/internal/mongo/session"
)

// sampled gives the documents of a $sample over a selection: of all documents, size that the store draws, and if it
// cannot, or if the selection is a part of them, those that drawn gives.
func (q *Selection) sampled(p *PipelineCursor, size int64, drawn pipeline.Rows) pipeline.Rows {
	current := func() *session.Operation { return p.current }
	return func(yield func(doc.Doc, error) bool) {
		numbers, ok, err := q.draw(p.current, size)
		switch {
		case err != nil:
			yield(nil, err)
		case ok:
			q.numbered(current, numbers)(yield)
		default:
			onlyAlive(current, q, drawn)(yield)
		}
	}
}

// draw draws the numbers of size documents. It is not ok if the store cannot.
func (q *Selection) draw(o *session.Operation, size int64) (numbers []uint64, ok bool, err error) {
	if q.Container == nil || q.Container.State().Dialect != catalog.Mongo || !q.countable(o) || q.Skip > 0 ||
		q.Limit > 0 {
		return nil, false, nil
	}
	v, err := q.enter(o)
	if err != nil {
		return nil, false, err
	}
	return o.Node.Store.Sample(o.Context, v, int(size), session.Random)
}

// numbered gives the documents with some numbers, but for those that have ended, or were deleted, when they are asked
// for.
func (q *Selection) numbered(current func() *session.Operation, numbers []uint64) pipeline.Rows {
	return func(yield func(doc.Doc, error) bool) {
		var body doc.Doc
		for _, number := range numbers {
			o := current()
			v, err := q.enter(o)
			if err != nil {
				yield(nil, err)
				return
			}
			err = o.Node.Store.Find(o.Context, v, number, func(d access.Document) error {
				body = append(body[:0], d.Body...)
				return nil
			})
			if fault.KindOf(err) == fault.NotFound {
				continue
			}
			if err == nil {
				o.Trace.Stats.Documents++
				err = o.Pass(len(body))
			}
			if !yield(body, err) || err != nil {
				return
			}
		}
	}
}
