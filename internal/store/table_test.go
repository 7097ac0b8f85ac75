package store_test

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/keys"
	"github.com/mayflydb/mayfly/internal/store"
)

// A filled table is what a Tabulate has told: by the form of a group's value, the number of its documents, and the
// values of each column in order.
type filled map[string]*filledGroup

type filledGroup struct {
	documents uint64
	columns   [][]string
}

func (f filled) group(v doc.Value, columns int) *filledGroup {
	form := string(keys.AppendValue(nil, v, false))
	if f[form] == nil {
		f[form] = &filledGroup{columns: make([][]string, columns)}
	}
	return f[form]
}

func (f filled) String() string {
	var lines []string
	for form, g := range f {
		for _, c := range g.columns {
			slices.Sort(c)
		}
		lines = append(lines, fmt.Sprintf("%q: %d %q", form, g.documents, g.columns))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// cellText is the text of a value of a table.
func cellText(v doc.Value, whole bool) string {
	if f, ok := doc.AsFloat(v); ok {
		return fmt.Sprint(whole, f)
	}
	if !whole {
		return fmt.Sprint("rank ", doc.RankOf(v))
	}
	return string(doc.AppendJSONValue(nil, v))
}

// wholeInEntry reports whether an index entry is to keep everything of a value.
func wholeInEntry(v doc.Value) bool {
	if f, ok := doc.AsFloat(v); ok {
		return f < 1<<53 && f > -1<<53
	}
	s, _ := doc.AsString(v)
	return len(s) <= keys.MaxStringBytes && v.Type != 0x03 && v.Type != 0x04
}

// tabulated fills a table.
func (w *world) tabulated(a access.Access, by access.Path, columns []access.Path) (
	f filled, of access.Tabled, ok bool, err error,
) {
	f = filled{}
	var groups []*filledGroup
	of, ok, err = w.store.Tabulate(context.Background(), w.view(), a, &access.Table{
		By: by, Columns: columns,
		Group: func(v doc.Value) (int, error) {
			groups = append(groups, f.group(v, len(columns)))
			return len(groups) - 1, nil
		},
		Count: func(group int, documents uint64) { groups[group].documents += documents },
		Add: func(group, column int, v doc.Value, whole bool) bool {
			c := &groups[group].columns[column]
			*c = append(*c, cellText(v, whole))
			return true
		},
		Work: func(int) error { return nil },
		Hold: func(int) error { return nil },
	})
	return f, of, ok, err
}

// table compares a table with the reference.
func (ref reference) table(w *world, a access.Access, by access.Path, columns []access.Path, must bool, what string) {
	w.t.Helper()
	what = fmt.Sprintf("%s by %v, columns %v", what, by, columns)
	got, of, ok, err := w.tabulated(a, by, columns)
	switch {
	case err != nil:
		w.t.Fatalf("%s: %v", what, err)
	case !ok && must:
		w.t.Fatalf("%s: not from entries", what)
	case !ok:
		return
	}
	want, n := filled{}, uint64(0)
	for _, r := range w.rows(access.Access{}, -1) {
		if !ref.selects(w.c.State(), r, a) {
			continue
		}
		n++
		g := want.group(doc.Value{}, len(columns))
		if by != nil {
			if g.documents == 0 {
				delete(want, string(keys.AppendValue(nil, doc.Value{}, false)))
			}
			g = want.group(pathOf(by).Lookup(r.Body), len(columns))
		}
		g.documents++
		for i, c := range columns {
			if v := pathOf(c).Lookup(r.Body); !doc.IsUndefined(v) {
				g.columns[i] = append(g.columns[i], cellText(v, wholeInEntry(v)))
			}
		}
	}
	if got.String() != want.String() || of.Documents != n {
		w.t.Fatalf("%s: %d documents\n%s\nwant %d\n%s", what, of.Documents, got, n, want)
	}
}

var tablePaths = []access.Path{at("a"), at("b"), at("n", "x"), at("n", "y", "z"), at("id"), at("none")}

// table holds a random table against the reference.
func (p *wanderer) table() {
	a, what := access.Access{}, "everything"
	switch p.rng.IntN(3) {
	case 0:
		x := p.span()
		a = only(&x)
		what = p.describe(a)
	case 1:
		a = p.selection()
		what = p.describe(a)
	}
	var columns []access.Path
	for range p.rng.IntN(4) {
		columns = append(columns, tablePaths[p.rng.IntN(len(tablePaths))])
	}
	var by access.Path
	if p.rng.IntN(3) > 0 {
		by = tablePaths[p.rng.IntN(len(tablePaths))]
	}
	p.ref.table(p.world, a, by, columns, false, what)
}

// ends holds the ends of a random table against the reference.
func (p *wanderer) ends() {
	path := append(tablePaths, at("_ts"))[p.rng.IntN(len(tablePaths)+1)]
	a := access.Access{}
	if x := p.span(); p.rng.IntN(2) == 0 && x.Composite == 0 && path[0].Name != "_ts" {
		x.Path = path
		a = only(&x)
	}
	p.ref.ends(p.world, a, path, p.rng.IntN(2) == 0, p.describe(a))
}

// ends compares the least and the greatest value of a path with the reference.
func (ref reference) ends(w *world, a access.Access, path access.Path, counts bool, what string) {
	w.t.Helper()
	what = fmt.Sprintf("%s, ends of %v, counts %v", what, path, counts)
	var got, want []doc.Value
	all, defined, everyone := uint64(0), uint64(0), uint64(0)
	_, ok, err := w.store.Tabulate(context.Background(), w.view(), a, &access.Table{
		Columns: []access.Path{path}, Ends: true, Counts: counts,
		Group:   func(doc.Value) (int, error) { return 0, nil },
		Count:   func(_ int, n uint64) { all += n },
		Defined: func(_, _ int, n uint64) { defined += n },
		Add: func(_, _ int, v doc.Value, whole bool) bool {
			got = append(got, doc.Clone(v))
			defined++
			return whole || doc.RankOf(v) >= doc.RankArray
		},
		Work: func(int) error { return nil },
		Hold: func(int) error { return nil },
	})
	if err != nil {
		w.t.Fatalf("%s: %v", what, err)
	}
	if !ok {
		return
	}
	for _, r := range w.rows(access.Access{}, -1) {
		v := doc.Int(r.Stamp)
		if path[0].Name != "_ts" {
			v = pathOf(path).Lookup(r.Body)
		}
		if !ref.selects(w.c.State(), r, a) {
			continue
		}
		if everyone++; !doc.IsUndefined(v) {
			want = append(want, v)
		}
	}
	if counts && (all != everyone || defined != uint64(len(want))) {
		w.t.Fatalf("%s: %d documents, %d defined, want %d, %d", what, all, defined, everyone, len(want))
	}
	if len(got) == 0 || len(want) == 0 {
		if len(got) != len(want) {
			w.t.Fatalf("%s: %v, want %v", what, got, want)
		}
		return
	}
	for _, end := range []func([]doc.Value, func(a, b doc.Value) int) doc.Value{slices.MinFunc[[]doc.Value],
		slices.MaxFunc[[]doc.Value]} {
		got, want := end(got, doc.Compare), end(want, doc.Compare)
		if least := min(doc.RankOf(got), doc.RankOf(want)); least < doc.RankArray && doc.Compare(got, want) != 0 {
			w.t.Fatalf("%s: %v, want %v", what, got, want)
		}
	}
}

// values holds the values of a random path against the reference.
func (p *wanderer) values() {
	path := tablePaths[p.rng.IntN(len(tablePaths))]
	a := access.Access{}
	if x := p.span(); p.rng.IntN(2) == 0 && x.Composite == 0 {
		x.Path = path
		a = only(&x)
	}
	p.ref.values(p.world, a, path, p.rng.IntN(2) == 0, p.describe(a))
}

// values compares the different values of a path with the reference.
func (ref reference) values(w *world, a access.Access, path access.Path, lacking bool, what string) (told bool) {
	w.t.Helper()
	what = fmt.Sprintf("%s, values of %v, lacking %v", what, path, lacking)
	got, want := map[string]bool{}, map[string]bool{}
	_, ok, err := w.store.Tabulate(context.Background(), w.view(), a, &access.Table{
		By: path, Values: true, Lacking: lacking,
		Group: func(v doc.Value) (int, error) {
			got[string(keys.AppendValue(nil, v, false))] = true
			return -1, nil
		},
		Count: func(int, uint64) {},
		Work:  func(int) error { return nil },
		Hold:  func(int) error { return nil },
	})
	if err != nil {
		w.t.Fatalf("%s: %v", what, err)
	}
	for _, r := range w.rows(access.Access{}, -1) {
		v := pathOf(path).Lookup(r.Body)
		if ref.selects(w.c.State(), r, a) && (lacking || !doc.IsUndefined(v)) {
			want[string(keys.AppendValue(nil, v, false))] = true
		}
	}
	if !lacking {
		delete(got, string(keys.AppendValue(nil, doc.Value{}, false)))
	}
	if ok && !maps.Equal(got, want) {
		w.t.Fatalf("%s: %q, want %q", what, slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want)))
	}
	return ok
}

