package foresight_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/foresight"
	"github.com/mayflydb/mayfly/internal/store"
)

// said is an explanation as a text: the rule or the reason, what remains, the sentence, the remedy, the notes.
func said(e *foresight.Explanation) string {
	text := string(e.Reason)
	if e.Ends {
		text = fmt.Sprintf("%s in %d s", e.Rule, *e.Remaining)
	}
	for _, more := range append([]string{e.Sentence, e.Remedy}, e.Notes...) {
		if more != "" {
			text += "\n" + more
		}
	}
	return text
}

func TestExplainItems(t *testing.T) {
	for _, c := range []struct {
		name     string
		ttl      expiry.TTL
		property string
		members  bson.D
		want     string
	}{
		{"off", 0, "", nil, "off\nTTL is off for the container, so this item does not expire.\n" +
			"Set a default for the container, such as 30 days, or -1 to let items expire by a ttl of their own alone."},
		{"off, never", 0, "", bson.D{{Key: "ttl", Value: int64(-1)}},
			"off\nTTL is off for the container, so this item does not expire.\n" +
				"Set a default for the container, such as 30 days, or -1 to let items expire by a ttl of their own " +
				"alone."},
		{"dormant", 0, "", bson.D{{Key: "ttl", Value: int64(60)}}, "dormant\n" +
			"This item has a ttl of 1 minute, but TTL is off for the container, so the ttl has no effect.\n" +
			"Set a default for the container, such as -1: then the ttl takes effect, and ends the item at " +
			"2026-03-01T10:42:14Z."},
		{"dormant and over", 0, "", bson.D{{Key: "ttl", Value: int64(10)}}, "dormant\n" +
			"This item has a ttl of 10 seconds, but TTL is off for the container, so the ttl has no effect.\n" +
			"Set a default for the container, such as -1: then the ttl takes effect, and ends the item at once, " +
			"since that time is over."},
		{"off and invalid", 0, "", bson.D{{Key: "ttl", Value: "60"}},
			"off\nTTL is off for the container, so this item does not expire.\n" +
				"Set a default for the container, such as 30 days, or -1 to let items expire by a ttl of their own " +
				"alone.\n" +
				`Its ttl is "60", which is ignored: a valid one is -1 or a whole number of seconds from 1 to ` +
				`2147483647.`},
		{"default", 3600, "", nil,
			"default in 3590 s\nThe default of the container ends this item 1 hour after its last write."},
		{"own", 3600, "", bson.D{{Key: "ttl", Value: int64(60)}},
			"ttl in 50 s\nIts own ttl ends this item 1 minute after its last write."},
		{"never", 3600, "", bson.D{{Key: "ttl", Value: int64(-1)}},
			"never\nThis item has a ttl of -1, so it never expires.\n" +
				"Write the item with a ttl in seconds, or without one to let it follow the default of the container."},
		{"no default", -1, "", nil, "noDefault\n" +
			"The default of the container is -1, and this item has no ttl of its own, so it never expires.\n" +
			"Write the item with a ttl in seconds, or set a default for the container."},
		{"no default, invalid", -1, "", bson.D{{Key: "ttl", Value: 0.5}}, "invalid\n" +
			"The default of the container is -1, and the ttl of this item is not valid, so it never expires.\n" +
			"Write the item with a ttl that is -1 or a whole number of seconds from 1 to 2147483647.\n" +
			"Its ttl is 0.5, which is ignored: a valid one is -1 or a whole number of seconds from 1 to 2147483647."},
		{"default, invalid", 3600, "", bson.D{{Key: "ttl", Value: nil}}, "default in 3590 s\n" +
			"The default of the container ends this item 1 hour after its last write.\n" +
			"Its ttl is null, which is ignored: a valid one is -1 or a whole number of seconds from 1 to 2147483647."},
		{"property", 3600, "/from", bson.D{{Key: "from", Value: int64(start + 100)}}, "default in 3690 s\n" +
			"The default of the container ends this item 1 hour after the time in /from."},
		{"property and own", 3600, "/from",
			bson.D{{Key: "from", Value: int64(start + 100)}, {Key: "ttl", Value: int64(1)}}, "ttl in 91 s\n" +
				"Its own ttl ends this item 1 second after the time in /from."},
		{"property is missing", 3600, "/from", bson.D{{Key: "from", Value: "now"}}, "default in 3590 s\n" +
			"The default of the container ends this item 1 hour after its last write, since it has no number in /from."},
	} {
		w := newWorld(t, noSQL(c.ttl))
		w.ok(w.replace(c.ttl, c.property))
		w.item("p", "a", c.members...)
		w.now += 10
		e, err := w.f.Explain(ctx, w.c, w.now, itemKey("p", "a"))
		w.ok(err)
		if got := said(e); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, got, c.want)
		}
		if e.ID != "a" || string(e.PartitionKey[0]) != `"p"` || e.Written.Unix != start || e.Now.Unix != start+10 {
			t.Errorf("%s: %s", c.name, show(e))
		}
	}
}

