package command

import (
	"bytes"
	"slices"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/expression"
	"github.com/mayflydb/mayfly/internal/mongo/filter"
	"github.com/mayflydb/mayfly/internal/mongo/pipeline"
	"github.com/mayflydb/mayfly/internal/mongo/plan"
	"github.com/mayflydb/mayfly/internal/mongo/work"
)

// A selection is which documents of one container a command is about, and in which order. It owns
// its memory, so that a cursor can go on with it.
type selection struct {
	container *catalog.Container // nil when there is none, which has no documents
	ns        string
	filter    *filter.Filter // nil accepts all
	query     doc.Doc        // filter as the client wrote it
	sort      *pipeline.Sort // nil for any order
	reverse   bool           // natural order from the end
	skip      int64
	limit     int64 // 0 for none
	hint      doc.Value
	vars      []doc.Value // of the command's let
	foreign   *nosqlView  // of a NoSQL container, once it is read
	names     *expression.Names
	way       *plan.Plan // that the last walk from the start has followed

	memory pipeline.Memory // of a sort; nil is that of the request
}

// nosqlView shows the documents of a NoSQL container.
func (q *selection) nosqlView(v catalog.View) *nosqlView {
	if q.foreign == nil {
		q.foreign = newNosqlView(v.Container)
	}
	return q.foreign
}

// scope is what a filter's $expr is evaluated in, nil when it needs none.
func (q *selection) scope(r *request) *expression.Scope {
	switch {
	case q.filter == nil:
		return nil
	case !q.filter.NeedsScope():
		r.plain.Meter = r.work()
		return &r.plain
	}
	return r.scope(q.names, q.vars)
}

// scope is for expressions of the request.
func (r *request) scope(names *expression.Names, vars []doc.Value) *expression.Scope {
	s := &expression.Scope{Now: r.at, ClusterTime: r.clusterTime(), Random: random, Meter: r.work()}
	n := len(vars)
	if names != nil {
		n = max(n, names.Slots())
	}
	s.Vars = make([]doc.Value, n)
	copy(s.Vars, vars)
	return s
}

// stopped is asked about once in a millisecond of work. It fails when the request's time is up, and waits where
// large requests take turns.
func (r *request) stopped() error {
	r.watch()
	ctx := r.ctx
	if r.tx != nil {
		ctx = r.tx.ctx // of the request that runs, which may be a later one
	}
	if ctx == nil {
		return nil
	}
	if ctx.Err() != nil {
		return translate(ctx.Err())
	}
	if r.done { // it is asked for a later request, which has another share
		return nil
	}
	return r.c.memory.share.Yield(ctx)
}

// pass is asked for every document of a walk, of so many bytes.
func (r *request) pass(bytes int) error {
	l := &r.c.memory
	if l.passed += bytes + passCost; l.passed < passQuantum {
		if r.ctx == nil || r.ctx.Err() == nil {
			return nil
		}
	}
	l.passed = 0
	return r.stopped()
}

// Work of about a millisecond, in what the documents of a walk cost.
const (
	passCost    = 256 // of a document, beside its bytes
	passQuantum = 64 << 10
)

// matches reports whether a document is selected.
func (q *selection) matches(d doc.Doc, s *expression.Scope) (bool, error) {
	if q.filter == nil {
		return true, nil
	}
	if s != nil {
		s.Reset(doc.Object(d))
	}
	return q.filter.Match(d, s)
}

// errIndexGone ends a walk that cannot go on in its order.
var errIndexGone = code.New(code.QueryPlanKilled, "query plan killed :: caused by :: an index has changed or was dropped")

// maxReplans is how often a plan is made again because an index has changed meanwhile.
const maxReplans = 100

// plan chooses how to find the documents. In a transaction that has written, no index gives an
// order, since what it has written comes last.
func (r *request) plan(v catalog.View, q *selection) (*plan.Plan, error) {
	indexes, err := r.s.o.Store.Named(v)
	if err != nil {
		return nil, err
	}
	want := plan.Query{Namespace: q.ns, Filter: q.filter, Text: q.query, Hint: q.hint, Limit: q.limit}
	if q.sort != nil {
		paths, descending := q.sort.Paths()
		for i, path := range paths {
			want.Sort = append(want.Sort, access.NamedColumn{Path: path, Descending: descending[i]})
		}
	}
	if v.Dialect != catalog.Mongo {
		indexes = nil
	}
	p, err := plan.Choose(want, indexes)
	if err == nil && v.Dialect != catalog.Mongo {
		p = r.nosqlPlan(v, q, p)
	}
	if err == nil && r.tx != nil {
		unsorted := *p
		unsorted.Sorted = len(want.Sort) == 0
		p = &unsorted
	}
	return p, err
}