// TestValues reads the values of paths while documents that have some of them alone expire and are reclaimed.
func TestValues(t *testing.T) {
	for _, ttl := range []expiry.TTL{expiry.Never, 40} {
		w, ref := newWorld(t, definition(ttl)), reference{}
		for i := range 120 {
			rest := fmt.Sprintf(`"n":%d,"kind":"k%d","m":%d`, i/5, i%3, i%9)
			if i%4 == 0 {
				rest = fmt.Sprintf(`"n":%d,"kind":"short-%d","ttl":%d`, i/5, i%12, 1+i%30)
			}
			_, err := w.write(w.put(store.Upsert, fmt.Sprint("p", i%7), fmt.Sprint(i), rest))
			w.ok(err)
		}
		for range 50 {
			w.now++
			if w.now%4 == 0 {
				_, err := w.store.Reclaim(context.Background(), w.c, w.now, 5)
				w.ok(err)
			}
			if w.now%7 == 0 {
				_, err := w.store.Sweep(context.Background(), w.c, 30)
				w.ok(err)
			}
			for _, path := range []string{"n", "kind", "m", "none"} {
				for _, lacking := range []bool{false, true} {
					if !ref.values(w, access.Access{}, at(path), lacking, fmt.Sprint("at ", w.now)) {
						t.Fatalf("at %d: no values of %s", w.now, path)
					}
				}
			}
		}
	}
}

