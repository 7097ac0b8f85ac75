package query

import (
	"bytes"
	"slices"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/pipeline"
	"github.com/mayflydb/mayfly/internal/mongo/plan"
	"github.com/mayflydb/mayfly/internal/mongo/session"
)

// nosqlView shows the documents of a NoSQL container.
func (q *Selection) nosqlView(v catalog.View) *nosqlView {
	if q.nosql == nil {
		q.nosql = newNosqlView(v.Container)
	}
	return q.nosql
}

// errIndexGone ends a walk that cannot go on in its order.
var errIndexGone = code.New(code.QueryPlanKilled,
	"query plan killed :: caused by :: an index has changed or was dropped")

// maxReplans is how often a plan is made again because an index has changed during the walk.
const maxReplans = 100

// Plan chooses how to find the documents, in the same way each time that it is asked. In a transaction that has
// written, no index gives an order, since what it has written comes last.
func Plan(o *session.Operation, v catalog.View, q *Selection) (*plan.Plan, error) {
	indexes, err := o.Node.Store.Named(o.Context, v)
	if err != nil {
		return nil, err
	}
	want := plan.Query{Namespace: q.Namespace, Filter: q.Filter, Text: q.Query, Hint: q.Hint, Limit: q.wanted(),
		Like: q.chosen}
	if q.Filter != nil && q.Filter.NeedsScope() {
		want.Filter = q.Filter.Knowing(o.Scope(q.Names, q.Vars))
	}
	if q.Sort != nil {
		paths, descending := q.Sort.Paths()
		for i, path := range paths {
			want.Sort = append(want.Sort, access.NamedColumn{Path: path, Descending: descending[i]})
		}
	}
	if v.Dialect != catalog.Mongo {
		indexes = nil
	}
	count := func(of *access.IndexScan, most int) (int, error) {
		return o.Node.Store.CountEntries(o.Context, v, of, most)
	}
	if q.rules {
		count = nil
	}
	p, err := plan.Choose(want, indexes, count)
	if err == nil {
		q.chosen, p.Access.Reverse = p, q.Reverse && q.walksBack(o)
	}
	if err == nil && v.Dialect != catalog.Mongo {
		p = nosqlPlan(o, v, q, p)
	}
	// The transaction's own documents are merged in after the walk, out of order, so the result is sorted in any case.
	if err == nil && o.Transaction != nil {
		unsorted := *p
		unsorted.Sorted = len(want.Sort) == 0
		p = &unsorted
	}
	return p, err
}

// Each calls use with the documents that a selection has before skip and limit, in the order of the
// plan, from after on. use stops the walk with false.
func Each(
	o *session.Operation, q *Selection, v catalog.View, p *plan.Plan, after access.Position,
	use func(access.Document) (bool, error),
) error {
	return eachBehind(o, q, v, p, after, nil, use)
}

// eachBehind is Each without some of the first documents, if after is nil: as many as it subtracts from skip, which are
// none or some that are not wanted. use counts down skip for others.
func eachBehind(
	o *session.Operation, q *Selection, v catalog.View, p *plan.Plan, after access.Position, skip *int,
	use func(access.Document) (bool, error),
) error {
	s := q.Scope(o)
	a := p.Access
	if skip != nil && *skip > 0 && o.Transaction == nil && (q.Sort == nil || p.Sorted) {
		if only, ok := p.Skipped(); ok {
			a, a.Skip = only, &access.Skip{Left: skip}
		}
	}
	a.After = after
	o.TracePlan(p, &a)
	if after == nil {
		q.plan = p
		o.Node.Used(v.Container, p)
	} else if !sameWay(q.plan, p) {
		// A position is part of a key of its index. In another index it would mean another place.
		return errIndexGone
	}
	for d, err := range o.Scan(v, a) {
		if err != nil {
			return err
		}
		if v.Dialect != catalog.Mongo {
			if d.Body, err = q.nosqlView(v).show(o, v, d); err != nil {
				return err
			}
		}
		if err := o.Pass(len(d.Body)); err != nil {
			return err // a filter may take long with one document, and the store looks now and then only
		}
		ok, err := q.Matches(d.Body, s)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		if goOn, err := use(d); err != nil || !goOn {
			return err
		}
	}
	return nil
}

