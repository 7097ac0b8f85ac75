package pipeline

import (
	"slices"
	"strings"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/work"
)

// A Sort is an order of documents, such as {a: 1, "b.c": -1}. It is compiled, immutable and safe for concurrent use.
type Sort struct {
	parts []sortPart
	spec  doc.Doc
}

type sortPart struct {
	path       path
	descending bool
}

// MaxSortKeys is how many paths a sort may have.
const MaxSortKeys = 32

// CompileSort compiles a sort of find or $sort. Errors: 15974 and 15975 for an invalid direction, 15976 for an empty
// sort. It keeps none of spec's memory.
// https://www.mongodb.com/docs/v7.0/reference/operator/aggregation/sort/
func CompileSort(spec doc.Doc) (*Sort, error) {
	s := &Sort{spec: slices.Clone(spec)}
	for name, v := range doc.Members(s.spec) {
		if err := s.add(name, v); err != nil {
			return nil, err
		}
	}
	switch {
	case len(s.parts) == 0:
		return nil, code.New(15976, "$sort stage must have at least one sort key")
	}
	return s, nil
}

func (s *Sort) add(name string, v doc.Value) error {
	if isObject(v) {
		if doc.Lookup(v.Data, "$meta").Type == 0 {
			return code.New(17312, "$meta is the only expression supported by $sort right now")
		}
		return code.Unsupported("$meta")
	}
	if !doc.IsNumberBSON(v) {
		return code.New(15974, "Illegal key in $sort specification: %s: %s", name, code.Show(v))
	}
	direction := whole32(v)
	if direction != 1 && direction != -1 {
		return code.New(15975, "$sort key ordering must be 1 (for ascending) or -1 (for descending)")
	}
	p, err := parsePath(name)
	if err != nil {
		return err
	}
	if len(s.parts) == MaxSortKeys {
		return code.New(13103, "too many compound keys")
	}
	for _, other := range s.parts {
		if slices.Equal(other.path, p) {
			return code.New(7472500, "$sort key must not contain duplicate keys (duplicate: '%s')", name)
		}
	}
	s.parts = append(s.parts, sortPart{path: p, descending: direction < 0})
	return nil
}

// Spec is the sort as it was given.
func (s *Sort) Spec() doc.Doc { return s.spec }

// First is the order by the first n paths.
func (s *Sort) First(n int) *Sort {
	if n >= len(s.parts) {
		return s
	}
	spec, at := beginDoc(nil)
	left := n
	for name, v := range doc.Members(s.spec) {
		if left--; left >= 0 {
			spec = doc.AppendElement(spec, name, v)
		}
	}
	return &Sort{parts: s.parts[:n], spec: endDoc(spec, at)}
}

// Paths lists the paths, and which of them are descending.
func (s *Sort) Paths() (paths []string, descending []bool) {
	for _, p := range s.parts {
		paths = append(paths, strings.Join(p.path, "."))
		descending = append(descending, p.descending)
	}
	return paths, descending
}

// IsPlain reports whether a document has a key, of values of at most so many bytes each.
func (s *Sort) IsPlain(d doc.Doc, bytes int) bool {
	values, err := s.keys(nil, nil, d)
	return err == nil && !slices.ContainsFunc(values, func(v doc.Value) bool { return len(v.Data) > bytes })
}

// Compare returns -1 if a sorts before b, 0 if neither does, and +1 otherwise. Documents that Keys refuses sort as if
// their arrays were empty. To sort many documents use Rows, which finds the keys of each only once.
func (s *Sort) Compare(a, b doc.Doc) int {
	x, _ := s.keys(nil, nil, a)
	y, _ := s.keys(nil, nil, b)
	if len(x) != len(s.parts) || len(y) != len(s.parts) {
		return 0
	}
	return s.compareKeys(nil, x, y)
}

func (s *Sort) compareKeys(m *work.Meter, a, b []doc.Value) int {
	for i := range s.parts {
		if c := m.Compare(a[i], b[i]); c != 0 {
			if s.parts[i].descending {
				return -c
			}
			return c
		}
	}
	return 0
}
