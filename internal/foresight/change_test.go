package foresight_test

import (
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/foresight"
)

func TestParseChange(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{``, `{"Default":null,"Property":null,"Dates":null}`},
		{`{}`, `{"Default":null,"Property":null,"Dates":null}`},
		{`{"defaultTtl":60.0}`, `{"Default":60,"Property":"","Dates":null}`},
		{`{"defaultTtl":null,"ttlPropertyPath":null}`, `{"Default":0,"Property":"","Dates":null}`},
		{`{"defaultTtl":-1,"ttlPropertyPath":"/a"}`, `{"Default":-1,"Property":"/a","Dates":null}`},
		{`{"dates":[{"index":"x","expireAfterSeconds":null},{"field":"a.b","expireAfterSeconds":0}]}`,
			`{"Default":null,"Property":null,"Dates":[{"Index":"x","Path":"","Partial":null,"Seconds":null},` +
				`{"Index":"","Path":"a.b","Partial":null,"Seconds":0}]}`},
	} {
		got, err := foresight.ParseChange([]byte(c.text))
		if err != nil || show(got) != c.want {
			t.Errorf("%s: %s, %v, want %s", c.text, show(got), err, c.want)
		}
	}
	for _, text := range []string{
		`[]`, `60`, `{`, `{"defaultTtl":0}`, `{"defaultTtl":"60"}`, `{"defaultTtl":2147483648}`, `{"ttl":60}`,
		`{"ttlPropertyPath":1}`, `{"dates":{}}`, `{"dates":[1]}`, `{"dates":[{"field":"a"}]}`,
		`{"dates":[{"expireAfterSeconds":1}]}`, `{"dates":[{"field":"a","index":"a","expireAfterSeconds":1}]}`,
		`{"dates":[{"field":"a","expireAfterSeconds":-1}]}`, `{"dates":[{"field":"a","expireAfterSeconds":1.5}]}`,
		`{"dates":[{"field":"a","expireAfterSeconds":2147483648}]}`,
		`{"dates":[{"field":"a..b","expireAfterSeconds":1}]}`,
		`{"dates":[{"field":"_id","expireAfterSeconds":1}]}`, `{"dates":[{"field":"$a","expireAfterSeconds":1}]}`,
		`{"dates":[{"field":"a","seconds":1}]}`,
		`{"dates":[{"index":"a","partialFilterExpression":{},"expireAfterSeconds":1}]}`,
		`{"dates":[` + strings.Repeat(`{"field":"a","expireAfterSeconds":1},`, 64) +
			`{"field":"a","expireAfterSeconds":1}]}`,
	} {
		if _, err := foresight.ParseChange([]byte(text)); fault.KindOf(err) != fault.Invalid {
			t.Errorf("%.80s: %v", text, err)
		}
	}
}

// TestRefusedChanges asks about policies that the container could not have.
func TestRefusedChanges(t *testing.T) {
	items, documents := newWorld(t, noSQL(60)), newWorld(t, mongo(60))
	documents.ok(documents.index(catalog.NamedIndex{Name: "wild", Wildcard: true,
		Columns: []catalog.NamedColumn{{Path: "$**"}}}))
	documents.ok(documents.index(catalog.NamedIndex{Name: "two",
		Columns: []catalog.NamedColumn{{Path: "a"}, {Path: "b"}}}))
	plain := newWorld(t, func() catalog.Definition {
		def := noSQL(expiry.Unset)
		def.Indexing = catalog.Indexing{None: true}
		return def
	}())
	for _, c := range []struct {
		w    *world
		text string
		kind fault.Kind
	}{
		{items, `{"defaultTtl":null,"ttlPropertyPath":"/a"}`, fault.Invalid},
		{items, `{"ttlPropertyPath":"a"}`, fault.Invalid},
		{items, `{"dates":[{"field":"a","expireAfterSeconds":1}]}`, fault.Invalid},
		{plain, `{"defaultTtl":1}`, fault.Invalid},
		{documents, `{"ttlPropertyPath":"/a"}`, fault.Invalid},
		{documents, `{"dates":[{"index":"nobody","expireAfterSeconds":1}]}`, fault.NotFound},
		{documents, `{"dates":[{"index":"wild","expireAfterSeconds":1}]}`, fault.Invalid},
		{documents, `{"dates":[{"index":"two","expireAfterSeconds":1}]}`, fault.Invalid},
		{documents, `{"dates":[{"field":"a","expireAfterSeconds":null}]}`, fault.NotFound},
	} {
		ch, err := foresight.ParseChange([]byte(c.text))
		c.w.ok(err)
		if _, err := c.w.f.Preview(ctx, c.w.c, c.w.now, ch, 0); fault.KindOf(err) != c.kind ||
			fault.Message(err) == "" {
			t.Errorf("%s: %v, want %v", c.text, err, c.kind)
		}
	}
	documents.ok(documents.catalog.SetDates(ctx, documents.now, false))
	ch, _ := foresight.ParseChange([]byte(`{"dates":[{"field":"a","expireAfterSeconds":1}]}`))
	if _, err := documents.f.Preview(ctx, documents.c, documents.now, ch, 0); fault.KindOf(err) != fault.Invalid {
		t.Errorf("rules of dates while they are switched off: %v", err)
	}
	for _, limit := range []int{-1, foresight.MaxEntries + 1} {
		_, err := items.f.Preview(ctx, items.c, items.now, foresight.Change{}, limit)
		if fault.KindOf(err) != fault.Invalid {
			t.Errorf("%d entries: %v", limit, err)
		}
	}
}

// TestOffDropsTheProperty switches TTL off where it counts from a property, which needs a default.
func TestOffDropsTheProperty(t *testing.T) {
	w := newWorld(t, func() catalog.Definition { def := noSQL(60); def.TTLProperty = "/from"; return def }())
	w.item("p", "a", bson.E{Key: "from", Value: w.now + 10})
	p, err := w.f.Preview(ctx, w.c, w.now, foresight.Change{Default: pointer(expiry.Unset)}, 0)
	w.ok(err)
	if p.Windows[4].Documents != 0 || !p.Exact || !strings.HasPrefix(p.After, "TTL is off") {
		t.Errorf("off: %s", show(p))
	}
}