// sameWay reports whether two plans walk the same indexes in the same directions, so that a position in the walk of one
// is a position in the walk of the other.
func sameWay(a, b *plan.Plan) bool {
	return a.Access.Reverse == b.Access.Reverse && a.Access.Merged == b.Access.Merged &&
		slices.EqualFunc(a.Scans(), b.Scans(), func(x, y access.IndexScan) bool {
			return x.Index == y.Index && x.Reverse == y.Reverse
		})
}

// enter enters the container. A cursor that is open on one that was dropped ends with an error of its own, as in
// MongoDB.
func (q *Selection) enter(o *session.Operation) (catalog.View, error) {
	v, err := o.Enter(q.Container)
	if err == catalog.ErrNoOwner && o.Name == "getMore" {
		err = code.New(code.QueryPlanKilled, "collection dropped between getMore calls")
	}
	return v, err
}

// WithPlan runs do, and again with another plan when an index has changed during the walk. do tells
// whether it has given anything out, after which it cannot begin again.
func WithPlan(o *session.Operation, q *Selection, do func(v catalog.View, p *plan.Plan) (begun bool, err error)) error {
	for range maxReplans {
		v, err := q.enter(o)
		if err != nil {
			return err
		}
		p, err := Plan(o, v, q)
		if err != nil {
			return err
		}
		begun, err := do(v, p)
		if err == nil || fault.KindOf(err) != fault.Conflict || o.Transaction != nil {
			return err
		}
		if begun {
			return errIndexGone
		}
	}
	return code.New(code.QueryPlanKilled, "the indexes of the collection changed too often")
}

// Rows gives the documents of a selection in its order, skipped and limited, all within this operation.
func Rows(o *session.Operation, q *Selection) pipeline.Rows {
	return func(yield func(doc.Doc, error) bool) {
		if q.Container == nil {
			givenRows(func() *session.Operation { return o }, q)(yield)
			return
		}
		if q.Reverse && !q.walksBack(o) {
			q.Cut(reverseRows(o, q))(yield)
			return
		}
		err := WithPlan(o, q, func(v catalog.View, p *plan.Plan) (begun bool, err error) {
			if x, ok, err := q.first(o, v, p); ok || err != nil {
				if ok {
					q.Cut(x.rows)(yield)
				}
				return ok, err
			}
			skip := q.toSkip()
			found := func(yield func(doc.Doc, error) bool) {
				err = eachBehind(o, q, v, p, nil, &skip, func(d access.Document) (bool, error) {
					begun = true
					return yield(d.Body, nil), nil
				})
				if err != nil {
					yield(nil, err)
				}
			}
			var failed error
			for d, e := range q.cut(&skip, q.ordered(q.memoryOf(o), o.Work(), found, p)) {
				if e != nil {
					failed = e
					break
				}
				if !yield(d, nil) {
					break
				}
			}
			return begun, failed
		})
		if err != nil {
			yield(nil, err)
		}
	}
}

// orInOrder gives rows that are sorted, or if that takes too much memory, although a plan by rules alone avoids it, the
// other ones. A sort gives nothing before it has all.
func (q *Selection) orInOrder(current func() *session.Operation, sorted, other pipeline.Rows) pipeline.Rows {
	return func(yield func(doc.Doc, error) bool) {
		for d, err := range sorted {
			if q.avoidsSort(current(), err) {
				other(yield)
				return
			}
			if !yield(d, err) || err != nil {
				return
			}
		}
	}
}

