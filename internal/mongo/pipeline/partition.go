package pipeline

import (
	"cmp"
	"slices"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/expression"
)

// A partitioner divides documents into partitions by a value and sorts each, for stages that compute from a document's
// neighbours.
type partitioner struct {
	stage string
	by    *expression.Expression // nil for one partition
	sort  *Sort                  // nil for the order of input
}

// A partition is a sorted group of documents, with their sort keys.
type partition struct {
	r       *run
	scope   *expression.Scope
	entries []entry
	held    *budget // of the stage
}

// collect keeps all documents in memory and calls f with each partition.
func (s *partitioner) collect(r *run, in Rows, f func(p *partition) error) error {
	held := r.budget(s.stage)
	scope := r.scope()
	entries, keys, err := s.read(in, scope, &held)
	if err != nil {
		return err
	}
	slices.SortFunc(entries, func(a, b entry) int {
		if c := r.meter.Compare(keys[a.seq], keys[b.seq]); c != 0 {
			return c
		}
		if s.sort == nil {
			return cmp.Compare(a.seq, b.seq)
		}
		return s.sort.compare(r.meter, a, b)
	})
	if err := r.meter.Err(); err != nil {
		return err
	}
	for len(entries) > 0 {
		n := 1
		for n < len(entries) && r.meter.Equal(keys[entries[n].seq], keys[entries[0].seq]) {
			n++
		}
		if err := f(&partition{r, scope, entries[:n], &held}); err != nil {
			return err
		}
		entries = entries[n:]
	}
	return nil
}

// read returns the documents and, by their sequence, the values that divide them.
func (s *partitioner) read(
	in Rows, scope *expression.Scope, held *budget,
) (entries []entry, keys []doc.Value, err error) {
	var docs store
	for d, err := range in {
		if err != nil {
			return nil, nil, err
		}
		e := entry{d: docs.keep(d), seq: len(entries)}
		key := null
		if s.by != nil {
			scope.Reset(doc.Object(d))
			if key, err = s.by.Evaluate(scope); err != nil {
				return nil, nil, err
			}
			if doc.IsArray(key) {
				return nil, nil, code.New(code.TypeMismatch,
					"An expression used to partition cannot evaluate to value of type array")
			}
			key = orNull(key)
			key.Data = docs.keep(key.Data)
		}
		if s.sort != nil {
			if e.keys, err = s.sort.keys(scope.Work(), make([]doc.Value, 0, len(s.sort.parts)), e.d); err != nil {
				return nil, nil, err
			}
		}
		if err := held.take(e.bytes() + len(key.Data) + valueBytes); err != nil {
			return nil, nil, err
		}
		entries, keys = append(entries, e), append(keys, key)
	}
	return entries, keys, nil
}

// values evaluates an expression for each document.
func (p *partition) values(x *expression.Expression) ([]doc.Value, error) {
	values := make([]doc.Value, len(p.entries))
	for i, e := range p.entries {
		if err := p.r.turn(); err != nil {
			return nil, err
		}
		p.scope.Reset(doc.Object(e.d))
		v, err := x.Evaluate(p.scope)
		if err == nil {
			err = p.held.take(len(v.Data) + valueBytes)
		}
		if err != nil {
			return nil, err
		}
		values[i] = doc.Clone(v)
	}
	return values, nil
}

// parsePartitionFields parses ["a", "b.c"] to the paths and to an expression of the array of their values.
func parsePartitionFields(c *compiler, stage string, v doc.Value) (paths []path, by *expression.Expression, err error) {
	if !doc.IsArray(v) {
		return nil, nil, wrongType(stage, "partitionByFields", v, "array")
	}
	var fields list
	for e := range doc.Elements(v) {
		text, ok := doc.AsString(e)
		if !ok {
			return nil, nil, wrongType(stage, "partitionByFields", e, "string")
		}
		p, err := parsePath(text)
		if err != nil {
			return nil, nil, err
		}
		paths = append(paths, p)
		fields.add(doc.String("$" + text))
	}
	if len(paths) == 0 {
		return nil, nil, nil
	}
	wrapped, at := beginDoc(nil)
	wrapped = endDoc(doc.AppendElement(wrapped, "fields", fields.value()), at)
	by, err = expression.Compile(doc.Object(wrapped), c.names)
	return paths, by, err
}
