package filter

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
)

// nested is inner, wrapped so many times.
func nested(levels int, inner doc.Doc, wrap func(doc.Doc) doc.Doc) doc.Doc {
	for range levels {
		inner = wrap(inner)
	}
	return inner
}

// within is {name: d} for each name, the first outermost; "[]" is an array.
func within(names ...string) func(doc.Doc) doc.Doc {
	return func(d doc.Doc) doc.Doc {
		v := doc.Object(d)
		for _, name := range slices.Backward(names) {
			if name == "[]" {
				v = doc.Array(doc.With(nil, "0", v))
				continue
			}
			v = doc.Object(doc.With(nil, name, v))
		}
		return v.Data
	}
}

func TestDepth(t *testing.T) {
	for name, query := range map[string]func(levels int) doc.Doc{
		"$and":       func(n int) doc.Doc { return nested(n, fromJSON(t, `{"a":1}`), within("$and", "[]")) },
		"$nor":       func(n int) doc.Doc { return nested(n, fromJSON(t, `{"a":1}`), within("$nor", "[]")) },
		"$elemMatch": func(n int) doc.Doc { return nested(n, fromJSON(t, `{"a":1}`), within("a", "$elemMatch")) },
		"$all": func(n int) doc.Doc {
			return nested(n, fromJSON(t, `{"a":1}`), within("a", "$all", "[]", "$elemMatch"))
		},
		"$not": func(n int) doc.Doc { return within("a")(nested(n, fromJSON(t, `{"$gt":1}`), within("$not"))) },
		"not":  func(n int) doc.Doc { return within("$jsonSchema")(nested(n, fromJSON(t, `{}`), within("not"))) },
		"items": func(n int) doc.Doc {
			return within("$jsonSchema")(nested(n, fromJSON(t, `{}`), within("items")))
		},
	} {
		if _, err := Compile(query(90), Options{}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := Compile(query(110), Options{}); !code.Is(err, code.BadValue) {
			t.Errorf("%s: %v, want it refused", name, err)
		}
	}
}

func TestTooManyConditions(t *testing.T) {
	var query []byte
	i, query := bsoncore.AppendDocumentStart(query)
	for range maxConditions + 1 {
		query = bsoncore.AppendInt32Element(query, "a", 1)
	}
	query, _ = bsoncore.AppendDocumentEnd(query, i)
	if _, err := Compile(query, Options{}); !code.Is(err, code.BadValue) {
		t.Errorf("%v, want it refused", err)
	}
}

// A number in a path is an index and a name, so that there are many ways through this.
func TestManyWaysThroughArrays(t *testing.T) {
	d := within("a")(nested(60, fromJSON(t, `{"0":1}`), within("0", "[]")))
	d = within("a", "[]")(doc.Lookup(d, "a").Data)
	f, err := Compile(fromJSON(t, `{"a`+strings.Repeat(".0", maxPathNumbers)+`":2}`), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if ok, err := f.Match(d, nil); ok || err != nil {
		t.Error(ok, err)
	}
}

// A Filter keeps nothing of the query that it was compiled from.
func TestCompileCopies(t *testing.T) {
	query := fromJSON(t, `{"a":"xy","b":{"$in":["c","d"]},"e":{"$all":["f"]}}`)
	f, err := Compile(query, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range query {
		query[i] = 0
	}
	if ok, err := f.Match(fromJSON(t, `{"a":"xy","b":"d","e":"f"}`), nil); !ok || err != nil {
		t.Error(ok, err)
	}
	if got := treeText(f.Tree(), ""); !strings.Contains(got, `Equal a "xy"`) {
		t.Error(got)
	}
}

func TestManyAtOnce(t *testing.T) {
	f, err := Compile(fromJSON(t,
		`{"a":{"$regex":"(?=x)x$"},"b":{"$elemMatch":{"c":{"$in":[1,2]}}},"$expr":{"$gt":["$n",0]}}`), Options{})
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for n := range 4 {
		d := fromJSON(t, fmt.Sprintf(`{"a":"ax","b":[{"c":2}],"n":%d}`, n))
		all.Go(func() {
			for range 50 {
				if ok, err := f.Match(d, scopeOf(d)); ok != (n > 0) || err != nil {
					t.Error(n, ok, err)
				}
			}
		})
	}
	all.Wait()
}

func TestEveryNameHasStories(t *testing.T) {
	files, _ := filepath.Glob("testdata/*.txt")
	var all strings.Builder
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
	}
	names := slices.Concat(slices.Collect(maps.Keys(onField)), slices.Collect(maps.Keys(onDocument)),
		slices.Collect(maps.Keys(keywords)))
	for _, name := range names {
		if !strings.Contains(all.String(), `"`+name+`":`) {
			t.Errorf("no story has %s", name)
		}
	}
}

func TestNeedsScope(t *testing.T) {
	for query, want := range map[string]bool{
		`{"$expr":true}`: true, `{"$or":[{"a":1},{"$expr":true}]}`: true, `{"$sampleRate":0.5}`: true,
		`{"a":{"$gt":1}}`: false, `{}`: false,
	} {
		f, err := Compile(fromJSON(t, query), Options{})
		if err != nil || f.NeedsScope() != want {
			t.Errorf("%s: %v, want %v", query, err, want)
		}
	}
}

// To compile a pattern cannot be stopped, so a query has so many at most.
func TestManyPatterns(t *testing.T) {
	for n, want := range map[int]bool{maxPatterns: true, maxPatterns + 1: false} {
		list := bson.A{}
		for range n {
			list = append(list, bson.Regex{Pattern: "^a"})
		}
		query, err := bson.Marshal(bson.D{{Key: "a", Value: bson.D{{Key: "$in", Value: list}}}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err = Compile(query, Options{}); (err == nil) != want {
			t.Errorf("%d patterns: %v", n, err)
		}
	}
}
