package store_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/store"
)

// TestRepeatedWalks repeats reads by partition and by value, of which the engine remembers the entries, between
// changes, expiry and reclaiming. There are so many values because at first the engine remembers one in 16.
func TestRepeatedWalks(t *testing.T) {
	withRanges(t, func(t *testing.T, ranges int) {
		const values, ids = 80, 4
		def := definition(expiry.Never)
		def.Partitions = ranges
		w := newWorld(t, def)
		type item struct {
			value, order int
			end          expiry.Stamp
		}
		living := map[[2]int]item{} // by partition and id
		created := 0
		var ends [values]access.Position // behind the newest document of each partition
		var newest [values]int
		for range times(12) {
			for range values {
				at := [2]int{rand.IntN(values), rand.IntN(ids)}
				pk, id := fmt.Sprint("p", at[0]), fmt.Sprint(at[1])
				old, there := living[at]
				if there && old.end <= w.now {
					there = false
				}
				if there && rand.IntN(3) == 0 {
					_, err := w.write(store.Op{Verb: store.Delete, Key: key(pk, id)})
					w.ok(err)
					delete(living, at)
					continue
				}
				x := item{value: rand.IntN(values), order: old.order, end: w.now + expiry.Stamp(1+rand.IntN(30))}
				if !there {
					created++
					x.order = created
				}
				rest := fmt.Sprintf(`"a":%d,"ttl":%d`, x.value, x.end-w.now)
				_, err := w.write(w.put(store.Upsert, pk, id, rest))
				w.ok(err)
				living[at] = x
			}
			for n, end := range ends { // the page behind, which was empty
				if end == nil {
					continue
				}
				behind := map[string]int{}
				for at, x := range living {
					if at[0] == n && x.order > newest[n] && x.end > w.now {
						behind[fmt.Sprint(at[1])] = x.order
					}
				}
				a := inPartition(fmt.Sprint("p", n), access.Access{After: end})
				if got, want := idsOfRows(w.rows(a, -1)), inOrder(behind); got != want {
					t.Fatalf("the next page of partition %d has %q, want %q", n, got, want)
				}
			}
			for range 3 {
				for n := range values {
					byPartition, byValue := map[string]int{}, map[string]int{}
					for at, x := range living {
						if x.end <= w.now {
							continue
						}
						if at[0] == n {
							byPartition[fmt.Sprint(at[1])] = x.order
						}
						if x.value == n {
							byValue[fmt.Sprint(at[1], " of ", at[0])] = x.order
						}
					}
					partition := inPartition(fmt.Sprint("p", n), access.Access{})
					value := only(is(fmt.Sprint(n), "a"))
					rows := w.rows(partition, -1)
					if got, want := idsOfRows(rows), inOrder(byPartition); got != want {
						t.Fatalf("partition %d has %q, want %q", n, got, want)
					}
					if ends[n] = nil; len(rows) > 0 {
						last := rows[len(rows)-1]
						ends[n], newest[n] = last.Position, byPartition[last.id]
						next := inPartition(fmt.Sprint("p", n), access.Access{After: ends[n]})
						if len(w.rows(next, -1)) > 0 {
							t.Fatalf("partition %d goes on behind its end", n)
						}
					}
					if got := len(w.rows(value, -1)); got != len(byValue) {
						t.Fatalf("%d documents with the value %d, want %d", got, n, len(byValue))
					}
					for a, want := range map[*access.Access]int{&partition: len(byPartition), &value: len(byValue)} {
						got, ok, err := w.store.Count(context.Background(), w.view(), *a)
						if err != nil || !ok || got != uint64(want) {
							t.Fatalf("a count of %d: %d, %v, %v, want %d", n, got, ok, err, want)
						}
					}
				}
			}
			w.now += expiry.Stamp(rand.IntN(6))
			_, err := w.store.Reclaim(context.Background(), w.c, w.now, 20)
			w.ok(err)
			_, err = w.store.Sweep(context.Background(), w.c, 50)
			w.ok(err)
		}
		w.consistent()
	})
}

// TestRepeatedWalksOfPrefixes repeats walks over prefixes of hierarchical partition keys that have nothing yet.
func TestRepeatedWalksOfPrefixes(t *testing.T) {
	def := definition(expiry.Unset)
	def.Partition = catalog.PartitionKey{Paths: []string{"/a", "/b"}, Version: 2, Multi: true}
	w := newWorld(t, def)
	for n := range 80 {
		a := doc.String(fmt.Sprint("a", n))
		prefix := in(access.Partition{a}, access.Access{})
		for want := range 3 {
			for range 3 {
				if got := len(w.rows(prefix, -1)); got != want {
					t.Fatalf("%d documents of prefix %d, want %d", got, n, want)
				}
			}
			_, err := w.write(store.Op{
				Verb: store.Create,
				Key:  store.Key{Partition: []doc.Value{a, doc.String(fmt.Sprint("b", want))}, ID: "1"},
				Body: w.body(fmt.Sprintf(`{"id":"1","a":"a%d","b":"b%d"}`, n, want)),
			})
			w.ok(err)
		}
	}
}

// inOrder joins ids in the order of their numbers.
func inOrder(ids map[string]int) string {
	var list []string
	for id := range ids {
		list = append(list, id)
	}
	slices.SortFunc(list, func(a, b string) int { return ids[a] - ids[b] })
	return strings.Join(list, " ")
}
