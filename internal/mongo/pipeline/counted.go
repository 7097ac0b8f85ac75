package pipeline

import (
	"strings"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
)

// Counted splits off a first stage that needs nothing but the number of its documents: $count, and a $group of all
// documents that only counts them, which is what drivers send for countDocuments. made is its only document for a
// number above 0; there is none for 0.
func (p *Pipeline) Counted() (made func(n int64) doc.Doc, rest *Pipeline, ok bool) {
	if len(p.stages) == 0 {
		return nil, nil, false
	}
	switch s := p.stages[0].(type) {
	case *countStage:
		made = s.document
	case *group:
		made = s.counts
	}
	if made == nil {
		return nil, nil, false
	}
	_, rest = p.split(1)
	return made, rest, true
}

// split is the pipeline of the first n stages, and that of the others.
func (p *Pipeline) split(n int) (first, rest *Pipeline) {
	specs := min(n, len(p.specs))
	return &Pipeline{stages: p.stages[:n:n], names: p.names, specs: p.specs[:specs:specs]},
		&Pipeline{stages: p.stages[n:], names: p.names, specs: p.specs[specs:]}
}

// countingGroup makes the only group of a $group whose _id is a constant and whose fields only count. It is nil for
// every other one.
func countingGroup(spec doc.Value) (made func(n int64) doc.Doc) {
	key := doc.Lookup(spec.Data, "_id")
	if !isConstant(key) || !onlyCounts(spec) {
		return nil
	}
	var fields []string
	for name := range doc.Members(spec.Data) {
		if name != "_id" {
			fields = append(fields, name)
		}
	}
	return func(n int64) doc.Doc { return countedGroup(key, fields, n) }
}

// countedGroup is a group of n documents whose fields only count.
func countedGroup(key doc.Value, fields []string, n int64) doc.Doc {
	out, at := beginDoc(nil)
	out = doc.AppendElement(out, "_id", key)
	for _, name := range fields {
		out = doc.AppendElement(out, name, integer(n))
	}
	return endDoc(out, at)
}

// onlyCounts reports whether all fields of a $group are {$sum: 1} or {$count: {}}.
func onlyCounts(spec doc.Value) bool {
	for name, v := range doc.Members(spec.Data) {
		if name == "_id" {
			continue
		}
		d, _ := doc.AsDoc(v)
		one := doc.Lookup(d, "$sum")
		n, _ := doc.AsInt(one)
		if (one.Type != bsoncore.TypeInt32 || n != 1) && doc.Lookup(d, "$count").Type == 0 {
			return false
		}
	}
	return true
}

// A Grouping is a $group, or a $sortByCount, by a field, which needs of the documents of a group nothing but how many
// they are.
type Grouping struct {
	Path   string    // dotted, of the field
	Counts bool      // it has fields, which count
	Stage  *Pipeline // the stage alone
	fields []string
}

// Grouped splits off a first stage that is a Grouping.
func (p *Pipeline) Grouped() (g *Grouping, rest *Pipeline, ok bool) {
	if len(p.stages) == 0 {
		return nil, nil, false
	}
	s, ok := p.stages[0].(*group)
	if !ok || s.path == "" {
		return nil, nil, false
	}
	stage, rest := p.split(1)
	g = &Grouping{Path: s.path, Counts: len(s.fields) > 0, Stage: stage}
	for _, f := range s.fields {
		g.fields = append(g.fields, f.name)
	}
	return g, rest, true
}

// Group is the document of a group of n documents.
func (g *Grouping) Group(key doc.Value, n int64) doc.Doc {
	return countedGroup(orNull(key), g.fields, n)
}

// isConstant reports that a value is no expression.
func isConstant(v doc.Value) bool {
	switch v.Type {
	case bsoncore.TypeNull, bsoncore.TypeBoolean, bsoncore.TypeInt32, bsoncore.TypeInt64, bsoncore.TypeDouble:
		return true
	case bsoncore.TypeString:
		s, _ := doc.AsString(v)
		return !strings.HasPrefix(s, "$")
	}
	return false
}