func TestExplainDocuments(t *testing.T) {
	at := func(seconds int64) bson.DateTime { return bson.DateTime(1000 * (start + seconds)) }
	plain := catalog.NamedIndex{Name: "at_1", Expires: true, Seconds: 60, Columns: []catalog.NamedColumn{{Path: "at"}}}
	partial := plain
	partial.Partial = onFilter
	sharp := plain
	sharp.Seconds = 0
	deep := plain
	deep.Columns = []catalog.NamedColumn{{Path: "list.at"}}
	for _, c := range []struct {
		name    string
		ttl     expiry.TTL
		index   catalog.NamedIndex
		members bson.D
		want    string
	}{
		{"date", 0, plain, bson.D{{Key: "at", Value: at(100)}},
			"date in 150 s\nThe TTL index at_1 ends this document 1 minute after the date in at."},
		{"sharp", 0, sharp, bson.D{{Key: "at", Value: at(100)}},
			"date in 90 s\nThe TTL index at_1 ends this document at the date in at."},
		{"array", 0, plain, bson.D{{Key: "at", Value: bson.A{at(100), "x", at(50)}}},
			"date in 100 s\nThe TTL index at_1 ends this document 1 minute after the date in at."},
		{"earlier ttl", 100, plain, bson.D{{Key: "at", Value: at(100)}},
			"default in 90 s\nThe default of the collection ends this document 1 minute 40 seconds after its last " +
				"write."},
		{"later ttl", 1000, plain, bson.D{{Key: "at", Value: at(100)}},
			"date in 150 s\nThe TTL index at_1 ends this document 1 minute after the date in at."},
		{"dormant ttl", 0, plain, bson.D{{Key: "at", Value: at(100)}, {Key: "ttl", Value: 5}},
			"date in 150 s\nThe TTL index at_1 ends this document 1 minute after the date in at.\n" +
				"Its ttl of 5 seconds has no effect, since the collection has no default."},
		{"absent", 0, plain, nil,
			"absent\nThe TTL index at_1 does not end this document: it has no field at.\nWrite the document with a " +
				"date in at."},
		{"no date in the array", 0, plain, bson.D{{Key: "at", Value: bson.A{1, "x"}}},
			"array\nThe TTL index at_1 does not end this document: the array in at has no date.\nWrite a date into " +
				"the array in at."},
		{"empty array", 0, plain, bson.D{{Key: "at", Value: bson.A{}}},
			"array\nThe TTL index at_1 does not end this document: the array in at has no date.\nWrite a date into " +
				"the array in at."},
		{"number", 0, plain, bson.D{{Key: "at", Value: int64(1000 * start)}},
			"type\nThe TTL index at_1 does not end this document: the value of at is no date.\nWrite at as a BSON " +
				"date: numbers and strings do not count."},
		{"deep in an array", 0, deep, bson.D{{Key: "list", Value: bson.A{bson.D{{Key: "at", Value: "x"}}, 5}}},
			"type\nThe TTL index at_1 does not end this document: the value of list.at is no date.\nWrite list.at as " +
				"a BSON date: numbers and strings do not count."},
		{"nothing in the array", 0, deep, bson.D{{Key: "list", Value: bson.A{bson.D{{Key: "a", Value: "x"}}, 5}}},
			"absent\nThe TTL index at_1 does not end this document: it has no field list.at.\nWrite the document " +
				"with a date in list.at."},
		{"filter", 0, partial, bson.D{{Key: "at", Value: at(100)}},
			"filter\nThe TTL index at_1 does not end this document: it does not match the filter of the index.\n" +
				"Change the document so that it matches the filter, or make a TTL index without one."},
		{"matches the filter", 0, partial, bson.D{{Key: "at", Value: at(100)}, {Key: "on", Value: true}},
			"date in 150 s\nThe TTL index at_1 ends this document 1 minute after the date in at."},
		{"no date, and a ttl of -1", 100, plain, bson.D{{Key: "ttl", Value: -1.0}},
			"never\nThis document has a ttl of -1, so it never expires.\n" +
				"Write the document with a ttl in seconds, or without one to let it follow the default of the " +
				"collection."},
		{"invalid", -1, catalog.NamedIndex{}, bson.D{{Key: "ttl", Value: 20.5}},
			"invalid\nThe default of the collection is -1, and the ttl of this document is not valid, so it never " +
				"expires.\nWrite the document with a ttl that is an int32, an int64 or a double of -1, or of a whole " +
				"number of seconds from 1 to 2147483647.\nIts ttl is 20.5, which is ignored: a valid one is an " +
				"int32, an int64 or a double of -1, or of a whole number of seconds from 1 to 2147483647."},
	} {
		w := newWorld(t, mongo(c.ttl))
		if c.index.Name != "" {
			w.ok(w.index(c.index))
		}
		w.document(7, c.members...)
		w.now += 10
		e, err := w.f.Explain(ctx, w.c, w.now, store7)
		w.ok(err)
		if got := said(e); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, got, c.want)
		}
		if string(e.MongoID) != `7` || e.ID != "" {
			t.Errorf("%s: %s", c.name, show(e))
		}
	}
}

