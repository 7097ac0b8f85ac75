package exec

import (
	"slices"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/cosmos/sql/plan"
	"github.com/mayflydb/mayfly/internal/fault"
)

// stream returns rows in the order of documents. It reads one row ahead, so that the last page has no token, and
// moves past documents without rows.
func (r *run) stream() (more bool, err error) {
	resume := r.token
	r.token.order = &r.order
	if resume.inside {
		r.token.after, r.token.inside = r.before(resume), false
	}
	r.token.after = slices.Clone(r.toWalk(r.token.after))
	defer func() { r.token.after = r.fromWalk(r.token.after) }()
	progress, end, hit := false, false, false
	given := 0 // rows of the document that are on earlier pages
	row := func(ordinal int) bool {
		hit = true
		if ordinal < given {
			return true
		}
		end, err = r.streamed(ordinal, &more)
		progress = progress || r.token.done > given
		return !end && err == nil
	}
	for d, scanErr := range r.documentsAfter(r.token.after) {
		if scanErr != nil {
			return false, scanErr
		}
		if !r.read(d) {
			if progress && fault.KindOf(r.f.err) == fault.Timeout {
				return true, nil
			}
			return false, r.f.err
		}
		r.begin(d)
		given, hit = 0, false
		id := r.identityOf(d)
		if id == resume.number {
			given = resume.done
		}
		r.token.number, r.token.done = id, given
		r.sel.each(r.f, row)
		r.hit(hit)
		if err == nil {
			err = r.f.err
		}
		if fault.KindOf(err) == fault.Timeout && progress {
			end, more, err = true, true, nil
		}
		if err != nil || end {
			r.endInside(d)
			return more, err
		}
		r.token.after = positionOf(r.token.after, d)
		r.token.number, r.token.done = 0, 0
		progress = true
	}
	return false, r.ctx.Err()
}

// endInside ends the page within a document. The next goes on right there: documents that were added in front of it
// since then are not visited. In order of creation, too, those of earlier partition key ranges come in front. Rows of a
// query in FROM have no positions, and none comes in front.
func (r *run) endInside(d *access.Document) {
	if r.inner != nil && r.order.Kind == plan.ByCreation {
		return
	}
	if r.token.done > 0 {
		r.token.after, r.token.inside = positionOf(r.token.after, d), true
	}
}

// streamed adds one row, and reports whether the page ends: before the row, which sets more, or with it.
func (r *run) streamed(ordinal int, more *bool) (end bool, err error) {
	p := r.f.mark()
	defer r.f.release(p)
	if r.full() {
		*more = r.sel.always || r.value(r.f).Type != 0
		if *more || r.f.err != nil {
			return true, r.f.err
		}
	} else if err := r.give(r.write); err != nil {
		return true, err
	}
	r.token.done = ordinal + 1
	return r.token.take == 0, nil
}