func pathOf(p access.Path) (path doc.Path) {
	for _, s := range p {
		path = append(path, doc.Token{Name: s.Name})
	}
	return path
}

// tables are tables over documents with members n, group and perhaps m.
var tables = []struct {
	name    string
	a       access.Access
	by      access.Path
	columns []access.Path
}{
	{"everything", access.Access{}, nil, []access.Path{at("n")}},
	{"everything, by group", access.Access{}, at("group"), []access.Path{at("n"), at("m")}},
	{"everything, by a member that few have", access.Access{}, at("m"), []access.Path{at("n")}},
	{"a range", only(&access.Range{Path: at("n"), Low: closedAt("20")}), nil, []access.Path{at("m"), at("group")}},
	{"a range of its column", only(&access.Range{Path: at("n"), Low: closedAt("20")}), nil, []access.Path{at("n")}},
	{"a walk, by group", along(access.Walk{Range: access.Range{Path: at("n"), High: openAt("150")}}), at("group"),
		[]access.Path{at("n"), at("m")}},
}

// fillTable writes documents for tables.
func (w *world) fillTable(from, to int, ttl string) {
	for i := from; i < to; i++ {
		rest := fmt.Sprintf(`"n":%d,"group":"g%d"`, i, i%5) + ttl
		if i%4 == 0 {
			rest += fmt.Sprintf(`,"m":%d.5`, i)
		}
		_, err := w.write(w.put(store.Upsert, fmt.Sprint("p", i%7), fmt.Sprint(i), rest))
		w.ok(err)
	}
}

// TestTable fills tables from entries alone, also after documents were replaced and deleted.
func TestTable(t *testing.T) {
	for _, ttl := range []expiry.TTL{expiry.Unset, expiry.Never} {
		w, ref := newWorld(t, definition(ttl)), reference{}
		check := func(must bool) {
			t.Helper()
			for _, x := range tables {
				ref.table(w, x.a, x.by, x.columns, must, x.name)
			}
		}
		check(false)
		w.fillTable(0, 200, "")
		check(true)
		for i := 0; i < 200; i += 3 { // other values
			_, err := w.write(w.put(store.Replace, fmt.Sprint("p", i%7), fmt.Sprint(i),
				fmt.Sprintf(`"n":%d,"group":"g%d","m":%d`, 200-i, i%4, i)))
			w.ok(err)
		}
		check(true)
		for i := 1; i < 200; i += 9 {
			_, err := w.write(store.Op{Verb: store.Delete, Key: key(fmt.Sprint("p", i%7), fmt.Sprint(i))})
			w.ok(err)
		}
		check(true)
	}
}

