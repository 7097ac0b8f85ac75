package exec

import (
	"context"
	"iter"
	"slices"
	"time"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/cosmos/sql/function"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/fault"
)

// defaultMemory is the default of Limit.Memory.
const defaultMemory = 64 << 20

// A run computes one page.
type run struct {
	*Query
	ctx    context.Context
	source Source
	limit  Limit
	f      *frame
	write  writer
	value  eval

	out   []byte
	start int // where the page begins in out
	page  Page
	token token // the current position

	ahead int // how many documents the plan's shortcut has to find, 0 while it is not used

	kept   int  // bytes reserved with Hold for rows
	paged  int  // bytes reserved with Hold for out
	tight  bool // Hold has rejected more bytes for the page, which ends
	widest int  // bytes of the longest row

	copies []*entry // that rows are written late from
	other  *frame   // for these rows
	row    []byte   // the last of them

	rows []collected // rows of the query that this one is derived from
}

// run implements Run.
func (q *Query) run(ctx context.Context, source Source, limit Limit, dst []byte) ([]byte, Page, error) {
	if limit.Memory <= 0 {
		limit.Memory = defaultMemory
	}
	began := limit.now()
	r := &run{Query: q, ctx: ctx, source: source, limit: limit, out: dst, start: len(dst), token: *q.token}
	r.f = q.frame(source)
	*r.f.meter = function.Meter{Context: ctx, Stop: limit.Stop}
	r.write, r.value = q.sel.row.writer(), q.sel.row.eval()
	more, err := r.all()
	if err != nil {
		return dst, Page{}, err
	}
	if more {
		r.page.Next = r.token.encode()
	}
	m := &r.page.Metrics
	m.Rows, m.RowBytes = uint64(r.page.Rows), uint64(len(r.out)-r.start)
	m.Execute = max(0, limit.now()-began-m.Lookup-m.Load-m.Write)
	return r.out, r.page, nil
}

func (l *Limit) now() time.Duration {
	if l.Clock == nil {
		return 0
	}
	return l.Clock()
}

// all computes the page in the query's mode, and reports whether there is another.
func (r *run) all() (more bool, err error) {
	if r.token.take == 0 {
		return false, nil
	}
	if r.inner != nil {
		if r.rows, err = r.derive(r.inner); err != nil {
			return false, err
		}
	}
	switch r.mode {
	case modeStream:
		return r.stream()
	case modeAggregate:
		return false, r.aggregate()
	case modeGroups:
		return r.passes(r.groups)
	case modeGroupsUnique:
		return r.passes(r.groupsUnique)
	case modeDistinct:
		return r.passes(r.distinct)
	case modeRank:
		return r.passes(r.ranked)
	}
	if n := r.shortcut(); n > 0 {
		more, err := r.first(n)
		if err != access.ErrLong {
			return more, err
		}
	}
	return r.passes(r.sorted)
}

// shortcut is how many documents the plan's shortcut has to find for the page, 0 if it is of no use: if there is none,
// or rows are not documents.
func (r *run) shortcut() int {
	if r.plan.Shortcut == nil || r.mode != modeSorted || r.inner != nil || !r.documents || len(r.sel.sources) != 1 ||
		r.sel.sources[0].kind != fromDocument {
		return 0
	}
	return max(r.capacity(), 0)
}

// first returns the rows of n documents that the shortcut finds. If it fails with access.ErrLong, the page is as it was
// before: another scan may see other versions of documents, so its rows do not follow these.
func (r *run) first(n int) (more bool, err error) {
	r.ahead = n
	more, err = r.stream()
	if r.ahead = 0; err == access.ErrLong {
		r.token, r.out, r.tight = *r.Query.token, r.out[:r.start], false
		m := r.page.Metrics
		r.page = Page{Metrics: Metrics{Lookup: m.Lookup, Load: m.Load, Write: m.Write}}
	}
	return more, err
}

// documentsAfter walks what the query is about, from a position on: stored
// documents, or the rows of the query that it is derived from, or once nothing.
func (r *run) documentsAfter(after access.Position) iter.Seq2[*access.Document, error] {
	switch {
	case r.inner != nil:
		return r.derivedRows(after)
	case !r.documents:
		return once(after)
	case r.plan.Nothing:
		return func(func(*access.Document, error) bool) {}
	}
	return r.stored(after)
}

// unordered reports that the mode reads all documents, and that its rows do not depend on their order.
func (r *run) unordered() bool {
	switch r.mode {
	case modeAggregate, modeGroups, modeGroupsUnique:
		return r.inner == nil
	}
	return false
}

