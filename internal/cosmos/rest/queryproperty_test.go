package rest

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mayflydb/mayfly/internal/doc"
)

// A trial is one query of a random test, and how it failed.
type trial struct {
	*randomContainer
	randomQuery
	query string
	part  []string
	where string // the seed and the round
}

func (x *trial) fail(format string, args ...any) {
	x.t.Helper()
	plan, _, _ := x.page(x.query, 10, "", append([]string{"x-mayfly-explain", "true"}, x.part...)...)
	x.t.Fatalf("%s, key %v: %s in %q\n%s\n%s", x.where, x.key, x.query, x.part, fmt.Sprintf(format, args...),
		strings.Join(plan, "\n"))
}

// unindexed reports that an ORDER BY was rejected because no index supports it.
func unindexed(a answer) bool {
	return strings.Contains(a.text, "index path") || strings.Contains(a.text, "composite index")
}

// TestPlansNeverChangeAnswers runs random queries over random items, some of them expired, with and without indexes,
// at once and in pages, over the container and its parts.
func TestPlansNeverChangeAnswers(t *testing.T) {
	t.Parallel()
	seed := newSeed(t)
	m := newRandomContainer(t, seed)
	for round := range 2 * *mazeRounds {
		if round%10 == 9 {
			for range 10 {
				m.disturb()
			}
			if m.ttl == "" {
				m.ttl = "40"
			}
			m.index = m.pick(append([]string{randomIndexes[0], randomIndexes[0]}, randomIndexes[:5]...)...)
			m.redefine()
			m.built()
		}
		x := &trial{randomContainer: m, randomQuery: m.randomQuery(), part: m.part(),
			where: fmt.Sprintf("-query-seed=%d, round %d", seed, round)}
		x.query = x.text()
		limited := x.kind != grouped && m.IntN(4) == 0
		if limited {
			x.query, _, _ = m.limited(x.randomQuery)
		}
		if want := x.inEveryWay(limited); want != nil && !limited {
			x.counts(want)
			x.inOrder(want)
			x.inParts(want)
		}
	}
}

// inEveryWay returns the answer, or nil if the query is rejected.
func (x *trial) inEveryWay(limited bool) []string {
	size := 1 + x.IntN(9)
	scan := append(slices.Clone(scanning), x.part...)
	want, refused := x.every(x.query, 1000, scan...)
	if refused.status != 0 {
		if _, again := x.every(x.query, 1000, x.part...); !unindexed(refused) || again.status != refused.status {
			x.fail("refused: %s, %d with indexes", refused.text, again.status)
		}
		return nil
	}
	walked, refused := x.every(x.query, 1000, x.part...)
	for _, way := range []struct {
		name    string
		headers []string
		size    int
		want    []string
		same    bool // the order too
	}{
		{"with indexes", x.part, 1000, want, x.order != ""},
		{"in pages", x.part, size, walked, true},
		{"scanned in pages", scan, size, want, true},
	} {
		got, refused := x.every(x.query, way.size, way.headers...)
		a, b := got, way.want
		switch {
		case refused.status != 0:
			x.fail("%s of %d: %s", way.name, way.size, refused.text)
		case way.same:
		case limited && x.kind != distinct: // any of the rows may be chosen
			a, b = make([]string, len(a)), make([]string, len(b))
		default:
			a, b = sorted(a), sorted(b)
		}
		if !slices.Equal(a, b) {
			x.fail("%s of %d\n%s\nwant\n%s", way.name, way.size, differing(a, b), differing(b, a))
		}
	}
	return append([]string{}, want...)
}

