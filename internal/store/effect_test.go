package store_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/store"
)

// change replaces the lifetime and returns what that did, "" for nothing.
func (w *world) change(ttl expiry.TTL, property string) string {
	w.t.Helper()
	_, e, err := w.store.ReplaceContainer(w.t.Context(), w.now, w.c,
		func(st *catalog.State) (catalog.Definition, error) {
			def := st.Definition
			def.TTL, def.TTLProperty = ttl, property
			return def, nil
		})
	w.ok(err)
	return show(e)
}

func show(e *store.Effect) string {
	if e == nil {
		return ""
	}
	return fmt.Sprintf("%s -> %s: %s", e.Before, e.After, e.Count("item", "items"))
}

func TestEffect(t *testing.T) {
	w := newWorld(t, definition(expiry.Unset))
	for i, rest := range []string{"", "", `"ttl":30`, `"ttl":-1`, `"ttl":9000`} {
		_, err := w.write(w.put(store.Create, "p", fmt.Sprint(i), rest))
		w.ok(err)
		w.now += 10
	}
	w.now += 3600
	for _, step := range []struct {
		ttl      expiry.TTL
		property string
		want     string
	}{
		{expiry.Unset, "", ""},
		{7200, "", "off -> 7200 s: 1 item"},     // its own ttl wakes up
		{7200, "", ""},                          // as before
		{9000, "", "7200 s -> 9000 s: 0 items"}, // nothing comes back
		{3645, "", "9000 s -> 3645 s: 1 item"},  // the older of the two
		{1, "", "3645 s -> 1 s: 1 item"},        // the other one
		{-1, "", "1 s -> never by default: 0 items"},
		{1, "/at", "never by default -> 1 s from /at: 0 items"},
		{expiry.Unset, "", "1 s from /at -> off: 0 items"},
	} {
		if got := w.change(step.ttl, step.property); got != step.want {
			t.Errorf("%d %s: %q, want %q", step.ttl, step.property, got, step.want)
		}
	}
}

// TestEffectIsWhatReadsSee plays random writes, reclaims and changes, and compares each effect with the documents that
// reads find before and after.
func TestEffectIsWhatReadsSee(t *testing.T) {
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 10))
		w := newWorld(t, definition(expiry.Unset))
		history := ""
		for range 60 {
			switch rng.IntN(6) {
			case 0, 1:
				rest := []string{"", "", `"ttl":%d`, `"at":%[2]d`, `"ttl":%d,"at":%d`, `"ttl":-1`}[rng.IntN(6)]
				if strings.Contains(rest, "%") {
					rest = strings.SplitN(fmt.Sprintf(rest+"\x00", 1+rng.IntN(40), int(w.now)-rng.IntN(40)), "\x00",
						2)[0]
				}
				_, err := w.write(w.put(store.Upsert, "p", fmt.Sprint(rng.IntN(30)), rest))
				w.ok(err)
			case 2:
				w.now += expiry.Stamp(rng.IntN(8))
			case 3:
				_, err := w.store.Reclaim(t.Context(), w.c, w.now, 1+rng.IntN(5))
				w.ok(err)
			default:
				ttl := []expiry.TTL{expiry.Unset, expiry.Never, 1, 5, 10, 20, 40}[rng.IntN(7)]
				property := ""
				if ttl != expiry.Unset && rng.IntN(4) == 0 {
					property = "/at"
				}
				if len(w.c.State().Policy.Past) > expiry.MaxPast-2 {
					w.reclaimAll()
				}
				before := w.count()
				did := w.change(ttl, property)
				after := w.count()
				history += fmt.Sprintf("\n%d: %s", w.now, did)
				if want := fmt.Sprintf(": %d item", before-after); did != "" && !strings.Contains(did, want) ||
					did == "" && before != after {
					t.Fatalf("seed %d: %d alive before, %d after%s", seed, before, after, history)
				}
			}
		}
	}
}

func (w *world) count() (n int) {
	w.t.Helper()
	for _, err := range w.store.Scan(context.Background(), w.view(), access.Access{}) {
		w.ok(err)
		n++
	}
	return n
}

