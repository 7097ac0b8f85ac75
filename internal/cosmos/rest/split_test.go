package rest

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// split splits a range of the container, and waits for the end.
func (d *testAPI) split(id string) {
	d.t.Helper()
	number, err := strconv.ParseUint(id, 10, 16)
	must(d.t, err)
	db, err := d.api.catalog.Database("d")
	must(d.t, err)
	c, err := d.api.catalog.Container(db, "c")
	must(d.t, err)
	split, err := d.api.store.Split(context.Background(), c, uint16(number), nil)
	must(d.t, err)
	must(d.t, c.SplitOver(context.Background(), split))
	must(d.t, d.api.store.ResumeBuilds(context.Background()))
}

// TestSplitRangeIsGone: SDKs read the list of ranges again when a range answers 410 with 1002, and find the new ones by
// their parents.
func TestSplitRangeIsGone(t *testing.T) {
	d := newRanges(t, 2)
	d.spread(40)
	_, before := d.ranges()
	d.split("0")
	d.split("2")
	for _, id := range []string{"0", "2"} {
		a := d.do("GET", documents, "", hRange, id).want(http.StatusGone).says("PartitionKeyRange with id '" + id + "'")
		if got := a.header.Get("x-ms-substatus"); got != "1002" {
			t.Errorf("substatus %s", got)
		}
	}
	list, etag := d.ranges()
	if etag == before {
		t.Errorf("the list of ranges has still the ETag %s", etag)
	}
	parents := map[string]string{}
	for _, r := range list {
		parents[r.ID] = strings.Join(r.Parents, " ")
	}
	want := map[string]string{"1": "", "3": "0", "4": "0 2", "5": "0 2"}
	if fmt.Sprint(parents) != fmt.Sprint(want) {
		t.Errorf("ranges and parents %v, want %v", parents, want)
	}
	if got := d.idsOf(7); len(got) != 40 {
		t.Errorf("%d items are left", len(got))
	}
	var parts []string
	for _, r := range list {
		parts = append(parts, d.idsOf(7, hRange, r.ID)...)
	}
	slices.Sort(parts)
	if len(slices.Compact(parts)) != 40 {
		t.Errorf("the ranges have %d items", len(parts))
	}
}

// TestTokensOfASplitRange reads pages of a range, splits it in between, and goes on with the token in both of the new
// ranges, as SDKs do.
func TestTokensOfASplitRange(t *testing.T) {
	for _, query := range []string{
		"", "SELECT VALUE c.id FROM c", "SELECT VALUE c.id FROM c WHERE c.third < 2",
		"SELECT VALUE c.id FROM c ORDER BY c.n DESC", "SELECT VALUE c.id FROM c WHERE c.third < 2 ORDER BY c.n",
		"SELECT VALUE c.id FROM c ORDER BY c._ts", "SELECT VALUE c.id FROM c ORDER BY c._ts DESC",
	} {
		for _, n := range []int{1, 2} {
			t.Run(fmt.Sprint(query, " of ", n), func(t *testing.T) {
				d := newRanges(t, n)
				d.spread(60)
				whole := d.page(query, "", []string{hRange, "0", "x-ms-max-item-count", "100"})
				first := d.page(query, "", []string{hRange, "0", "x-ms-max-item-count", "7"})
				d.split("0")
				got := first.ids
				for _, r := range []int{n, n + 1} {
					for token := first.token; token != ""; {
						if r == n+1 && len(got)%2 == 0 && token != first.token && d.hasRange(n+1) {
							d.split(strconv.Itoa(n + 1)) // once more, while its pages are read
							rest := d.restOf(query, token, strconv.Itoa(n+2), strconv.Itoa(n+3))
							got, token = append(got, rest...), ""
							break
						}
						p := d.page(query, token, []string{hRange, strconv.Itoa(r), "x-ms-max-item-count", "3"})
						got, token = append(got, p.ids...), p.token
					}
				}
				want := slices.Clone(whole.ids)
				slices.Sort(want)
				slices.Sort(got)
				if !slices.Equal(got, want) {
					t.Errorf("pages over a split have %d rows, want %d:\n%v\n%v", len(got), len(want), got, want)
				}
			})
		}
	}
}

func (d *testAPI) hasRange(number int) bool {
	list, _ := d.ranges()
	return slices.ContainsFunc(list, func(r keyRange) bool { return r.ID == strconv.Itoa(number) })
}

// restOf reads the pages behind a token in several ranges.
func (d *testAPI) restOf(query, token string, ranges ...string) (list []string) {
	d.t.Helper()
	for _, id := range ranges {
		for at := token; at != ""; {
			p := d.page(query, at, []string{hRange, id, "x-ms-max-item-count", "3"})
			list, at = append(list, p.ids...), p.token
		}
	}
	return list
}

// TestPagesOfTheContainerOverSplits reads the container by pages, without naming a range, and splits one after each.
func TestPagesOfTheContainerOverSplits(t *testing.T) {
	for _, query := range []string{
		"", "SELECT VALUE c.id FROM c", "SELECT VALUE c.id FROM c ORDER BY c.n DESC",
		"SELECT VALUE c.id FROM c ORDER BY c._ts", "SELECT VALUE c.id FROM c WHERE c.third = 1",
	} {
		d := newRanges(t, 1)
		d.spread(60)
		want := d.page(query, "", []string{"x-ms-max-item-count", "100"}).ids
		var got []string
		for token, page := "", 0; page == 0 || token != ""; page++ {
			p := d.page(query, token, []string{"x-ms-max-item-count", "7"})
			if got, token = append(got, p.ids...), p.token; page < 4 {
				list, _ := d.ranges()
				d.split(list[page%len(list)].ID)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", query, got, want)
		}
	}
}

// TestChangesOverASplit follows the change feed of a range, and that of the container, over splits.
func TestChangesOverASplit(t *testing.T) {
	d := newRanges(t, 2)
	owners := d.spread(40)
	a := d.changes("", hRange, "0", "x-ms-max-item-count", "3")
	first, place := strings.Fields(ids(a)), a.header.Get("etag")
	all := d.changes("", "x-ms-max-item-count", "5")
	d.split("0")
	owner := d.do("POST", documents, `{"id":"40","pk":"p40"}`, hPK, `["p40"]`).want(201).header.Get(hRange)
	got := first
	for _, id := range []string{"2", "3"} {
		more, _ := d.follow(place, hRange, id)
		for _, list := range more {
			got = append(got, list...)
		}
	}
	var want []string
	for i, owner := range owners {
		if owner == "0" {
			want = append(want, strconv.Itoa(i))
		}
	}
	if owner != "1" {
		want = append(want, "40")
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("the feed of the range has %v, want %v", got, want)
	}
	seen := strings.Fields(ids(all))
	more, end := d.follow(all.header.Get("etag"))
	for _, list := range more {
		seen = append(seen, list...)
	}
	slices.Sort(seen)
	if len(slices.Compact(slices.Clone(seen))) != 41 || len(seen) != 41 {
		t.Errorf("the feed of the container has %d items: %v", len(seen), seen)
	}
	d.split("2")
	if more, _ := d.follow(end); len(more) > 0 {
		t.Errorf("after another split the feed has %v again", more)
	}
}