// counts checks the number of rows.
func (x *trial) counts(want []string) {
	if x.kind != plain {
		return
	}
	from := x.core[strings.Index(x.core, " FROM c"):]
	x.query = "SELECT VALUE COUNT(1)" + from
	if n, refused := x.every(x.query, 10, x.part...); refused.status != 0 || len(n) != 1 ||
		n[0] != strconv.Itoa(len(want)) {
		x.fail("%v %s, want %d", n, refused.text, len(want))
	}
	path := x.path()
	defined, _ := x.every("SELECT VALUE "+path+from, 1000, append(slices.Clone(scanning), x.part...)...)
	x.query = "SELECT VALUE COUNT(" + path + ")" + from
	if n, refused := x.every(x.query, 10, x.part...); refused.status != 0 || len(n) != 1 ||
		n[0] != strconv.Itoa(len(defined)) {
		x.fail("%v %s, want %d", n, refused.text, len(defined))
	}
	x.query = x.text()
}

// inOrder checks rows against ORDER BY.
func (x *trial) inOrder(rows []string) {
	for i := 1; i < len(rows) && x.order != ""; i++ {
		if x.compare(x.t, rows[i-1], rows[i]) > 0 {
			x.fail("row %d is out of order: %s then %s", i, rows[i-1], rows[i])
		}
	}
}

// inParts checks that the rows of a partition are those of the whole answer whose items have its key, and that
// several ranges of effective partition keys add up to the whole answer.
func (x *trial) inParts(rows []string) {
	switch {
	case len(x.part) == 0 || x.kind != plain:
	case x.part[0] == hPK:
		in := map[string]bool{}
		for _, item := range x.all() {
			in[item.rid] = underKey(x.t, x.part[1], item.key)
		}
		whole, refused := x.every(x.query, 1000)
		want := slices.DeleteFunc(whole, func(row string) bool {
			rid, _ := source(row)
			return !in[rid]
		})
		if x.order == "" {
			rows, want = sorted(rows), sorted(want)
		}
		if refused.status == 0 && !slices.Equal(rows, want) {
			x.fail("a partition\n%s\nwant\n%s", differing(rows, want), differing(want, rows))
		}
	case x.order == "":
		at := x.IntN(60)
		a, b := fmt.Sprintf("%02X", at), fmt.Sprintf("%02X%02X", at+1, x.IntN(256))
		var got []string
		for _, h := range [][]string{{"x-ms-end-epk", a}, {"x-ms-start-epk", a, "x-ms-end-epk", b}, {"x-ms-start-epk",
			b}} {
			some, _ := x.every(x.query, 1+x.IntN(30), h...)
			got = append(got, some...)
		}
		want, _ := x.every(x.query, 1000)
		if got, want = sorted(got), sorted(want); !slices.Equal(got, want) {
			x.fail("ranges cut at %s and %s\n%s\nwant\n%s", a, b, differing(got, want), differing(want, got))
		}
	}
}

// underKey reports whether an item's key begins with a given key. Numbers are compared as doubles, and objects count
// as missing.
func underKey(t testing.TB, key, item string) bool {
	var parts, have []json.RawMessage
	must(t, json.Unmarshal([]byte(key), &parts))
	must(t, json.Unmarshal([]byte(item), &have))
	for i, part := range parts {
		a, _ := doc.ValueFromJSON(part)
		b, _ := doc.ValueFromJSON(have[i])
		f, isNumber := doc.AsFloat(a)
		g, _ := doc.AsFloat(b)
		switch {
		case doc.RankOf(a) != doc.RankOf(b), isNumber && f != g, !isNumber && !doc.Equal(a, b):
			return false
		}
	}
	return true
}

// TestPagesThroughChanges reads random queries page by page. Between the pages items are written, deleted, expire,
// are reclaimed and swept, TTL and indexing change, and the process restarts.
func TestPagesThroughChanges(t *testing.T) {
	t.Parallel()
	seed := newSeed(t)
	m := newRandomContainer(t, seed)
	for round := range *mazeRounds {
		for len(m.all()) < *mazeItems/2 {
			m.write()
		}
		if m.IntN(5) == 0 {
			m.index = randomIndexes[0]
			m.redefine()
			m.built()
		}
		x := &trial{randomContainer: m, randomQuery: m.randomQuery(), part: m.part(),
			where: fmt.Sprintf("-query-seed=%d, round %d", seed, round)}
		x.query = x.text()
		most, skip := -1, 0
		if (x.kind == plain || x.kind == joined) && m.IntN(4) == 0 {
			x.query, skip, most = m.limited(x.randomQuery)
		}
		x.through(skip, most)
	}
}