// each calls use with the documents that a selection has before skip and limit, in the order of the
// plan, from after on. use stops the walk with false.
func (r *request) each(q *selection, v catalog.View, p *plan.Plan, after access.Position, use func(access.Document) (bool, error)) error {
	s := q.scope(r)
	a := p.Access
	a.After = after
	r.trace(p, &a)
	if after == nil {
		q.way = p
		r.s.used(v.Container, p)
	} else if !sameWay(q.way, p) {
		return errIndexGone
	}
	for d, err := range r.scan(v, a) {
		if err != nil {
			return err
		}
		if v.Dialect != catalog.Mongo {
			if d.Body, err = q.nosqlView(v).show(r, v, d); err != nil {
				return err
			}
		}
		if err := r.pass(len(d.Body)); err != nil {
			return err // a filter may take long with one document, and the store looks now and then only
		}
		ok, err := q.matches(d.Body, s)
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

// sameWay reports whether a position in the walk of one plan is one in that of the other.
func sameWay(a, b *plan.Plan) bool {
	return slices.EqualFunc(a.Scans(), b.Scans(), func(x, y access.IndexScan) bool {
		return x.Index == y.Index && x.Reverse == y.Reverse
	})
}

// replanned runs do, and again with another plan when an index has changed meanwhile. do tells
// whether it has given anything out, after which it cannot begin again.
func (r *request) replanned(q *selection, do func(v catalog.View, p *plan.Plan) (begun bool, err error)) error {
	for range maxReplans {
		v, err := r.enter(q.container)
		if err == catalog.ErrNoOwner && r.name == "getMore" {
			err = code.New(code.QueryPlanKilled, "collection dropped between getMore calls")
		}
		if err != nil {
			return err
		}
		p, err := r.plan(v, q)
		if err != nil {
			return err
		}
		begun, err := do(v, p)
		if err == nil || fault.KindOf(err) != fault.Conflict || r.tx != nil {
			return err
		}
		if begun {
			return errIndexGone
		}
	}
	return code.New(code.QueryPlanKilled, "the indexes of the collection changed too often")
}

// rows gives the documents of a selection in its order, skipped and limited, all within this request.
func (r *request) rows(q *selection) pipeline.Rows {
	return func(yield func(doc.Doc, error) bool) {
		if q.container == nil {
			return
		}
		if q.reverse {
			q.cut(r.backwards(q))(yield)
			return
		}
		err := r.replanned(q, func(v catalog.View, p *plan.Plan) (begun bool, err error) {
			found := func(yield func(doc.Doc, error) bool) {
				err = r.each(q, v, p, nil, func(d access.Document) (bool, error) {
					begun = true
					return yield(d.Body, nil), nil
				})
				if err != nil {
					yield(nil, err)
				}
			}
			var failed error
			for d, e := range q.cut(q.ordered(q.memoryOf(r), r.work(), found, p)) {
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

// backwards gives the documents of a selection from the newest to the oldest, before skip. With a limit no
// more than are wanted are held.
func (r *request) backwards(q *selection) pipeline.Rows {
	return func(yield func(doc.Doc, error) bool) {
		forward := *q
		forward.reverse, forward.skip, forward.limit = false, 0, 0
		wanted := 0
		if q.limit > 0 && q.skip < maxRing && q.limit < maxRing {
			wanted = int(q.skip + q.limit)
		}
		var held []doc.Doc
		memory, next, size, counted := q.memoryOf(r), 0, 0, 0
		defer func() { memory.Give(int64(counted)) }()
		for d, err := range r.rows(&forward) {
			if err != nil {
				yield(nil, err)
				return
			}
			if size += len(d); size > counted {
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
				yield(nil, code.New(code.QueryExceededMemoryLimitNoDiskUseAllowed, "the reverse natural order used too much memory"))
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

// maxRing bounds how many of the newest documents are kept in a ring.
const maxRing = 1 << 20

// memoryOf is whose memory a sort takes.
func (q *selection) memoryOf(r *request) pipeline.Memory {
	if q.memory != nil {
		return q.memory
	}
	return stageMemory{&r.c.memory}
}

// ordered sorts rows that the plan does not give in order.
func (q *selection) ordered(memory pipeline.Memory, w *work.Meter, rows pipeline.Rows, p *plan.Plan) pipeline.Rows {
	if q.sort == nil || p.Sorted {
		return rows
	}
	limit := int64(0)
	if q.limit > 0 {
		limit = q.limit + q.skip
	}
	return q.sort.RowsWithin(memory, w, rows, limit)
}

// cut skips and limits rows.
func (q *selection) cut(rows pipeline.Rows) pipeline.Rows {
	if q.skip == 0 && q.limit == 0 {
		return rows
	}
	return func(yield func(doc.Doc, error) bool) {
		skip, left := q.skip, q.limit
		for d, err := range rows {
			if err == nil && skip > 0 {
				skip--
				continue
			}
			if !yield(d, err) || err != nil {
				return
			}
			if left--; left == 0 {
				return
			}
		}
	}
}

// A stretch is documents that were read ahead of a request that may end before they are wanted.
type stretch struct {
	bodies   []byte
	ends     []int
	deadline []expiry.Stamp
	epoch    uint64 // of the container, whose lifetime may have changed since
}

// Sizes of the stretches of a pausable walk: the first is small, since many clients want no more
// than that.
const (
	firstStretch = 64 << 10
	maxStretch   = 4 << 20
)

// pausable gives the documents of a selection like rows, but holds no snapshot while nobody asks: it may be
// left in the middle and gone on with by a later request, which current gives. Documents that have expired
// meanwhile are left out.
func pausable(current func() *request, q *selection, memory *holding) pipeline.Rows {
	return func(yield func(doc.Doc, error) bool) {
		if q.container == nil {
			return
		}
		if q.reverse || !current().inOrder(q) {
			lasting(current, q, current().rows(q))(yield)
			return
		}
		q.cut(stretches(current, q, memory))(yield)
	}
}

// inOrder reports whether documents are found in the order of the selection, so that no sort is needed.
func (r *request) inOrder(q *selection) bool {
	if q.sort == nil {
		return true
	}
	v, err := r.enter(q.container)
	if err != nil {
		return false
	}
	p, err := r.plan(v, q)
	return err == nil && p.Sorted
}

// stretches gives the documents of a selection without skip and limit, some at a time.
func stretches(current func() *request, q *selection, memory *holding) pipeline.Rows {
	return func(yield func(doc.Doc, error) bool) {
		var after, last access.Position
		size, held := firstStretch, int64(0)
		defer func() { memory.Give(held) }()
		for {
			r := current()
			var s stretch
			more := false
			err := r.replanned(q, func(v catalog.View, p *plan.Plan) (bool, error) {
				if s, more = (stretch{epoch: v.Epoch()}), false; !p.Sorted {
					return true, errIndexGone
				}
				err := r.each(q, v, p, after, func(d access.Document) (bool, error) {
					if need := s.size(d) - held; need > 0 {
						if need *= 2; len(s.ends) == 0 {
							if err := memory.Take(need); err != nil {
								return false, err
							}
						} else if !memory.TryTake(need) {
							after, more = append(after[:0], last...), true
							return false, nil
						}
						held += need
					}
					last = append(last[:0], d.Position...)
					s.bodies = append(s.bodies, d.Body...)
					s.ends = append(s.ends, len(s.bodies))
					s.deadline = append(s.deadline, d.Deadline)
					if len(s.bodies) >= size || q.limit > 0 && int64(len(s.ends)) >= q.skip+q.limit {
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
			size = min(4*size, maxStretch)
		}
	}
}

// size is how many bytes the stretch has with one more document.
func (s *stretch) size(d access.Document) int64 {
	return int64(len(s.bodies) + len(d.Body) + 16*(len(s.ends)+1))
}

func (s *stretch) give(current func() *request, q *selection, yield func(doc.Doc, error) bool) bool {
	start := 0
	for i, end := range s.ends {
		body := s.bodies[start:end:end]
		start = end
		if at := s.deadline[i]; at != 0 && at <= current().now {
			continue
		}
		if q.container.State().Epoch() != s.epoch {
			there, err := current().lasts(q, body)
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

// lasting leaves out those documents that have ended since rows were read, when a later request
// than the first goes on with them.
func lasting(current func() *request, q *selection, rows pipeline.Rows) pipeline.Rows {
	return func(yield func(doc.Doc, error) bool) {
		first := current()
		for d, err := range rows {
			if r := current(); err == nil && r != first && q.container != nil {
				there, e := r.lasts(q, d)
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

// mortal reports whether documents of the selection may end.
func (q *selection) mortal() bool {
	st := q.container.State()
	return st.Policy.On() || !st.Policy.Plain()
}

// lasts reports whether a document is still there.
func (r *request) lasts(q *selection, d doc.Doc) (bool, error) {
	if r.tx != nil || q.container.State().Dialect != catalog.Mongo || !q.mortal() {
		return true, nil
	}
	v, err := r.enter(q.container)
	if err != nil {
		return false, err
	}
	return r.read(v, doc.Lookup(d, "_id"), func(access.Document) error { return nil })
}

// compileQuery compiles a query that outlives the request's memory.
func (r *request) compileQuery(query doc.Doc, names *expression.Names) (*filter.Filter, error) {
	if doc.IsEmpty(query) {
		return nil, nil
	}
	return filter.Compile(bytes.Clone(query), filter.Options{Names: names})
}

// variables reads `let`: constants that expressions of the command may use as $$name.
func (r *request) variables() (*expression.Names, []doc.Value, error) {
	names := r.newNames()
	let := r.document("let")
	if let == nil || r.err != nil {
		return names, nil, r.err
	}
	let = slices.Clone(let)
	s := r.scope(names, nil)
	s.Reset(doc.Object(doc.Empty))
	var vars []doc.Value
	inner := names
	for name, v := range doc.Members(let) {
		x, err := expression.Compile(v, names)
		if err != nil {
			return nil, nil, err
		}
		value, err := x.Evaluate(s)
		if err != nil {
			return nil, nil, err
		}
		if err := inner.Full(); err != nil {
			return nil, nil, err
		}
		var slot int
		inner, slot = inner.With(name)
		for len(vars) <= slot {
			vars = append(vars, doc.Value{})
		}
		vars[slot] = doc.Clone(value)
	}
	return inner, vars, nil
}
