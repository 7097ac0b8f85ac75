package pipeline

import (
	"context"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/filter"
	"github.com/mayflydb/mayfly/internal/storytest"
)

// FuzzPipeline compiles what may be a pipeline and runs it. It may fail, with a
// *code.Error, and may neither panic nor make broken BSON.
func FuzzPipeline(f *testing.F) {
	for _, asked := range storytest.Given(f, "testdata/*.txt", storytest.Blocks) {
		if strings.HasPrefix(asked, "[") && !strings.Contains(asked, "0.000001") {
			f.Add(relaxed(asked))
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		var raw bson.Raw
		if bson.UnmarshalExtJSON([]byte(`{"v": `+text+`}`), false, &raw) != nil {
			return
		}
		var stages []doc.Value
		for v := range doc.Elements(doc.Lookup(doc.Doc(raw), "v")) {
			stages = append(stages, v)
		}
		p, err := Compile(stages, Options{})
		if err != nil {
			if code.Of(err) == nil {
				t.Fatalf("%s: %v", text, err)
			}
			return
		}
		p.Prefix()
		p.Containers()
		m := &memory{containers: map[string][]doc.Doc{"c": nil}}
		for d := range orders(3) {
			m.containers["c"] = append(m.containers["c"], d)
		}
		rows := 0
		for d, err := range p.Run(context.Background(), orders(3), m.env()) {
			if err != nil {
				if code.Of(err) == nil {
					t.Fatalf("%s: %v", text, err)
				}
				return
			}
			if err := d.Validate(); err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			if rows++; rows > 1000 {
				return
			}
		}
	})
}

// FuzzProjection compiles what may be a projection of find and uses it.
func FuzzProjection(f *testing.F) {
	for _, text := range []string{
		`{a: 1}`, `{"a.b": 0}`, `{"tags.$": 1}`, `{tags: {$slice: -1}}`, `{tags: {$elemMatch: {$gt: 1}}}`,
		`{o: {n: "$k"}, _id: 0}`,
		`{"tags.x": {$literal: 1}}`, `{"o.n": {$slice: [1, 2]}}`,
	} {
		f.Add(relaxed(text))
	}
	query, err := filter.Compile(document(f, `{tags: "tag"}`), filter.Options{})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var raw bson.Raw
		if bson.UnmarshalExtJSON([]byte(text), false, &raw) != nil {
			return
		}
		p, err := CompileProjection(doc.Doc(raw), ProjectionOptions{Find: true, Filter: query})
		if err != nil {
			return
		}
		scope := newRun(context.Background(), &Env{Now: now}, compile(t, `[]`).names).scope()
		for d := range orders(3) {
			scope.Reset(doc.Object(d))
			out, err := p.Apply(nil, d, filter.Where{Path: "tags", Element: 1, Found: true}, scope)
			if err == nil && out.Validate() != nil {
				t.Fatalf("%s makes broken BSON", text)
			}
		}
	})
}
