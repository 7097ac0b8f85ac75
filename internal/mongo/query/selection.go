package query

import (
	"bytes"
	"math"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/expression"
	"github.com/mayflydb/mayfly/internal/mongo/filter"
	"github.com/mayflydb/mayfly/internal/mongo/pipeline"
	"github.com/mayflydb/mayfly/internal/mongo/plan"
	"github.com/mayflydb/mayfly/internal/mongo/session"
	"github.com/mayflydb/mayfly/internal/mongo/work"
)

// Sorts reads a sort. {$natural: 1} is the order of creation.
func (q *Selection) Sorts(spec doc.Doc) (err error) {
	if doc.IsEmpty(spec) {
		return nil
	}
	if v := doc.Lookup(spec, "$natural"); v.Type != 0 {
		if name, more := onlyMember(spec); more {
			return code.New(code.BadValue, "Cannot include '$natural' in compound sort: %s",
				code.Show(doc.Object(spec)))
		} else if f, ok := doc.AsFloat(v); !ok || f != 1 && f != -1 {
			return code.New(code.BadValue, "%s sort cannot be set to a value other than -1 or 1.", name)
		}
		return q.Hinted(doc.Object(spec))
	}
	q.Sort, err = pipeline.CompileSort(spec)
	return err
}

// onlyMember gives the name of the first member, and whether there are others.
func onlyMember(d doc.Doc) (name string, more bool) {
	for n := range doc.Members(d) {
		if name != "" {
			return name, true
		}
		name = n
	}
	return name, false
}

// Hinted takes a hint, copied. {$natural: -1} is the order of creation from the end.
func (q *Selection) Hinted(v doc.Value) error {
	switch v.Type {
	case 0:
		return nil
	case bsoncore.TypeString, bsoncore.TypeEmbeddedDocument:
		if d, ok := doc.AsDoc(v); !ok || !doc.IsEmpty(d) {
			q.Hint = doc.Clone(v)
			natural, _ := doc.AsFloat(doc.Lookup(d, "$natural"))
			q.Reverse = natural < 0
		}
		return nil
	}
	return code.New(code.FailedToParse, "Hint must be a string or an object")
}

// OnlyID is the value of a query {_id: value}, missing for any other query.
func OnlyID(query doc.Doc) (id doc.Value) {
	n := 0
	for name, v := range doc.Members(query) {
		if n++; n > 1 || name != "_id" {
			return doc.Value{}
		}
		switch v.Type {
		case bsoncore.TypeEmbeddedDocument, bsoncore.TypeArray, bsoncore.TypeRegex, bsoncore.TypeNull,
			bsoncore.TypeUndefined:
			return doc.Value{}
		}
		id = v
	}
	return id
}

// A Selection is which documents of one container a command is about, and in which order. It owns
// its memory, so that a cursor can go on with it.
type Selection struct {
	Container *catalog.Container // nil when there is none, which has no documents
	Given     session.Records    // the documents where there is no container
	Namespace string
	Filter    *filter.Filter // nil accepts all
	Query     doc.Doc        // filter as the client wrote it
	Sort      *pipeline.Sort // nil for any order
	Reverse   bool           // natural order from the end
	Skip      int64
	Limit     int64 // 0 for none
	Hint      doc.Value
	Vars      []doc.Value // of the command's let
	nosql     *nosqlView  // of a NoSQL container, once it is read
	Names     *expression.Names
	plan      *plan.Plan // that the last walk from the start has followed
	chosen    *plan.Plan // by the last Plan
	rules     bool       // plans go by rules alone

	memory pipeline.Memory // of a sort; nil is that of the operation
}

// Scope is what a filter's $expr is evaluated in, nil when it needs none.
func (q *Selection) Scope(o *session.Operation) *expression.Scope {
	switch {
	case q.Filter == nil:
		return nil
	case !q.Filter.NeedsScope():
		o.Plain.Meter = o.Work()
		return &o.Plain
	}
	return o.Scope(q.Names, q.Vars)
}

// wanted is how many documents the selection needs before it skips, 0 for all.
func (q *Selection) wanted() int64 {
	if q.Limit == 0 || q.Skip > math.MaxInt64-q.Limit {
		return 0
	}
	return q.Skip + q.Limit
}

// Matches reports whether a document is selected.
func (q *Selection) Matches(d doc.Doc, s *expression.Scope) (bool, error) {
	if q.Filter == nil {
		return true, nil
	}
	if s != nil {
		s.Reset(doc.Object(d))
	}
	return q.Filter.Match(d, s)
}

// memoryOf is whose memory a sort takes.
func (q *Selection) memoryOf(o *session.Operation) pipeline.Memory {
	if q.memory != nil {
		return q.memory
	}
	return session.StageMemory{Memory: o.Memory}
}

// ordered sorts rows that the plan does not give in order.
func (q *Selection) ordered(memory pipeline.Memory, w *work.Meter, rows pipeline.Rows, p *plan.Plan) pipeline.Rows {
	if q.Sort == nil || p.Sorted {
		return rows
	}
	// With a limit the sort holds only as many documents as can be in the answer.
	return q.Sort.RowsWithin(memory, w, rows, q.wanted())
}

// toSkip is how many documents are to be skipped.
func (q *Selection) toSkip() int { return int(min(q.Skip, math.MaxInt)) }

// Cut skips and limits rows.
func (q *Selection) Cut(rows pipeline.Rows) pipeline.Rows {
	skip := q.toSkip()
	return q.cut(&skip, rows)
}

// cut limits rows, and skips as many as skip says when they come.
func (q *Selection) cut(skip *int, rows pipeline.Rows) pipeline.Rows {
	if q.Skip == 0 && q.Limit == 0 {
		return rows
	}
	return func(yield func(doc.Doc, error) bool) {
		left := q.Limit
		for d, err := range rows {
			if err == nil && *skip > 0 {
				*skip--
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

// canExpire reports whether documents of the selection may end.
func (q *Selection) canExpire() bool {
	st := q.Container.State()
	return st.Policy.On() || !st.Policy.Plain()
}

// CompileQuery compiles a query that outlives the operation's memory.
func CompileQuery(o *session.Operation, query doc.Doc, names *expression.Names) (*filter.Filter, error) {
	if doc.IsEmpty(query) {
		return nil, nil
	}
	return filter.Compile(bytes.Clone(query), filter.Options{Names: names})
}