// TestTableAlongsideBacklog fills tables while documents expire, while they wait for being reclaimed, and while their
// entries wait for a sweep. No document that is gone may be in a table.
func TestTableAlongsideBacklog(t *testing.T) {
	for _, ttl := range []expiry.TTL{expiry.Never, 40} {
		w, ref := newWorld(t, definition(ttl)), reference{}
		w.fillTable(0, 150, `,"ttl":-1`)
		for i := range 6 {
			w.fillTable(150+10*i, 160+10*i, []string{"", `,"ttl":7`, `,"ttl":20`}[i%3])
			w.now++
		}
		check := func(must bool) {
			t.Helper()
			for _, x := range tables {
				ref.table(w, x.a, x.by, x.columns, must, fmt.Sprint(x.name, " at ", w.now))
			}
		}
		check(true)
		for range 60 {
			w.now++
			check(false)
			_, err := w.store.Reclaim(context.Background(), w.c, w.now, 2)
			w.ok(err)
			check(false)
			if w.now%3 == 0 {
				_, err = w.store.Sweep(context.Background(), w.c, 30)
				w.ok(err)
				check(false)
			}
		}
		(&indexed{world: w}).free()
		check(true)
		w.setTTL(expiry.Unset) // nothing comes back
		check(true)
	}
}

// TestNoTable has queries that entries do not answer.
func TestNoTable(t *testing.T) {
	def := definition(expiry.Never)
	def.Indexing.Excluded = []string{"/off/?"}
	def.Indexing.Composite = [][]catalog.CompositePath{{{Path: "/n"}, {Path: "/group"}}}
	w := newWorld(t, def)
	w.fillTable(0, 100, `,"off":1,"list":[1,2]`)
	text := `"` + strings.Repeat("x", 300) + `"`
	_, err := w.write(w.put(store.Create, "p", "x", `"n":9007199254740993,"text":`+text))
	w.ok(err)
	for _, c := range []struct {
		name   string
		a      access.Access
		by     access.Path
		column access.Path
	}{
		{"a path without an index", access.Access{}, nil, at("off")},
		{"groups of a path without an index", access.Access{}, at("off"), at("n")},
		{"groups of long strings", access.Access{}, at("text"), at("n")},
		{"groups of arrays", access.Access{}, at("list"), at("n")},
		{"groups of large numbers", access.Access{}, at("n"), at("m")},
		{"elements of arrays", access.Access{}, nil, at("list", "[]")},
		{"the stamp", access.Access{}, nil, at("_ts")},
		{"a partition", inPartition("p1", access.Access{}), nil, at("n")},
		{"a range with a long string", only(&access.Range{Path: at("text"), Low: closedAt(text)}), nil, at("n")},
		{"few of the documents", only(&access.Range{Path: at("n"), Low: closedAt("98"), High: closedAt("99")}), nil,
			at("m")},
		{"a composite index", only(&access.Range{Composite: 1}), nil, at("n")},
		{"several ranges", only(all(&access.Range{Path: at("n")}, &access.Range{Path: at("m")})), nil, at("n")},
		{"the documents without a value", walkOf("m", withAbsent), nil, at("n")},
	} {
		if _, _, ok, err := w.tabulated(c.a, c.by, []access.Path{c.column}); ok || err != nil {
			t.Errorf("%s: %v, %v", c.name, ok, err)
		}
	}
}

// TestDecodedValues has values whose entries keep all of them.
func TestDecodedValues(t *testing.T) {
	for _, text := range append(slices.Clone(domain[2:]), "-0.0", "1e300", "-1e-300", "-9007199254740991",
		"18446744073709551615", "0.1", `"`+long+`"`, `"a\u0000\u0000b"`) {
		v := value(text)
		form := keys.AppendValue(nil, v, false)
		got, whole, err := keys.DecodeValue(nil, form)
		if err != nil || cellText(got, whole) != cellText(v, wholeInEntry(v)) {
			t.Errorf("%.40s: %s, %v", text, cellText(got, whole), err)
		}
		if again := keys.AppendValue(nil, got, false); whole && !bytes.Equal(again, form) {
			t.Errorf("%.40s: %x, then %x", text, form, again)
		}
	}
}
