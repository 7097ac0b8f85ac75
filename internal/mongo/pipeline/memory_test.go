package pipeline

import (
	"context"
	"errors"
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

// A counter is a Memory with a limit.
type counter struct{ limit, used, most int64 }

var errNoMemory = errors.New("no memory")

func (c *counter) Take(n int64) error {
	if c.used+n > c.limit {
		return errNoMemory
	}
	c.used += n
	c.most = max(c.most, c.used)
	return nil
}
func (c *counter) Give(n int64) { c.used -= n }

// Stages ask before they hold more, end with the error that they get, and give back what they held however they end.
func TestStagesAskForMemory(t *testing.T) {
	join := `{"$lookup": {"pipeline": [{"$documents": [` +
		strings.Repeat(`{"s": "`+strings.Repeat("x", 4000)+`"},`, 499) + `{"a": 1}]}], "as": "all"}}`
	for name, c := range map[string]string{
		"$sort":          `{"$sort": {"a": 1}}`,
		"$sort, limited": `{"$sort": {"a": 1}}, {"$limit": 8}`,
		"$group":         `{"$group": {"_id": 1, "all": {"$push": "$s"}}}`,
		"$facet":         `{"$facet": {"b": [{"$limit": 8}]}}`,
		"$sample":        `{"$sample": {"size": 8}}`,
		"$bucketAuto":    `{"$bucketAuto": {"groupBy": "$s", "buckets": 2}}`,
		"$lookup":        join,
		"$fill":          `{"$fill": {"sortBy": {"a": 1}, "output": {"s": {"method": "locf"}}}}`,
	} {
		t.Run(name, func(t *testing.T) {
			p := compileJSON(t, "["+c+"]")
			m := &counter{limit: 1 << 30}
			for _, err := range p.Run(t.Context(), large(t, 12), &Env{Memory: m}) {
				if err != nil {
					t.Fatal(err)
				}
			}
			if m.most < 2<<20 || m.used != 0 {
				t.Errorf("%d bytes were held at most, %d are left", m.most, m.used)
			}
			m = &counter{limit: 1 << 30}
			for range p.Run(t.Context(), large(t, 12), &Env{Memory: m}) {
				break
			}
			if m.used != 0 {
				t.Errorf("%d bytes are left after a run that nobody ends", m.used)
			}
			m = &counter{limit: 1 << 20}
			var failed error
			for _, err := range p.Run(t.Context(), large(t, 12), &Env{Memory: m}) {
				failed = err
			}
			if failed != errNoMemory || m.used != 0 {
				t.Errorf("without memory: %v, %d bytes are left", failed, m.used)
			}
		})
	}
}