// avoidsSort reports whether an error is that of a sort that plans by rules alone avoid. They do from now on.
func (q *Selection) avoidsSort(o *session.Operation, err error) bool {
	if q.chosen == nil || !q.chosen.SortAvoidable || !code.Is(err, code.QueryExceededMemoryLimitNoDiskUseAllowed) {
		return false
	}
	q.chosen, q.rules = nil, true
	return inOrder(o, q)
}

// walksBack reports whether the store walks from the newest document to the oldest: not in several ranges, nor through
// what a transaction has written.
func (q *Selection) walksBack(o *session.Operation) bool {
	return q.Container.State().Dialect == catalog.Mongo && o.Transaction == nil
}

// reverseRows gives the documents of a selection from the newest to the oldest, before skip. With a limit no
// more than are wanted are held.
func reverseRows(o *session.Operation, q *Selection) pipeline.Rows {
	return func(yield func(doc.Doc, error) bool) {
		forward := *q
		forward.Reverse, forward.Skip, forward.Limit = false, 0, 0
		wanted := 0
		if q.Limit > 0 && q.Skip < MaxRing && q.Limit < MaxRing {
			// The walk runs forward only. With a limit, a ring keeps the newest documents and overwrites older ones.
			wanted = int(q.Skip + q.Limit)
		}
		var held []doc.Doc
		memory, next, size, counted := q.memoryOf(o), 0, 0, 0
		defer func() { memory.Give(int64(counted)) }()
		for d, err := range Rows(o, &forward) {
			if err != nil {
				yield(nil, err)
				return
			}
			if size += len(d); size > counted {
				// Memory is taken in growing steps, to ask the shared budget rarely.
				grown := len(d) + size/2
				if err := memory.Take(int64(grown)); err != nil {
					yield(nil, err)
					return
				}
				counted += grown
			}
			if wanted == 0 || len(held) < wanted {
				held = append(held, bytes.Clone(d))
			} else {
				size -= len(held[next])
				held[next] = append(held[next][:0], d...)
				next = (next + 1) % wanted
			}
			if size > pipeline.MaxMemory {
				yield(nil,
					code.New(code.QueryExceededMemoryLimitNoDiskUseAllowed,
						"the reverse natural order used too much memory"))
				return
			}
		}
		for i := range held {
			if !yield(held[(next+2*len(held)-1-i)%len(held)], nil) {
				return
			}
		}
	}
}

// MaxRing bounds how many of the newest documents are kept in a ring.
const MaxRing = 1 << 20

// A chunk is documents that were read ahead of an operation that may end before they are wanted.
type chunk struct {
	bodies   []byte
	ends     []int
	deadline []expiry.Stamp
	epoch    uint64 // of the container, whose lifetime may have changed since
}

// Sizes of the stretches of a pausable walk: the first is small, since many clients want no more
// than that.
const (
	firstChunk = 64 << 10
	maxChunk   = 4 << 20
)

// resumable gives the documents of a selection like rows, but holds no snapshot while nobody asks: it may be
// left in the middle and gone on with by a later operation, which current gives. Documents that have expired
// between two operations are left out.
func resumable(current func() *session.Operation, q *Selection, memory *session.Holding) pipeline.Rows {
	return func(yield func(doc.Doc, error) bool) {
		if q.Container == nil {
			givenRows(current, q)(yield)
			return
		}
		skip := q.toSkip()
		if ordered := q.cut(&skip, chunked(current, q, &skip, memory)); inOrder(current(), q) {
			ordered(yield)
		} else {
			q.orInOrder(current, onlyAlive(current, q, Rows(current(), q)), ordered)(yield)
		}
	}
}

// inOrder reports whether documents are found in the order of the selection, so that no sort is needed.
func inOrder(o *session.Operation, q *Selection) bool {
	if q.Reverse && !q.walksBack(o) {
		return false
	}
	if q.Sort == nil {
		return true
	}
	v, err := o.Enter(q.Container)
	if err != nil {
		return false
	}
	p, err := Plan(o, v, q)
	return err == nil && p.Sorted
}

