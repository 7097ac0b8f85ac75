package update

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/filter"
	"github.com/mayflydb/mayfly/internal/storytest"
)

// TestStories runs the cases of testdata: lines of what goes in, and what comes out. The lines are
//
//	doc, update, filters, query (for $)   Compile, Locate and Apply
//	doc, replace                          Replace
//	doc, result                           Transform
//	upsert, update or replace, id         Upserted or UpsertedID, then Apply or Replace
//	before, after                         Describe
func TestStories(t *testing.T) {
	storytest.Run(t, "testdata/*.txt", storytest.Blocks, func() storytest.Answer {
		return func(t *testing.T, given string) (string, bool) { return storyIn(t, given).outcome(t), true }
	})
}

type story map[string]string

func storyIn(t testing.TB, given string) story {
	s := story{}
	for line := range strings.Lines(given) {
		word, rest, ok := strings.Cut(strings.TrimSpace(line), ": ")
		if !ok {
			t.Fatalf("what is %q?", line)
		}
		s[word] = rest
	}
	return s
}

// now is when every story happens.
var now = Input{Now: time.UnixMilli(1_700_000_000_123), ClusterTime: doc.Timestamp(1_700_000_000, 7)}

func (s story) outcome(t *testing.T) string {
	d, changed, err := s.run(t)
	if err != nil {
		e := code.Of(err)
		if e == nil {
			t.Fatalf("%v is no error of MongoDB", err)
		}
		return fmt.Sprintf("error %d: %s", e.Code, e.Message)
	}
	if err := d.Validate(); err != nil {
		t.Errorf("%s is no BSON: %v", show(doc.Object(d)), err)
	}
	if !changed {
		return "unchanged"
	}
	return show(doc.Object(d))
}

func (s story) run(t *testing.T) (doc.Doc, bool, error) {
	switch {
	case s["before"] != "":
		return Describe(docIn(t, s["before"]), docIn(t, s["after"])), true, nil
	case s["upsert"] != "":
		return s.upsert(t)
	case s["result"] != "":
		return Transform(docIn(t, s["doc"]), docIn(t, s["result"]), now)
	case s["replace"] != "":
		return s.replaced(t, docIn(t, s["doc"]), now)
	}
	w := filter.Where{}
	d := docIn(t, s["doc"])
	if s["query"] != "" {
		f, err := filter.Compile(docIn(t, s["query"]), filter.Options{})
		if err != nil {
			t.Fatal(err)
		}
		ok, where, err := f.Locate(d, nil)
		if !ok || err != nil {
			t.Fatalf("%s does not match: %v", s["query"], err)
		}
		w = where
	}
	return s.applied(t, d, w, now)
}

func (s story) replaced(t *testing.T, d doc.Doc, in Input) (doc.Doc, bool, error) {
	return Replace(d, docIn(t, s["replace"]), in)
}

func (s story) applied(t *testing.T, d doc.Doc, w filter.Where, in Input) (doc.Doc, bool, error) {
	o := Options{}
	if s["filters"] != "" {
		for e := range doc.Elements(valueIn(t, s["filters"])) {
			o.ArrayFilters = append(o.ArrayFilters, e.Data)
		}
	}
	u, err := Compile(docIn(t, s["update"]), o)
	if err != nil {
		return nil, false, err
	}
	const before = "what is there already"
	out, changed, err := u.Apply([]byte(before), d, w, in)
	if err == nil && changed {
		again, changedAgain, err := u.Apply(nil, d, w, in)
		if err != nil || !changedAgain || string(again) != string(out) {
			t.Errorf("behind other bytes %x, alone %x, %v", out, again, err)
		}
	}
	return out, changed, err
}

func (s story) upsert(t *testing.T) (doc.Doc, bool, error) {
	f, err := filter.Compile(docIn(t, s["upsert"]), filter.Options{})
	if err != nil {
		t.Fatal(err)
	}
	in := now
	in.Inserting = true
	var d doc.Doc
	if s["replace"] != "" {
		if d, err = UpsertedID(f); err == nil {
			d, _, err = s.replaced(t, d, in)
		}
	} else if d, err = Upserted(f); err == nil {
		d, _, err = s.applied(t, d, filter.Where{}, in)
	}
	if err != nil {
		return nil, false, err
	}
	id := doc.Lookup(d, idName)
	if doc.IsUndefined(id) {
		id = doc.Int32(99) // the caller makes one
	}
	return withID(d, id), true, CheckID(id)
}
