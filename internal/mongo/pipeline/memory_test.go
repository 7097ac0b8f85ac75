package pipeline

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
)

// large are documents of a megabyte each.
func large(t *testing.T, n int) Rows {
	body, err := bson.Marshal(bson.D{{Key: "a", Value: 1}, {Key: "s", Value: strings.Repeat("x", 1<<20)}})
	if err != nil {
		t.Fatal(err)
	}
	return func(yield func(doc.Doc, error) bool) {
		for range n {
			if !yield(body, nil) {
				return
			}
		}
	}
}

func compileJSON(t *testing.T, text string) *Pipeline {
	t.Helper()
	var list struct{ P bson.Raw }
	if err := bson.UnmarshalExtJSON([]byte(`{"P":{"p":`+text+`}}`), false, &list); err != nil {
		t.Fatal(err)
	}
	var stages []doc.Value
	for v := range doc.Elements(doc.Lookup(doc.Doc(list.P), "p")) {
		stages = append(stages, v)
	}
	p, err := Compile(stages, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestStagesHoldNoMoreTogether(t *testing.T) {
	var branches []string
	for i := range 20 {
		branches = append(branches, fmt.Sprintf(`"b%d": [{"$sort": {"a": 1}}, {"$count": "n"}]`, i))
	}
	p := compileJSON(t, `[{"$facet": {`+strings.Join(branches, ",")+`}}]`)
	var failed error
	for _, err := range p.Run(context.Background(), large(t, 60), &Env{}) {
		failed = err
	}
	if e, ok := failed.(*code.Error); !ok || e.Code != code.QueryExceededMemoryLimitNoDiskUseAllowed {
		t.Fatalf("20 sorts of 60 MB side by side: %v", failed)
	}
}

// Sorts one after the other give back what they hold.
func TestStagesGiveBack(t *testing.T) {
	p := compileJSON(t, `[`+strings.Repeat(`{"$sort": {"a": 1}},`, 12)+`{"$count": "n"}]`)
	for d, err := range p.Run(context.Background(), large(t, 60), &Env{}) {
		if err != nil {
			t.Fatal(err)
		}
		if n, _ := doc.AsInt64Exact(doc.Lookup(d, "n")); n != 60 {
			t.Fatalf("%v", d)
		}
	}
}

func TestSortEndsInTime(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	body, _ := bson.Marshal(bson.D{{Key: "a", Value: 1}})
	in := func(yield func(doc.Doc, error) bool) {
		for range 5000 {
			if !yield(body, nil) {
				return
			}
		}
		cancel()
	}
	var failed error
	for _, err := range compileJSON(t, `[{"$sort": {"a": 1}}]`).Run(ctx, in, &Env{}) {
		failed = err
	}
	if e, ok := failed.(*code.Error); !ok || e.Code != code.Interrupted {
		t.Fatalf("a sort whose request is over: %v", failed)
	}
}