// through reads the pages. Rows that are in the answer before, between and after all changes must occur once; rows
// that are not in the answer at the time of a page must not be on it.
func (x *trial) through(skip, most int) {
	least := map[string]int{}
	greatest := map[string]int{}
	seen := false
	see := func() []string {
		rows, refused := x.every(x.core, 10_000, append(slices.Clone(scanning), x.part...)...)
		if refused.status != 0 {
			x.fail("without order: %s", refused.text)
		}
		now := map[string]int{}
		for _, row := range rows {
			now[x.identity(row)]++
		}
		for id, n := range now {
			greatest[id] = max(n, greatest[id])
			if !seen {
				least[id] = n
			}
		}
		for id := range least {
			least[id] = min(least[id], now[id])
		}
		seen = true
		return rows
	}
	size, busy := 1+x.IntN(*mazeItems/15), x.IntN(4)
	var rows []string
	for token := ""; ; {
		headers := x.part
		if x.IntN(6) == 0 {
			headers = append(slices.Clone(scanning), x.part...)
		}
		now := see()
		got, next, a := x.page(x.query, size, token, headers...)
		if a.status != 200 {
			if token == "" && unindexed(a) {
				return
			}
			x.fail("behind %d rows: %s", len(rows), a.text)
		}
		for _, row := range got {
			i := slices.Index(now, row)
			if i < 0 {
				x.fail("a row that is not there: %s", row)
			}
			now = slices.Delete(now, i, i+1)
		}
		rows = append(rows, got...)
		if token = next; token == "" {
			break
		}
		for range x.IntN(busy+1) * *mazeItems / 220 {
			x.disturb()
		}
	}
	see()
	x.inOrder(rows)
	given := map[string]int{}
	for _, row := range rows {
		given[x.identity(row)]++
	}
	if x.kind == many || x.kind == one {
		return // other items may give such rows, or the row changes
	}
	for id, n := range given {
		if n > greatest[id] {
			x.fail("%d times, not %d: %s", n, greatest[id], id)
		}
	}
	stay := 0 // rows; that of an item which changes may move from behind a page to before it
	for id, n := range least {
		if stay += n; most < 0 && given[id] < n {
			x.fail("%d times, not %d: %s", given[id], n, id)
		}
	}
	if most >= 0 && (len(rows) > most || len(rows) < min(most, stay-skip)) {
		x.fail("%d rows, where %d stay", len(rows), stay)
	}
}

