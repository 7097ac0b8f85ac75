package foresight_test

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/foresight"
)

// pages follows the continuations of a span to its end.
func (w *world) pages(s foresight.Span, limit int) (list []foresight.Ending, exact bool) {
	w.t.Helper()
	exact = true
	for range 2000 {
		page, err := w.f.Expiring(ctx, w.c, w.now, s, limit)
		w.ok(err)
		if len(page.Items) > s.Max || page.Now != w.now {
			w.t.Fatalf("%d items at %d in a page of %d at %d", len(page.Items), page.Now, s.Max, w.now)
		}
		list = append(list, page.Items...)
		exact = exact && page.Exact
		if page.Continuation == "" {
			return list, exact
		}
		s.Continuation = page.Continuation
	}
	w.t.Fatal("the pages have no end")
	return nil, false
}

// expiring asks for a random span in pages of random size, and holds that against a look at every document.
func (p *player) expiring() {
	p.t.Helper()
	p.reclaim()
	s := foresight.Span{Until: math.MaxInt64}
	switch p.rng.IntN(3) {
	case 0:
		s.From = p.now + p.span() - p.span()
		s.Until = s.From + p.span()
	case 1:
		s.From = p.now + p.span()
	}
	s.Max = []int{1, 2, 3, 7, 1000}[p.rng.IntN(5)]
	limit := []int{0, 1, 300}[p.rng.IntN(3)]
	var want []string
	ends := map[string]expiry.Stamp{}
	for d, err := range p.store.Scan(ctx, p.view(), access.Access{}) {
		p.ok(err)
		if d.Deadline != 0 && d.Deadline >= s.From && d.Deadline < s.Until {
			name := string(doc.AppendJSONValue(nil, doc.Lookup(d.Body, "_id")))
			if !p.mongo {
				name = fmt.Sprintf(`%s of %s`, doc.AppendJSONValue(nil, doc.Lookup(d.Body, "id")),
					doc.AppendJSONValue(nil, doc.Lookup(d.Body, "pk")))
			}
			want = append(want, fmt.Sprint(d.Deadline, " ", name))
			ends[name] = d.Deadline
		}
	}
	list, exact := p.pages(s, limit)
	var got []string
	for _, e := range list {
		name := string(e.MongoID)
		if !p.mongo {
			name = fmt.Sprintf(`"%s" of %s`, e.ID, e.PartitionKey[0])
		}
		got = append(got, fmt.Sprint(e.Deadline, " ", name))
		if ends[name] != e.Deadline {
			p.t.Errorf("%s is not to end then", show(e))
		}
	}
	byTime := func(a, b foresight.Ending) int { return cmp.Compare(a.Deadline, b.Deadline) }
	if !slices.IsSortedFunc(list, byTime) {
		p.t.Errorf("not in the order of deadlines: %s", show(list))
	}
	if !exact && p.c.State().TTLProperty == "" {
		p.t.Error("not exact")
	}
	slices.Sort(got)
	slices.Sort(want)
	if len(slices.Compact(slices.Clone(got))) != len(got) || exact && !slices.Equal(got, want) {
		p.t.Errorf("%+v within %d has\n%s\nwant\n%s", s, limit,
			strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// Many documents end in the same second, and several rules say so of each. The pages have each of them once.
func TestExpiringWithinOneSecond(t *testing.T) {
	at := bson.DateTime(1000 * (start + 60))
	late := foresight.Span{From: math.MaxInt64 - 1, Until: math.MaxInt64, Max: 1}
	for _, descending := range []bool{false, true} {
		w := newWorld(t, mongo(60))
		for i, path := range []string{"at", "list"} {
			w.ok(w.index(catalog.NamedIndex{Name: fmt.Sprint("x", i), Expires: true,
				Columns: []catalog.NamedColumn{{Path: path, Descending: descending}}}))
		}
		for i := range 40 {
			members := []bson.E{{Key: "at", Value: at}, {Key: "list", Value: bson.A{at, at - 1, at - 2}}}
			switch i % 4 {
			case 1:
				members = append(members, bson.E{Key: "ttl", Value: int64(60)})
			case 2:
				members = append(members, bson.E{Key: "ttl", Value: int64(-1)})
			case 3:
				members = append(members[1:], bson.E{Key: "ttl", Value: int64(-1)})
			}
			w.document(i, members...)
		}
		if list, _ := w.pages(late, 0); len(list) > 0 {
			t.Errorf("at the end of time: %s", show(list))
		}
		for _, most := range []int{1, 3, 1000} {
			s := foresight.Span{Until: math.MaxInt64}
			s.Max = most
			list, exact := w.pages(s, 1)
			seen := map[string]bool{}
			for _, e := range list {
				seen[string(e.MongoID)] = true
			}
			if len(list) != 40 || len(seen) != 40 || !exact {
				t.Errorf("descending %v, pages of %d: %d items, %d different", descending, most, len(list), len(seen))
			}
		}
	}
}

// The items have a ttl of their own, so the change feed names all of them and ends none: pages that look at fewer
// entries than it has pass over it together.
func TestExpiringPassesOverTheFeed(t *testing.T) {
	w := newWorld(t, noSQL(86400))
	for i := range 1000 {
		w.item("p", fmt.Sprint(i), bson.E{Key: "ttl", Value: int64(3600)})
		if i%10 == 9 {
			w.now++
		}
	}
	w.item("p", "inherits")
	for _, x := range []struct {
		from, until expiry.Stamp
		want        int
	}{
		{0, start + 3600 + 50, 500}, {0, math.MaxInt64, 1001}, {start + 80_000, math.MaxInt64, 1},
	} {
		list, exact := w.pages(foresight.Span{From: x.from, Until: x.until, Max: 1000}, 1)
		if len(list) != x.want || !exact {
			t.Errorf("from %d until %d: %d items, exact %v; want %d", x.from, x.until, len(list), exact, x.want)
		}
	}
}

// A container whose lives count from a property has no queue. Beyond the limit a page has some of the items.
func TestExpiringByProperty(t *testing.T) {
	w := newWorld(t, noSQL(100))
	w.ok(w.replace(100, "/from"))
	for i := range 1000 {
		w.item("p", fmt.Sprint(i), bson.E{Key: "from", Value: int64(start + i%50)})
	}
	s := foresight.Span{From: start + 110, Until: start + 120, Max: 7}
	list, exact := w.pages(s, 0)
	if len(list) != 200 || !exact || list[0].Deadline != start+110 || list[199].Deadline != start+119 {
		t.Errorf("%d items, exact %v: %s", len(list), exact, show(list))
	}
	if list, exact = w.pages(s, 1000); len(list) == 0 || len(list) >= 200 || exact {
		t.Errorf("of a sample: %d items, exact %v", len(list), exact)
	}
}

func TestExpiringRefuses(t *testing.T) {
	w := newWorld(t, noSQL(100))
	for _, s := range []foresight.Span{
		{From: 5, Until: 5, Max: 1}, {Until: 5}, {Until: 5, Max: foresight.MaxExpiring + 1},
		{Until: 5, Max: 1, Continuation: "!"}, {Until: 5, Max: 1, Continuation: "e30"},
		{Until: 5, Max: 1, Continuation: strings.Repeat("e", 5000)},
	} {
		if _, err := w.f.Expiring(ctx, w.c, w.now, s, 0); fault.KindOf(err) != fault.Invalid {
			t.Errorf("%+v: %v", s, err)
		}
	}
	w.item("p", "once")
	for _, from := range []int64{math.MaxInt64 - 1, math.MaxInt64 / 1000, 1 << 60} {
		list, exact := w.pages(foresight.Span{From: from, Until: math.MaxInt64, Max: 1}, 0)
		if len(list) > 0 || !exact {
			t.Errorf("from %d: %s", from, show(list))
		}
	}
	// A continuation that a client made up shows nothing that has ended, and nothing of other containers.
	w.item("p", "gone")
	w.now += 100
	w.item("p", "stays")
	for _, key := range []string{"", "AA", "////", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"} {
		for queue := range 3 {
			text := fmt.Sprintf(`{"at":%d,"queue":%d,"key":%q}`, 1, queue, key)
			s := foresight.Span{Until: math.MaxInt64, Max: 10, Continuation: base64Of(text)}
			page, err := w.f.Expiring(ctx, w.c, w.now, s, 0)
			if err == nil && strings.Contains(show(page), "gone") {
				t.Errorf("%s: %s", text, show(page))
			}
		}
	}
}

func base64Of(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }
