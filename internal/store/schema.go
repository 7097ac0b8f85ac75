package store

import (
	"slices"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
)

// systemMembers are those that a document has when it is read, but not when it is
// stored: no index entry tells of them.
var systemMembers = []string{"_rid", "_self", "_etag", "_attachments", "_ts"}

// Schema is what a language may know of the container to choose an Access: what the
// complete index of the view has. A path is Indexed when each value that any document has
// there has an entry; the path _ts alone always is. A composite index is listed up to its
// first column that has no entries: one of system members. A container of the Mongo dialect
// has no policy, so there nothing is said at all.
func (s *Store) Schema(v catalog.View) access.Schema {
	x := s.indexer(v)
	x.describe.Do(func() { x.schema = describe(v, x.matchers[0]) })
	return x.schema
}

func describe(v catalog.View, m *matcher) access.Schema {
	if !v.Identity().Partitioned() {
		return access.Schema{}
	}
	schema := access.Schema{
		Hierarchical: v.Partition.Multi,
		Indexed: func(path access.Path) bool {
			return isStamp(&access.Range{Path: path}) || m.covers(path)
		},
	}
	for _, path := range v.PartitionPaths() {
		schema.Partition = append(schema.Partition, stepsOf(path))
	}
	for _, columns := range m.composite {
		columns = columns[:exposed(columns)]
		list := make([]access.Column, len(columns))
		for i, c := range columns {
			list[i] = access.Column{Path: stepsOf(c.path), Descending: c.descending}
		}
		schema.Composite = append(schema.Composite, list)
	}
	return schema
}

func stepsOf(path doc.Path) access.Path {
	steps := make(access.Path, len(path))
	for i, token := range path {
		steps[i] = access.Step{Name: token.Name, Element: token.Kind == doc.TokenElement}
	}
	return steps
}

// exposed is how many columns of a composite index say something of a document as it
// is read. Those behind are the same in all entries.
func exposed(columns []column) int {
	n := slices.IndexFunc(columns, func(c column) bool {
		return len(c.path) == 0 || slices.Contains(systemMembers, c.path[0].Name)
	})
	if n < 0 {
		return len(columns)
	}
	return n
}

// covers reports whether every value at a path has an entry: what terms.value does on
// its way there.
func (m *matcher) covers(path access.Path) bool {
	if len(path) == 0 || slices.Contains(systemMembers, path[0].Name) {
		return false
	}
	n, below, here := m.root, m.root.below == included, false
	for _, step := range path {
		if step.Element {
			n = n.elements()
		} else {
			n = n.member(step.Name)
		}
		if n != nil && n.below != unsaid {
			below = n.below == included
		}
		here = below
		if n != nil && n.here != unsaid {
			here = n.here == included
		}
		if n == nil && !here {
			return false
		}
	}
	return here
}
