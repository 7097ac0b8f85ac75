package store_test

import (
	"context"
	"errors"
	"testing"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/store"
)

// nIs is a condition on the member n.
func nIs(want int64) func(access.Document) (bool, error) {
	return func(d access.Document) (bool, error) {
		n, _ := doc.AsInt(doc.Lookup(d.Body, "n"))
		return n == want, nil
	}
}

func TestConditionalWrites(t *testing.T) {
	unchanged := func(access.Document) (doc.Doc, error) { return nil, nil }
	for _, c := range []struct {
		name    string
		op      func(w *world) store.Op
		skipped bool
		after   string
	}{
		{"replace, no", func(w *world) store.Op {
			op := w.doing(store.Replace, "a", `"n":2`)
			op.If = nIs(9)
			return op
		}, true, "a=1"},
		{"replace, yes", func(w *world) store.Op {
			op := w.doing(store.Replace, "a", `"n":2`)
			op.If = nIs(1)
			return op
		}, false, "a=2"},
		{"patch, no", func(w *world) store.Op {
			op := w.doing(store.Patch, "a", `"n":2`)
			op.If = nIs(9)
			return op
		}, true, "a=1"},
		{"patch to nothing else", func(w *world) store.Op {
			return store.Op{Verb: store.Patch, Key: byID("a"), Edit: unchanged}
		}, true, "a=1"},
		{"patch, yes", func(w *world) store.Op {
			op := w.doing(store.Patch, "a", `"n":2`)
			op.If = nIs(1)
			return op
		}, false, "a=2"},
		{"delete, no", func(w *world) store.Op {
			return store.Op{Verb: store.Delete, Key: byID("a"), If: nIs(9)}
		}, true, "a=1"},
		{"delete, yes", func(w *world) store.Op {
			return store.Op{Verb: store.Delete, Key: byID("a"), If: nIs(1)}
		}, false, ""},
		{"upsert over, no", func(w *world) store.Op {
			op := w.doing(store.Upsert, "a", `"n":2`)
			op.If = nIs(9)
			return op
		}, true, "a=1"},
		{"upsert of none", func(w *world) store.Op {
			op := w.doing(store.Upsert, "b", `"n":2`)
			op.If = nIs(9)
			return op
		}, false, "a=1 b=2"},
	} {
		for _, way := range []string{"write", "write all", "transaction", "group"} {
			t.Run(c.name+", "+way, func(t *testing.T) {
				w := newWorld(t, collection("c", expiry.Unset))
				first := w.at(w.c, w.doing(store.Create, "a", `"n":1`))
				w.now += 5
				before, err := w.store.Sequence(context.Background(), w.c)
				w.ok(err)
				op := c.op(w)
				var r store.Result
				switch way {
				case "write":
					r, err = w.write(op)
				case "write all":
					var all []store.Result
					all, err = w.store.WriteAll(context.Background(), w.c, w.now,
						[]store.Op{w.doing(store.Read, "a", ""), op})
					w.ok(err)
					r = all[1]
				case "transaction":
					x := w.begin()
					r = w.wrote(x, op)
					_, err = x.Commit(context.Background())
				case "group":
					g := w.beginSnapshot()
					r = w.wrote(g.On(w.view()), op)
					err = g.Commit(context.Background())
				}
				w.ok(err)
				if r.Skipped != c.skipped {
					t.Errorf("skipped %v, want %v", r.Skipped, c.skipped)
				}
				if r.Skipped && (r.Version != first.Version || brief(r.Document) != "a=1" || r.Created) {
					t.Errorf("the living document is %s %v, want a=1 %v", brief(r.Document), r.Version, first.Version)
				}
				if got := w.inside(w.c); got != c.after {
					t.Errorf("there is %q, want %q", got, c.after)
				}
				sequence, err := w.store.Sequence(t.Context(), w.c)
				if err != nil || c.skipped != (sequence == before) {
					t.Errorf("sequence %d after %d, %v", sequence, before, err)
				}
				w.consistent()
			})
		}
	}
}

