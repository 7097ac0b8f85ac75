package store_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/store"
)

// TestSkipPassesOverLivingDocuments compares walks whose first documents are not wanted with whole walks, while
// documents live, when some are dead, when these are reclaimed, and where some have no value.
func TestSkipPassesOverLivingDocuments(t *testing.T) {
	w := newWorld(t, definition(expiry.Never))
	for i := range 120 {
		rest := fmt.Sprintf(`"n":%d`, i*7%40)
		if i%10 == 3 {
			rest = `"m":1`
		}
		if i%4 == 1 {
			rest += `,"ttl":10`
		}
		_, err := w.write(w.put(store.Create, "p", fmt.Sprint(i), rest))
		w.ok(err)
	}
	n, stamps := access.Range{Path: at("n")}, access.Range{Path: at("_ts")}
	low := access.Range{Path: at("n"), Low: closedAt("10")}
	compare := func(passes bool) {
		t.Helper()
		for name, of := range map[string]*access.Walk{
			"n": {Range: n}, "n back": {Range: n, Reverse: true}, "absent": {Range: n, Absent: true},
			"absent back": {Range: n, Absent: true, Reverse: true}, "from 10": {Range: low},
			"feed": {Range: stamps}, "feed back": {Range: stamps, Reverse: true},
			"in a partition": {Range: n, Scope: access.Partition{value(`"p"`)}},
		} {
			whole := w.rows(access.Access{Of: of}, 1000)
			absent := len(whole) - len(w.rows(along(access.Walk{Range: of.Range}), 1000))
			for _, skip := range []int{0, 1, 12, 20, 70, 200} {
				left, stats := skip, access.Stats{}
				a := access.Access{Of: of, Skip: &access.Skip{Left: &left}, Stats: &stats}
				rows := w.rowsWanted(a, &left)
				if got, want := idsOfRows(rows), idsOfRows(whole[min(skip, len(whole)):]); got != want {
					t.Errorf("%s without %d: %s, want %s", name, skip, got, want)
				}
				passed := a.Skip.Passed > 0
				if want := passes && skip > 0 && *partitions == 1 && name != "in a partition" &&
					(name != "absent" || skip > absent); passed != want {
					t.Errorf("%s without %d: passed over %d, %v", name, skip, a.Skip.Passed, want)
				}
				if passed && int(stats.Documents) > len(whole)-skip+absent && skip <= len(whole) {
					t.Errorf("%s without %d reads %d documents", name, skip, stats.Documents)
				}
			}
		}
	}
	compare(true)
	w.now += 10
	compare(false)
	w.reclaimAll()
	compare(true)
	if left := w.rows(access.Access{}, 1000); slices.ContainsFunc(left, func(r row) bool { return r.id == "1" }) {
		t.Error("nothing has died")
	}
}

// rowsWanted is rows for an access with a Skip: it leaves out the documents that are not wanted.
func (w *world) rowsWanted(a access.Access, left *int) (list []row) {
	for d, err := range w.store.Scan(context.Background(), w.view(), a) {
		w.ok(err)
		if *left > 0 {
			*left--
			continue
		}
		id, _ := doc.AsString(doc.Lookup(d.Body, "id"))
		list = append(list, row{d, strings.Clone(id)})
	}
	return list
}