// TestEffectOfDates does the same with indexes that end documents by dates.
func TestEffectOfDates(t *testing.T) {
	for seed := range uint64(30) {
		rng := rand.New(rand.NewPCG(seed, 11))
		w := newWorld(t,
			catalog.Definition{Name: "c", Dialect: catalog.Mongo,
				Partition: catalog.PartitionKey{Paths: []string{"/_id"}, Version: 2}})
		next, history := 0, ""
		check := func(what string, before int, e *store.Effect) {
			after := w.count()
			history += fmt.Sprintf("\n%d: %s: %s", w.now, what, show(e))
			if e == nil && before != after || e != nil && (e.More || e.Expired != uint64(before-after)) {
				t.Fatalf("seed %d: %d alive before, %d after%s", seed, before, after, history)
			}
		}
		date := func() bson.DateTime { return bson.DateTime(1000 * (int64(w.now) - rng.Int64N(30))) }
		for range 50 {
			switch rng.IntN(7) {
			case 0, 1, 2:
				next++
				body, err := bson.Marshal(bson.D{{Key: "_id", Value: next}, {Key: "a", Value: date()},
					{Key: "b", Value: bson.A{date(), 1, date()}}, {Key: "ttl", Value: 1 + rng.IntN(40)}})
				w.ok(err)
				_, err = w.write(store.Op{Verb: store.Create, Key: store.Identity(doc.Lookup(body, "_id")), Body: body,
					Lenient: true})
				w.ok(err)
			case 3:
				w.now += expiry.Stamp(rng.IntN(6))
			case 4:
				_, err := w.store.Reclaim(t.Context(), w.c, w.now, 1+rng.IntN(5))
				w.ok(err)
			case 5:
				before := w.count()
				ttl := []expiry.TTL{expiry.Unset, expiry.Never, 5, 20}[rng.IntN(4)]
				_, e, err := w.store.ReplaceContainer(t.Context(), w.now, w.c,
					func(st *catalog.State) (catalog.Definition, error) {
						def := st.Definition
						def.TTL = ttl
						return def, nil
					})
				w.ok(err)
				check(fmt.Sprint("stamp ", ttl), before, e)
			default:
				before := w.count()
				path := []string{"a", "b"}[rng.IntN(2)]
				if len(w.c.State().Policy.PastDates) > expiry.MaxPast-3 {
					w.reclaimAll()
				}
				there := slices.ContainsFunc(w.c.State().Named, func(x catalog.NamedIndex) bool {
					return x.Name == path
				})
				switch {
				case !there:
					w.announce(catalog.NamedIndex{Name: path, Columns: column(path, rng.IntN(2) == 0), Expires: true,
						Seconds: int32(rng.IntN(30))})
					before = w.count()
					e, err := w.store.BuildNamed(t.Context(), w.c, w.now)
					w.ok(err)
					check("build "+path, before, e)
				default:
					gone, seconds := rng.IntN(3) == 0, int32(rng.IntN(30))
					_, e, err := w.store.ReplaceIndexes(t.Context(), w.now, w.c,
						func(st *catalog.State) (list []catalog.NamedIndex, err error) {
							for _, x := range st.Named {
								if x.Name == path {
									x.Seconds = seconds
								}
								if x.Name != path || !gone {
									list = append(list, x)
								}
							}
							return list, nil
						})
					w.ok(err)
					check(fmt.Sprint("change ", path, gone, seconds), before, e)
				}
			}
		}
	}
}

// TestEffectIsGivenUp: past a bound the count is a least one.
func TestEffectIsGivenUp(t *testing.T) {
	w := newWorld(t, definition(expiry.Unset))
	const some = 12_000
	for from := 0; from < some; from += 500 {
		ops := make([]store.Op, 500)
		for i := range ops {
			ops[i] = w.put(store.Create, "p", fmt.Sprint(from+i), "")
		}
		_, err := w.store.WriteAll(t.Context(), w.c, w.now, ops)
		w.ok(err)
	}
	w.now += 3600
	if got, want := w.change(60, "/at"), "off -> 60 s from /at: at least 10000 items"; !strings.HasPrefix(got, want) {
		t.Errorf("%s, want %s", got, want)
	}
	w.now += 1
	if got, want := w.change(expiry.Unset, ""), "60 s from /at -> off: 0 items"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
