package plan

import "slices"

// contradiction detects that no document needs to be read: nothing satisfies the filter, or the query has no FROM.
func (b *builder) contradiction() bool {
	b.plan.Nothing = !documents(b.query) || slices.ContainsFunc(b.parts,
		func(c condition) bool { return c.kind == nothing })
	if b.plan.Nothing && documents(b.query) {
		b.plan.Exact = true
	}
	return b.plan.Nothing
}