// stored walks documents of the source, and measures that.
func (r *run) stored(after access.Position) iter.Seq2[*access.Document, error] {
	return func(yield func(*access.Document, error) bool) {
		a := r.plan.Access
		if r.ahead > 0 {
			a = access.Access{Of: r.plan.Shortcut, First: r.ahead}
		}
		a.After, a.Unordered, a.All = after, r.unordered(), r.mode != modeStream && r.ahead == 0
		a.Texts = r.mode == modeStream && r.write != nil && r.plan.Exact && r.sel.row.hasDocument()
		m := &r.page.Metrics
		if r.passesOver(after) {
			a.Skip = &access.Skip{Left: &r.token.skip}
			defer func() {
				m.Documents, m.DocumentBytes = m.Documents+a.Skip.Passed, m.DocumentBytes+a.Skip.Bytes
				m.IndexHits += a.Skip.Passed
			}()
		}
		waited := &m.Lookup
		from := r.limit.now()
		for d, err := range r.source.Scan(r.ctx, a) {
			if r.limit.Clock != nil {
				*waited += r.limit.Clock() - from
				waited = &m.Load
			}
			if err == nil {
				m.Documents++
				m.DocumentBytes += uint64(len(d.Body))
			}
			if !yield(d, err) || err != nil {
				return
			}
			from = r.limit.now()
		}
		if r.limit.Clock != nil {
			*waited += r.limit.Clock() - from
		}
	}
}

// passesOver reports whether documents that OFFSET skips need not be read: each one is a row.
func (r *run) passesOver(after access.Position) bool {
	return r.token.skip > 0 && after == nil && r.mode == modeStream && r.ahead == 0 && r.plan.Exact && r.sel.always &&
		len(r.sel.sources) == 1 && r.sel.sources[0].kind == fromDocument
}

// once walks one row that is about no document.
func once(after access.Position) iter.Seq2[*access.Document, error] {
	return func(yield func(*access.Document, error) bool) {
		if n, _ := after.Number(); n == 0 {
			yield(&access.Document{Number: 1, Position: access.NumberPosition(nil, 1)}, nil)
		}
	}
}

// read counts the work of reading a document, and reports whether the query may go on.
func (r *run) read(d *access.Document) bool {
	return r.f.work(documentUnits + r.sel.size + len(d.Body)/function.BytesPerUnit)
}

// give appends a row to the page, unless the row is undefined or skipped by OFFSET.
func (r *run) give(write writer) error {
	began := r.limit.now()
	r.room()
	before := len(r.out)
	r.f.start = before
	if r.page.Rows > 0 {
		r.out = append(r.out, ',')
	}
	out, ok := write(r.f, r.out)
	if r.f.err == ErrNotFinite && r.token.skip > 0 {
		r.f.err = nil // the row is skipped
	}
	if !ok || r.f.err != nil || r.token.skip > 0 {
		if ok && r.f.err == nil {
			r.token.skip--
		}
		r.out = out[:before]
		return r.f.err
	}
	r.out = out
	r.f.spend(len(out) - before)
	r.widest = max(r.widest, len(out)-before)
	r.gave(1)
	if r.limit.Clock != nil {
		r.page.Metrics.Write += r.limit.Clock() - began
	}
	return nil
}

// holdStep is the smallest amount that is reserved for rows.
const holdStep = 64 << 10

// keep reserves the memory of kept rows, if it has grown.
func (r *run) keep(used int) error {
	if used <= r.kept || r.limit.Hold == nil {
		return nil
	}
	more := max(used-r.kept, holdStep)
	if err := r.limit.Hold(more); err != nil {
		return err
	}
	r.kept += more
	return nil
}

// maxRoom is how many bytes of free space at most are added to a page at once.
const maxRoom = 1 << 20

// room doubles a page that has no space for another row. The append function, which adds a quarter, would copy it more
// often.
func (r *run) room() {
	if cap(r.out)-len(r.out) < r.widest {
		r.out = slices.Grow(r.out, max(r.widest, min(len(r.out), maxRoom)))
	}
}

// gave counts rows of the page. The space of a page is reserved up to twice its length: what is beyond that is a buffer
// that the caller keeps for other pages, too.
func (r *run) gave(n int) {
	r.page.Rows += n
	if len(r.out) > r.paged && r.limit.Hold != nil {
		more := min(cap(r.out), 2*len(r.out)) - r.paged
		r.paged += more
		r.tight = r.limit.Hold(more) != nil
	}
	if r.token.take > 0 {
		r.token.take -= n
	}
}

// full reports that the page cannot take another row.
func (r *run) full() bool {
	return r.page.Rows > 0 && (r.tight || r.limit.Rows > 0 && r.page.Rows >= r.limit.Rows ||
		r.limit.Bytes > 0 && len(r.out)-r.start >= r.limit.Bytes)
}