// TestConditionAfterOwnWrite asks about what the same batch has written.
func TestConditionAfterOwnWrite(t *testing.T) {
	w := newWorld(t, collection("c", expiry.Unset))
	w.at(w.c, w.doing(store.Create, "a", `"n":1`))
	skipped, done := w.doing(store.Replace, "a", `"n":3`), w.doing(store.Replace, "a", `"n":4`)
	skipped.If, done.If = nIs(1), nIs(2)
	r, err := w.store.WriteAll(context.Background(), w.c, w.now,
		[]store.Op{w.doing(store.Replace, "a", `"n":2`), skipped, done})
	w.ok(err)
	if !r[1].Skipped || r[2].Skipped || brief(r[1].Document) != "a=2" {
		t.Errorf("skipped %v %v, the second shows %s", r[1].Skipped, r[2].Skipped, brief(r[1].Document))
	}
	if r[1].Version != r[0].Version || r[2].Sequence != r[0].Sequence+1 {
		t.Errorf("versions %v %v %v", r[0].Version, r[1].Version, r[2].Version)
	}
	if got := w.inside(w.c); got != "a=4" {
		t.Errorf("there is %s", got)
	}
	w.consistent()
}

// TestConditionSeesTheNewest changes the document between the question and the commit.
func TestConditionSeesTheNewest(t *testing.T) {
	w := newWorld(t, collection("c", expiry.Unset))
	w.at(w.c, w.doing(store.Create, "a", `"n":1`))
	asked := 0
	op := w.doing(store.Replace, "a", `"n":7`)
	op.If = func(d access.Document) (bool, error) {
		if asked++; asked == 1 {
			w.at(w.c, w.doing(store.Replace, "a", `"n":2`))
		}
		return nIs(1)(d)
	}
	r := w.at(w.c, op)
	if asked != 2 || !r.Skipped || brief(r.Document) != "a=2" {
		t.Errorf("asked %d times, skipped %v, shows %s", asked, r.Skipped, brief(r.Document))
	}
}

// TestSkippedIsConfirmed changes the document while its refusal is on its way.
func TestSkippedIsConfirmed(t *testing.T) {
	w := newWorld(t, collection("c", expiry.Unset))
	w.at(w.c, w.doing(store.Create, "a", `"n":1`))
	asked := 0
	op := w.doing(store.Replace, "a", `"n":7`)
	op.If = func(d access.Document) (bool, error) {
		if asked++; asked == 1 {
			w.at(w.c, w.doing(store.Replace, "a", `"n":2`))
		}
		return nIs(2)(d)
	}
	if r := w.at(w.c, op); r.Skipped {
		t.Errorf("what is no longer so was answered after %d questions", asked)
	}
	if got := w.inside(w.c); got != "a=7" {
		t.Errorf("there is %s", got)
	}
}

func TestConditionFails(t *testing.T) {
	w := newWorld(t, collection("c", expiry.Unset))
	w.at(w.c, w.doing(store.Create, "a", `"n":1`))
	mine := errors.New("mine")
	op := w.doing(store.Replace, "a", "")
	op.If = func(access.Document) (bool, error) { return true, mine }
	if _, err := w.write(op); err != mine {
		t.Errorf("error %v, want the condition's own", err)
	}
	op.Key = byID("missing")
	_, err := w.write(op)
	w.becomes(err, fault.NotFound)
}

// TestFailedClaimIsGivenBack lets an operation of a transaction fail at the second of
// two unique keys: the first is free again.
func TestFailedClaimIsGivenBack(t *testing.T) {
	def := definition(expiry.Unset)
	def.Unique = [][]string{{"/u"}, {"/w"}}
	w := newWorld(t, def)
	_, err := w.write(w.put(store.Create, "p", "a", `"u":1,"w":1`))
	w.ok(err)
	x := w.begin()
	_, err = x.Do(context.Background(), w.put(store.Create, "p", "b", `"u":2,"w":1`))
	w.becomes(err, fault.Exists)
	w.wrote(x, w.put(store.Create, "p", "c", `"u":2,"w":2`))
	_, err = x.Commit(context.Background())
	w.ok(err)
	w.consistent()
}
