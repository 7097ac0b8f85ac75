package query

import (
	"iter"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/expression"
	"github.com/mayflydb/mayfly/internal/mongo/filter"
	"github.com/mayflydb/mayfly/internal/mongo/pipeline"
	"github.com/mayflydb/mayfly/internal/mongo/plan"
	"github.com/mayflydb/mayfly/internal/mongo/session"
)

// A FindCursor is the producer of find.
type FindCursor struct {
	session.Holding
	Selection
	Projection *pipeline.Projection // nil keeps documents as they are
	after      access.Position      // of the last document given out
	Left       int64                // of the limit; 0 for none
	IsPoint    bool                 // an _id is asked for, and nothing else

	rows    func() (doc.Doc, error, bool) // of a sort in memory, pulled; nil when documents come in order by themselves
	quit    func()
	held    doc.Doc // a document that did not fit
	Current *session.Operation
}

// Fill gives documents. Where they come in order by themselves it goes on behind the last one, and
// holds nothing between operations; else it goes on with a sort in memory.
func (q *FindCursor) Fill(o *session.Operation, b *session.Batch) (done bool, err error) {
	q.Current, q.memory = o, &q.Holding
	if b.Full() {
		return false, nil // nothing was asked for
	}
	if q.rows != nil {
		return q.fillSorted(o, b)
	}
	if q.Container == nil {
		q.startSort(o)
		return q.fillSorted(o, b)
	}
	err = WithPlan(o, &q.Selection, func(v catalog.View, p *plan.Plan) (bool, error) {
		if !p.Sorted && q.Sort != nil || q.Reverse && !p.Access.Reverse {
			// A walk that has given documents cannot become a sort. It goes on below, or fails if its index is gone.
			if q.after == nil {
				q.startSort(o)
				return false, nil
			}
		}
		done, err = q.fillInOrder(o, v, p, b)
		return q.after != nil, err
	})
	if err != nil || q.rows == nil {
		return done, err
	}
	if q.chosen != nil && q.chosen.SortAvoidable {
		// A sort gives nothing before it has all, so it fails at its first document or not at all.
		d, err, ok := q.rows()
		switch {
		case q.avoidsSort(o, err):
			q.quit()
			q.rows, q.quit = nil, nil
			return q.Fill(o, b)
		case err != nil || !ok:
			return err == nil, err
		}
		q.held = d
	}
	return q.fillSorted(o, b)
}

// fillInOrder walks on from where the last batch ended. A batch that the last document fills is not the end, as in
// MongoDB, whose cursor finds out by the next getMore; where the limit or an _id says that nothing follows it is.
// mongodb/mongo: src/mongo/db/query/find.cpp, shouldSaveCursor
func (q *FindCursor) fillInOrder(
	o *session.Operation, v catalog.View, p *plan.Plan, b *session.Batch,
) (done bool, err error) {
	done = true
	var room []byte
	s := q.ProjectionScope(o)
	skip, given := q.toSkip(), q.Skip
	err = eachBehind(o, &q.Selection, v, p, q.after, &skip, func(d access.Document) (bool, error) {
		if q.Skip = int64(skip); skip > 0 {
			skip, q.Skip = skip-1, q.Skip-1
			q.after = append(q.after[:0], d.Position...)
			return true, nil
		}
		body, err := q.Project(&room, d.Body, s)
		if err != nil {
			return false, err
		}
		// The position stays before this document, so that the next batch begins with it.
		if !b.Add(body) {
			if done = false; q.after == nil {
				q.Skip = given
			}
			return false, nil
		}
		q.after = append(q.after[:0], d.Position...)
		if q.countGiven() || q.IsPoint {
			return false, nil
		}
		done = !b.Full()
		return done, nil
	})
	return done, err
}

// countGiven counts a document that the client gets, and reports whether the limit is reached.
func (q *FindCursor) countGiven() bool {
	if q.Left > 0 {
		q.Left--
		return q.Left == 0
	}
	return false
}

// ProjectionScope is what the projection is evaluated in, nil when it needs none.
func (q *FindCursor) ProjectionScope(o *session.Operation) *expression.Scope {
	if q.Projection == nil || !q.Projection.NeedsScope() {
		return nil
	}
	return o.Scope(q.Names, q.Vars)
}

// Project is what the client sees of a document.
func (q *FindCursor) Project(room *[]byte, d doc.Doc, s *expression.Scope) (doc.Doc, error) {
	if q.Projection == nil {
		return d, nil
	}
	var where filter.Where
	if s != nil {
		s.Reset(doc.Object(d))
	}
	if q.Projection.NeedsWhere() && q.Filter != nil {
		scope := q.Scope(q.Current)
		scope.Reset(doc.Object(d))
		var err error
		if _, where, err = q.Filter.Locate(d, scope); err != nil {
			return nil, err
		}
	}
	out, err := q.Projection.Apply((*room)[:0], d, where, s)
	if err == nil {
		*room = out
	}
	return out, err
}

// startSort makes ready to pull from a sort in memory.
func (q *FindCursor) startSort(o *session.Operation) {
	current := func() *session.Operation { return q.Current }
	if q.Container == nil {
		q.rows, q.quit = iter.Pull2(givenRows(current, &q.Selection))
		return
	}
	q.rows, q.quit = iter.Pull2(onlyAlive(current, &q.Selection, Rows(o, &q.Selection)))
}

// fillSorted gives documents of a sort.
func (q *FindCursor) fillSorted(o *session.Operation, b *session.Batch) (done bool, err error) {
	s := q.ProjectionScope(o)
	var room []byte
	if q.held != nil { // since the last operation, it may have ended
		there, err := stillAlive(o, &q.Selection, q.held)
		if err != nil {
			return false, err
		}
		if !there {
			q.held = nil
		}
	}
	for {
		if q.held == nil {
			if b.Full() {
				return false, nil
			}
			d, err, ok := q.rows()
			if !ok {
				return true, nil
			}
			if err != nil {
				return false, err
			}
			q.held = d
		}
		// A document that is pulled cannot be put back, so it is held until a batch takes it.
		body, err := q.Project(&room, q.held, s)
		if err != nil || !b.Add(body) {
			return false, err
		}
		q.held = nil
		if q.countGiven() {
			return true, nil
		}
	}
}

// Stop ends a sort, and gives back its memory.
func (q *FindCursor) Stop() {
	if q.quit != nil {
		q.quit()
	}
	q.Close()
}
