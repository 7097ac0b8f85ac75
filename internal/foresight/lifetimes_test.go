package foresight_test

import (
	"encoding/json"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/foresight"
	"github.com/mayflydb/mayfly/internal/store"
)

// lifetimesAll holds the lifetimes of the rows of a query over everything against the deadlines that the store says.
func (p *player) lifetimesAll() {
	p.t.Helper()
	var rows []foresight.Row
	var want []int64
	for d, err := range p.store.Scan(ctx, p.view(), access.Access{}) {
		p.ok(err)
		key := store.Identity(doc.Clone(doc.Lookup(d.Body, "_id")))
		if !p.mongo {
			id, _ := doc.AsString(doc.Lookup(d.Body, "id"))
			pk, _ := doc.AsString(doc.Lookup(d.Body, "pk"))
			key = itemKey(strings.Clone(pk), strings.Clone(id))
		}
		rows = append(rows, foresight.Row{Ref: store.Ref{Key: key}, Named: true},
			foresight.Row{Ref: store.Ref{Number: d.Number}, Named: true, Sure: true}, foresight.Row{})
		want = append(want, d.Deadline, d.Deadline)
	}
	lives, now, err := p.f.Lifetimes(ctx, p.c, p.now, p.now, rows)
	p.ok(err)
	for i, l := range lives {
		if i%3 == 2 {
			if l != (foresight.RowLife{}) {
				p.t.Errorf("a row that names nothing: %+v", l)
			}
			continue
		}
		at := want[i/3*2]
		if l.At != at || l.Ends != (at != 0) || !l.Named || l.Gone || l.Ends && l.At <= now {
			p.t.Errorf("the store says %d, the row %+v at %d", at, l, now)
		}
	}
	// All those that have ended are gone a while later, whether their space is free or not.
	p.reclaim()
	later, _, err := p.f.Lifetimes(ctx, p.c, p.now, p.now, rows)
	p.ok(err)
	if len(later) != len(lives) {
		p.t.Errorf("%d lives of %d rows", len(later), len(lives))
	}
}

// A query has read two items, one second before the first of them ends. The row of that one must not be shown.
func TestARowThatEndsAfterTheQueryIsGone(t *testing.T) {
	w := newWorld(t, noSQL(-1))
	w.item("p", "before", bson.E{Key: "ttl", Value: int64(5)})
	w.item("p", "short", bson.E{Key: "ttl", Value: int64(10)})
	w.item("p", "long", bson.E{Key: "ttl", Value: int64(20)})
	w.item("p", "never")
	number := func(id string) (n uint64) {
		w.ok(w.store.Read(ctx, w.view(), itemKey("p", id), func(d access.Document) error {
			n = d.Number
			return nil
		}))
		return n
	}
	row := func(id string) foresight.Row {
		return foresight.Row{Ref: store.Ref{Key: itemKey("p", id)}, Named: true}
	}
	rows := []foresight.Row{
		{Ref: store.Ref{Number: number("short")}, Named: true, Sure: true},
		row("short"), row("before"), row("nobody"), row("long"), row("never"), {},
	}
	show := func(asked, now int64) string {
		lives, at, err := w.f.Lifetimes(ctx, w.c, asked, now, rows)
		w.ok(err)
		if at != now {
			t.Errorf("at %d, not %d", at, now)
		}
		var out []string
		for _, l := range lives {
			text, err := json.Marshal(l)
			w.ok(err)
			if l.Gone {
				text = []byte("gone")
			}
			out = append(out, strings.ReplaceAll(string(text), "17723616", ""))
		}
		return strings.Join(out, " ")
	}
	for _, c := range []struct {
		asked, now int64
		want       string
	}{
		{start + 9, start + 9, "84 84 false false 94 null false"},
		{start + 9, start + 10, "gone gone false false 94 null false"},
		{start + 10, start + 10, "gone false false false 94 null false"},
	} {
		if got := show(c.asked, c.now); got != c.want {
			t.Errorf("asked at %d, seen at %d: %s, want %s", c.asked-start, c.now-start, got, c.want)
		}
	}
	w.now = start + 10
	_, err := w.store.Reclaim(ctx, w.c, w.now, 100)
	w.ok(err)
	if got := show(start+9, start+10); got != "gone false false false 94 null false" {
		t.Errorf("without its space: %s", got)
	}
}