// capacity is how many rows the page may still take, including those that OFFSET skips, or negative for any number.
func (r *run) capacity() int {
	n := -1
	if r.limit.Rows > 0 {
		n = r.limit.Rows - r.page.Rows
	}
	if r.token.take >= 0 && (n < 0 || r.token.take < n) {
		n = r.token.take
	}
	if n < 0 {
		return n
	}
	return n + r.token.skip
}

// passes computes a page of a mode that reads all documents: it repeats the pass as long as OFFSET leaves the page
// empty.
func (r *run) passes(pass func() (more bool, err error)) (more bool, err error) {
	for {
		more, err = pass()
		if err != nil || !more || r.page.Rows > 0 || r.token.take == 0 {
			return more && r.token.take != 0, err
		}
	}
}

// over calls visit for each row of each document of a mode that cannot end early.
func (r *run) over(visit func(d *access.Document, at place) bool) error {
	return r.overAfter(nil, visit)
}

func (r *run) overAfter(after access.Position, visit func(d *access.Document, at place) bool) error {
	var current *access.Document
	hit, stop := false, false
	row := func(ordinal int) bool {
		hit = true
		p := r.f.mark()
		stop = !visit(current, place{current.Number, ordinal})
		r.f.release(p)
		return !stop && r.f.err == nil
	}
	for d, err := range r.documentsAfter(after) {
		if err != nil {
			return err
		}
		if !r.read(d) {
			return r.f.err
		}
		r.begin(d)
		current, hit = d, false
		r.sel.each(r.f, row)
		r.hit(hit)
		if r.f.err != nil || stop {
			return r.f.err
		}
	}
	return r.ctx.Err()
}

// begin turns to the next document.
func (r *run) begin(d *access.Document) {
	if r.inner == nil && r.documents {
		r.f.begin(d)
		return
	}
	r.f.begin(nil)
	if r.inner != nil {
		r.f.slots[r.sel.sources[0].slot] = r.rows[d.Number-1].value
	}
}

// hit counts a document with a row. Derived rows do not count.
func (r *run) hit(hit bool) {
	if hit && r.inner == nil {
		r.page.Metrics.IndexHits++
	}
}

// aggregate computes the only row of a query with aggregates and without GROUP BY.
func (r *run) aggregate() error {
	group := make([]accumulator, len(r.sel.parts))
	counted, err := r.countOnly(group)
	if err != nil {
		return err
	}
	if !counted {
		tabulated := false
		if group, tabulated, err = r.tabulateOne(); err == nil && !tabulated {
			clear(group)
			err = r.addAll(group)
		}
		if err != nil {
			return err
		}
	}
	r.f.begin(nil)
	r.sel.finish(r.f, group)
	return r.give(r.write)
}

// addAll adds all rows to their only group.
func (r *run) addAll(group []accumulator) error {
	used := 0
	return r.over(func(_ *access.Document, at place) bool {
		for i := range r.sel.parts {
			used += group[i].add(&r.sel.parts[i], r.f, at)
		}
		r.holdGroup(used)
		return true
	})
}

// holdGroup reserves the memory of the only group.
func (r *run) holdGroup(used int) {
	if used > r.limit.Memory {
		r.f.fail(errGroup)
	} else if err := r.keep(used); err != nil {
		r.f.fail(err)
	}
}

// errGroup can occur because MAKELIST and MAKESET keep every value.
var errGroup = fault.New(fault.TooLarge, "A list or group of the query needs more memory than it may use. Select "+
	"fewer documents, or group them by more keys.")

// countOnly gets the number of documents from the source, if the query needs nothing else.
func (r *run) countOnly(group []accumulator) (counted bool, err error) {
	if !r.plan.Count || r.inner != nil || len(group) != 1 {
		return false, nil
	}
	if r.plan.Nothing {
		return true, nil
	}
	began := r.limit.now()
	n, ok, err := r.source.Count(r.ctx, r.plan.Access)
	r.page.Metrics.Lookup += r.limit.now() - began
	if ok {
		group[0].count = n
	}
	return ok, err
}

// fixedSystem is a Source that only has the system properties of one document.
type fixedSystem struct{ system doc.Doc }

func (s fixedSystem) Scan(context.Context, access.Access) iter.Seq2[*access.Document, error] {
	return func(func(*access.Document, error) bool) {}
}

func (s fixedSystem) Count(context.Context, access.Access) (uint64, bool, error) {
	return 0, false, nil
}

func (s fixedSystem) Tabulate(context.Context, access.Access, *access.Table) (access.Tabled, bool, error) {
	return access.Tabled{}, false, nil
}

func (s fixedSystem) System(dst []byte, _ *access.Document) doc.Doc { return append(dst, s.system...) }
