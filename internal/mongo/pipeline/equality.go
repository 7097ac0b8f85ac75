package pipeline

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/expression"
	"github.com/mayflydb/mayfly/internal/mongo/filter"
	"github.com/mayflydb/mayfly/internal/mongo/work"
)

// An equality finds documents of a container by the value at a path, many times within one run. It uses an index of the
// server, else a table in memory of the whole container, else, if the container is too large for that, a scan each
// time.
type equality struct {
	r      *run
	server Server
	from   Namespace
	path   path
	text   string // the path

	tried   bool
	table   map[string][]int // of docs, by canonical value
	docs    []doc.Doc
	tooBig  bool
	arrays  bool // the path meets an array somewhere
	key     []byte
	chosen  []int
	already map[int]bool
}

// find returns the documents that {path: {$in: values}} accepts, and perhaps others if exact is false. The caller reads
// the rows before the next find.
func (e *equality) find(values []doc.Value, exact bool) Rows {
	patterns := false
	for _, v := range values {
		patterns = patterns || v.Type == bsoncore.TypeRegex
	}
	if !patterns && !e.tried {
		if rows, ok := e.server.Equal(e.r.ctx, e.from, e.text, values); ok {
			return rows
		}
	}
	if !e.tried {
		e.tried = true
		if err := e.fill(); err != nil {
			return fail(err)
		}
	}
	if !e.tooBig && !patterns && (!exact || !e.arrays) {
		return e.candidates(values, nil) // the keys of the table decide as the filter does
	}
	accepts, err := compileOneOf(e.r.meter, e.text, values, patterns)
	switch {
	case err != nil:
		return fail(err)
	case e.tooBig || patterns:
		return e.r.filtered(e.server.Documents(e.r.ctx, e.from, accepts), accepts)
	}
	return e.candidates(values, accepts)
}

// oneOfQuery is {path: {$in: values}}. Unless patterns is set, regular expressions are compared as values.
func oneOfQuery(path string, values []doc.Value, patterns bool) doc.Doc {
	var all list
	for _, v := range values {
		if patterns {
			eq, at := beginDoc(nil)
			eq = endDoc(doc.AppendElement(eq, "$eq", v), at)
			q, at := beginDoc(nil)
			v = doc.Object(endDoc(doc.AppendElement(q, path, doc.Object(eq)), at))
		}
		all.add(v)
	}
	q, at := beginDoc(nil)
	if patterns {
		return endDoc(doc.AppendElement(q, "$or", all.value()), at)
	}
	in, inAt := beginDoc(nil)
	in = endDoc(doc.AppendElement(in, "$in", all.value()), inAt)
	return endDoc(doc.AppendElement(q, path, doc.Object(in)), at)
}

// filtered yields the documents that a filter without variables accepts.
func (r *run) filtered(in Rows, accepts *filter.Filter) Rows {
	scope := &expression.Scope{Meter: r.meter}
	return r.through(in, []mapFunc{func(d doc.Doc) (doc.Doc, bool, error) {
		ok, err := accepts.Match(d, scope)
		return d, ok, err
	}})
}

// fill reads the container into the table, unless it turns out to be too large.
func (e *equality) fill() error {
	held := e.r.budget("$lookup")
	var docs store
	table := map[string][]int{}
	for d, err := range e.server.Documents(e.r.ctx, e.from, nil) {
		if err != nil {
			return err
		}
		if err := e.r.meter.Spend(work.Operator + work.Scanned(len(d))); err != nil {
			return err
		}
		d = docs.keep(d)
		grown := len(d) + entryBytes
		e.values(d, func(v doc.Value) {
			e.key = doc.AppendCanonicalBSON(e.key[:0], v)
			_ = e.r.meter.Spend(indexCost + work.Scanned(len(e.key)))
			list := table[string(e.key)]
			if len(list) > 0 && list[len(list)-1] == len(e.docs) {
				return
			}
			table[string(e.key)] = append(list, len(e.docs))
			grown += len(e.key) + entryBytes
		})
		if err := e.r.meter.Err(); err != nil {
			return err
		}
		if err := held.take(grown); err != nil {
			if !code.Is(err, code.QueryExceededMemoryLimitNoDiskUseAllowed) {
				return err
			}
			e.tooBig, e.docs = true, nil
			_ = held.take(-held.used) // a release cannot fail
			return nil
		}
		e.docs = append(e.docs, d)
	}
	e.table, e.already = table, map[int]bool{}
	return nil
}

// values calls f with every value in d that a condition on the path may be equal to: elements of arrays, whole arrays,
// and null for a missing field.
func (e *equality) values(d doc.Doc, f func(doc.Value)) {
	v, array := straight(d, e.path)
	if !array && v.Type != bsoncore.TypeUndefined {
		f(v)
		return
	}
	e.arrays = true // or a missing field, which equals null only sometimes: a filter has to decide
	f(null)
	arraysAt(e.r.meter, doc.Object(d), e.path, f)
	e.path.values(e.r.meter, doc.Object(d), f)
}

// arraysAt calls f with each array at a path.
func arraysAt(m *work.Meter, v doc.Value, p path, f func(doc.Value)) {
	for i, name := range p {
		switch v.Type {
		case bsoncore.TypeEmbeddedDocument:
			v, _ = m.Lookup(v.Data, name)
		case bsoncore.TypeArray:
			index, n := arrayIndex(name), 0
			for e := range doc.Elements(v) {
				if m.Spend(work.Element) != nil {
					return
				}
				if n == index {
					arraysAt(m, e, p[i+1:], f)
				}
				if isObject(e) {
					arraysAt(m, e, p[i:], f)
				}
				n++
			}
			return
		default:
			return
		}
	}
	if doc.IsArray(v) {
		f(v)
	}
}

// candidates yields the documents of the table that have one of the values, in the order of the container.
func (e *equality) candidates(values []doc.Value, accepts *filter.Filter) Rows {
	e.chosen = e.chosen[:0]
	clear(e.already)
	for _, v := range values {
		e.key = doc.AppendCanonicalBSON(e.key[:0], v)
		found := e.table[string(e.key)]
		if err := e.r.meter.Spend(work.Operator + work.Scanned(len(e.key)) + indexCost*len(found)); err != nil {
			return fail(err)
		}
		for _, i := range found {
			if !e.already[i] {
				e.already[i] = true
				e.chosen = append(e.chosen, i)
			}
		}
	}
	slices.Sort(e.chosen)
	return func(yield func(doc.Doc, error) bool) {
		scope := &expression.Scope{Meter: e.r.meter}
		for _, i := range e.chosen {
			if accepts != nil {
				ok, err := accepts.Match(e.docs[i], scope)
				if err != nil {
					yield(nil, err)
					return
				}
				if !ok {
					continue
				}
			}
			if !yield(e.docs[i], nil) {
				return
			}
		}
	}
}