// TestExplainSwitchedOff has rules of dates that are not in force.
func TestExplainSwitchedOff(t *testing.T) {
	w := newWorld(t, mongo(0))
	w.document(7, bson.E{Key: "at", Value: bson.DateTime(1000 * (start + 100))})
	_, err := w.catalog.ReplaceIndexes(ctx, w.now, w.c, func(*catalog.State) ([]catalog.NamedIndex, error) {
		return []catalog.NamedIndex{{Name: "at_1", Expires: true, Columns: []catalog.NamedColumn{{Path: "at"}},
			Building: true}}, nil
	})
	w.ok(err)
	e, err := w.f.Explain(ctx, w.c, w.now, store7)
	w.ok(err)
	if got := said(e); !strings.HasPrefix(got, "building\n") {
		t.Errorf("during the build: %s", got)
	}
	_, err = w.store.BuildNamed(ctx, w.c, w.now)
	w.ok(err)
	w.ok(w.catalog.SetDates(ctx, w.now, false))
	e, err = w.f.Explain(ctx, w.c, w.now, store7)
	w.ok(err)
	if got := said(e); !strings.HasPrefix(got, "switchedOff\n") ||
		!strings.HasSuffix(got, "Set the parameter ttlMonitorEnabled to true.") {
		t.Errorf("switched off: %s", got)
	}
	w.ok(w.catalog.SetDates(ctx, w.now, true))
	e, err = w.f.Explain(ctx, w.c, w.now, store7)
	w.ok(err)
	if e.Deadline == nil || e.Deadline.Time != time.Unix(start+100, 0).UTC().Format(time.RFC3339) {
		t.Errorf("switched on: %s", show(e))
	}
}

// TestExplainHidesTheDead: the answer about a dead document is that about one that never was.
func TestExplainHidesTheDead(t *testing.T) {
	w := newWorld(t, noSQL(10))
	w.item("p", "dead")
	w.now += 9
	if _, err := w.f.Explain(ctx, w.c, w.now, itemKey("p", "dead")); err != nil {
		t.Fatal(err)
	}
	w.now++
	_, dead := w.f.Explain(ctx, w.c, w.now, itemKey("p", "dead"))
	_, nobody := w.f.Explain(ctx, w.c, w.now, itemKey("p", "nobody"))
	if fault.KindOf(dead) != fault.NotFound || dead.Error() != nobody.Error() ||
		fault.Message(dead) != "No item lives under this key." {
		t.Errorf("dead: %v, nobody: %v", dead, nobody)
	}
}

var store7 = store.Identity(doc.Int(7))