// TestQueriesBesideChanges queries items that stay unchanged while everything else changes concurrently.
func TestQueriesBesideChanges(t *testing.T) {
	t.Parallel()
	seed := newSeed(t)
	m := newRandomContainer(t, seed)
	key := map[int]string{1: `["st"]`, 2: `["st",1]`, 3: `["st",1,"s"]`}[len(m.key)]
	for i := range 100 {
		m.do("POST", documents,
			fmt.Sprintf(`{"id":"s%d","pk":"st","u":1,"n":{"s":"s","x":%s},"stays":true,"a":%s,"b":%s,"tags":[%s,%s],"ttl":-1}`,
				i, m.scalar(), m.value(), m.value(), m.scalar(), m.scalar()), hPK, key).want(201)
	}
	var over atomic.Bool
	var all sync.WaitGroup
	for n, change := range []func(m *randomContainer) error{
		func(m *randomContainer) error {
			body, key := m.item(m.IntN(200))
			if a := m.do("POST", documents, body, "x-ms-documentdb-is-upsert", "true", hPK, key); a.status > 201 &&
				a.status != 449 {
				return fmt.Errorf("write: %s", a.text)
			}
			return nil
		},
		func(m *randomContainer) error {
			err := m.clock.Advance(time.Duration(m.IntN(1500)) * time.Millisecond)
			if err == nil {
				_, err = m.store.Reclaim(context.Background(), m.coll(), m.clock.Now().Unix(), 20)
			}
			if err == nil {
				_, err = m.store.Sweep(context.Background(), m.coll(), 500)
			}
			return err
		},
		func(m *randomContainer) error {
			m.index, m.ttl = m.pick(randomIndexes[:5]...), m.pick("60", "20", "-1", "100")
			if a := m.do("PUT", collection, m.definition()); a.status != 200 {
				return fmt.Errorf("definition: %s", a.text)
			}
			if m.IntN(2) == 0 {
				m.built()
			}
			return nil
		},
	} {
		own := *m
		own.Rand = rand.New(rand.NewPCG(seed, uint64(n)))
		all.Go(func() {
			for !over.Load() && !t.Failed() {
				if err := change(&own); err != nil {
					t.Error(err)
				}
			}
		})
	}
	defer all.Wait()
	defer over.Store(true)
	for round := range *mazeRounds {
		x := &trial{randomContainer: m, where: fmt.Sprintf("-query-seed=%d, round %d", seed, round)}
		x.kind, x.keys = plain, m.sortKeys()
		filter := " FROM c WHERE c.stays = true"
		if p := m.predicate(2); !strings.Contains(p, "_ts") && !strings.Contains(p, "_etag") {
			filter += " AND " + p
		}
		if len(x.keys) > 0 && m.IntN(3) > 0 {
			x.order = " ORDER BY " + strings.Join(x.keys, ", ")
		}
		x.core = "SELECT c._rid" + keyItems(x.keys) + filter
		x.query = x.text()
		want, refused := x.every(x.core, 1000, scanning...)
		if refused.status != 0 {
			x.fail("%s", refused.text)
		}
		got, refused := x.every(x.query, 1+m.IntN(60))
		switch {
		case refused.status == 0:
		case unindexed(refused):
			continue
		default:
			x.fail("%s", refused.text)
		}
		x.inOrder(got)
		if got, want = sorted(got), sorted(want); !slices.Equal(got, want) {
			x.fail("%s\nwant\n%s", differing(got, want), differing(want, got))
		}
		x.query = "SELECT VALUE COUNT(1)" + filter
		if n, refused := x.every(x.query, 10); refused.status != 0 || n[0] != strconv.Itoa(len(want)) {
			x.fail("%v %s, want %d", n, refused.text, len(want))
		}
	}
}

// TestTokensThatSayAnything checks that any token with a valid signature results in a page or an error.
func TestTokensThatSayAnything(t *testing.T) {
	t.Parallel()
	m := newRandomContainer(t, newSeed(t))
	var pool [][]byte
	for range *mazeRounds {
		r := m.randomQuery()
		_, next, _ := m.page(r.text(), 1+m.IntN(5), "")
		if next == "" {
			continue
		}
		raw, err := base64.RawURLEncoding.DecodeString(next)
		must(t, err)
		pool = append(pool, raw[1:len(raw)-tokenSumBytes])
		for range 20 {
			b := slices.Clone(pool[len(pool)-1])
			switch m.IntN(5) {
			case 0:
				b = slices.Clone(pool[m.IntN(len(pool))])
			case 1:
				b = b[:1+m.IntN(len(b))]
			case 2:
				b = append(b, byte(m.IntN(256)))
			}
			for range m.IntN(4) {
				b[m.IntN(len(b))] = byte(m.IntN(256))
			}
			_, _, a := m.page(r.text(), 1+m.IntN(50), continuation(m.coll(), nil, b, r.text()))
			if a.status != 200 && a.status != 400 && a.status != 413 {
				t.Fatalf("%s: %x\n%s", r.text(), b, a.text)
			}
		}
	}
}