// chunked gives the documents of a selection without skip and limit, some at a time, or without the first of them, see
// eachBehind.
func chunked(current func() *session.Operation, q *Selection, skip *int, memory *session.Holding) pipeline.Rows {
	return func(yield func(doc.Doc, error) bool) {
		var after, last access.Position
		size, held := firstChunk, int64(0)
		defer func() { memory.Give(held) }()
		for {
			r := current()
			var s chunk
			more := false
			err := WithPlan(r, q, func(v catalog.View, p *plan.Plan) (bool, error) {
				// A sort in memory cannot be left and resumed at a position.
				if s, more = (chunk{epoch: v.Epoch()}), false; !p.Sorted {
					return true, errIndexGone
				}
				if after == nil {
					*skip = q.toSkip() // also if an index has changed
				}
				err := eachBehind(r, q, v, p, after, skip, func(d access.Document) (bool, error) {
					if need := s.size(d) - held; need > 0 {
						if need *= 2; len(s.ends) == 0 {
							if err := memory.Take(need); err != nil {
								return false, err
							}
						} else if !memory.TryTake(need) {
							// Short of memory, the chunk just ends early. Only its first document must fit.
							after, more = append(after[:0], last...), true
							return false, nil
						}
						held += need
					}
					last = append(last[:0], d.Position...)
					s.bodies = append(s.bodies, d.Body...)
					s.ends = append(s.ends, len(s.bodies))
					s.deadline = append(s.deadline, d.Deadline)
					if len(s.bodies) >= size || q.Limit > 0 && int64(len(s.ends))-q.Limit >= int64(*skip) {
						after, more = append(after[:0], d.Position...), true
						return false, nil
					}
					return true, nil
				})
				return after != nil, err
			})
			if err != nil {
				yield(nil, err)
				return
			}
			if !s.give(current, q, yield) || !more {
				return
			}
			memory.Give(held)
			held = 0
			size = min(4*size, maxChunk)
		}
	}
}

// size is how many bytes the stretch has with one more document.
func (s *chunk) size(d access.Document) int64 {
	return int64(len(s.bodies) + len(d.Body) + 16*(len(s.ends)+1))
}

func (s *chunk) give(current func() *session.Operation, q *Selection, yield func(doc.Doc, error) bool) bool {
	start := 0
	for i, end := range s.ends {
		body := s.bodies[start:end:end]
		start = end
		// Read ahead does not mean alive: a document must not be shown at or after its deadline.
		if at := s.deadline[i]; at != 0 && at <= current().Now {
			continue
		}
		// The lifetime was changed since the chunk was read, so its deadlines no longer hold: ask for each document.
		if q.Container.State().Epoch() != s.epoch {
			there, err := stillAlive(current(), q, body)
			if err != nil {
				return yield(nil, err)
			}
			if !there {
				continue
			}
		}
		if !yield(body, nil) {
			return false
		}
	}
	return true
}

// onlyAlive leaves out those documents that have ended since rows were read, when a later operation
// than the first goes on with them.
func onlyAlive(current func() *session.Operation, q *Selection, rows pipeline.Rows) pipeline.Rows {
	return func(yield func(doc.Doc, error) bool) {
		first := current()
		for d, err := range rows {
			if r := current(); err == nil && r != first && q.Container != nil {
				there, e := stillAlive(r, q, d)
				if err = e; err == nil && !there {
					continue
				}
			}
			if !yield(d, err) || err != nil {
				return
			}
		}
	}
}

// stillAlive reports whether a document is still there.
func stillAlive(o *session.Operation, q *Selection, d doc.Doc) (bool, error) {
	if q.Container == nil || o.Transaction != nil || q.Container.State().Dialect != catalog.Mongo || !q.canExpire() {
		return true, nil
	}
	v, err := o.Enter(q.Container)
	if err != nil {
		return false, err
	}
	return o.Read(v, doc.Lookup(d, "_id"), func(access.Document) error { return nil })
}
