package keys

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"reflect"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/storytest"
)

// TestFormat prints one example of every shape, so that a change of the
// format is a change of testdata/format.golden. Such a change needs a new
// FormatVersion, or recordVersion, once data exists that people keep.
func TestFormat(t *testing.T) {
	var out bytes.Buffer
	line := func(name string, parts ...[]byte) {
		fmt.Fprintf(&out, "%-34s", name)
		for _, p := range parts {
			if len(p) > 0 {
				fmt.Fprintf(&out, " %x", p)
			}
		}
		fmt.Fprintln(&out)
	}
	key := func(name string, k []byte) { line(name, k[:prefixBytes], k[prefixBytes:]) }

	r := Range{Container: 0x0A0B0C0D, Range: 0x0102}
	one := AppendPartition(nil, HashV1, false, []doc.Value{str("redmond")})
	two := AppendPartition(nil, HashV2, false, []doc.Value{str("redmond")})
	three := AppendPartition(nil, HashV2, true, []doc.Value{str("redmond"), doc.Int(5), null})
	path := appendPath(nil, []string{"tags", eachElement, "name"})

	key("d record", r.Record(nil, 7))
	key("k lookup, version 1", r.Lookup(nil, one, "id"))
	key("k lookup, version 2", r.Lookup(nil, two, "id"))
	key("k lookup, three levels", r.Lookup(nil, three, "id"))
	key("p posting", r.Posting(nil, two, 7))
	key("i entry", entry(r, 3, path, str("x"), 7))
	key("c composite, descending second", r.Composite(nil, 3, 1, []doc.Value{yes, str("x")}, []bool{false, true}, 7))
	key("f feed", r.Feed(nil, 9))
	key("x deadline", r.Deadline(nil, 1700000000, 7))
	key("x deadline before 1970", r.Deadline(nil, -1, 7))
	key("u unique", r.Unique(nil, 2, two, []doc.Value{str("x"), undefined}))
	key("u unique, hashed", r.Unique(nil, 2, two, []doc.Value{str(strings.Repeat("x", MaxUniqueBytes))}))
	key("r reclaimed", r.Reclaimed(nil, 7))
	key("m mark", r.Mark(nil))
	key("o order", r.Order(nil))
	key("h deletion", r.Deletion(nil, 9))
	key("n named", AppendNumber(AppendBSON(r.NamedPrefix(nil, 3), str("x"), true), 7))
	key("y multikey", r.Multikey(nil, 3))
	key("b building", r.Building(nil, BuildOfNamed))
	key("b splitting", r.Splitting(nil))
	key("u unique, of a named index", r.NamedUnique(nil, 3, AppendBSON(nil, str("x"), false)))
	key("k lookup of an _id", r.Lookup(nil, AppendID(nil, doc.ObjectID([12]byte{1, 11: 2})), ""))
	fmt.Fprintln(&out)

	line("number or sequence as a value", AppendNumber(nil, 7))
	line("f feed value", AppendFeed(nil, FeedEntry{Number: 7, Stamp: 1700000000, TTL: -1, Bytes: 513}))
	line("x deadline value", AppendDeadline(nil, DeadlineEntry{Sequence: 9, Bytes: 513}))
	line("o order value", Counter{Sequence: 9, Number: 7, Stamp: 1700000000, Documents: 5, Bytes: 513}.Append(nil))
	line("o order value, of several processes",
		Counter{Sequence: 9, Number: 7, Stamp: 1700000000, Epoch: 3}.Append(nil))
	line("m mark value", ReclaimMark{Feed: 9, Own: 1700000000, Pending: 5}.Append(nil))
	line("b building value", Progress{Next: 7, Indexes: []uint32{1, 3}}.Append(nil))
	line("b building value, of a split range", Progress{Range: 5, Next: 7, Indexes: []uint32{1, 3}}.Append(nil))
	line("b splitting value", SplitProgress{Copied: 9, New: [2]Copied{{5, 0x201}, {1, 2}}}.Append(nil))
	line("d record header", AppendHeader(nil, Header{Class: ClassOwn, Sequence: 9, Stamp: 1700000000, TTL: 60}))
	fmt.Fprintln(&out)

	line("system clock", ClockKey())
	line("system clean", CleanKey())
	line("system epoch", EpochKey(5))
	line("system format", FormatKey())
	line("system with ids", System("name", 1, 2))
	line("system log", LogKey(1700000000<<32|3))
	line("system log, header of the value", AppendLogHeader(nil, 513, 1700000000123))
	line("system logged", LogCounterKey())
	line("system logged value",
		LogCounter{Newest: 1700000000<<32 | 3, Trimmed: 1600000000 << 32, Bytes: 513, Lives: 2}.Append(nil))
	line("system audit", AuditKey(1<<32|3))
	line("system audit value", AppendAudit(nil, 513, []byte("{}")))
	line("system lease", LeaseKey("reclaim/5"))
	line("system lease value", Lease{Epoch: 3, Since: 1700000000123, Holder: "A7"}.Append(nil))
	line("system holder", HolderKey("A7"))
	line("system holder value", AppendHolder(nil, 1700000000123))
	line("system session", SessionKey(SessionOwner{1, 47: 2}, 3))
	line("system session value", SessionRecord{
		State: SessionWrite, Number: 9, Parts: 4, Stamp: 1700000000, Body: []byte("body"),
	}.Append(nil))
	line("system sessionswept", SessionSweptKey())
	line("catalog", CatalogKey('c', 1, 2))
	fmt.Fprintln(&out)

	line("path /", appendPath(nil, nil))
	line("path /a", appendPath(nil, []string{"a"}))
	line("path /a/[]", appendPath(nil, []string{"a", eachElement}))
	line("path of a nameless member", appendPath(nil, []string{""}))
	line("path of 300 characters", appendPath(nil, []string{strings.Repeat("a", 300)}))
	fmt.Fprintln(&out)

	for _, values := range ascending {
		v := values[0]
		line(fmt.Sprintf("%.34s", "value "+describe(v)), AppendValue(nil, v, false), AppendValue(nil, v, true))
	}
	line("value, 257 x", AppendValue(nil, str(strings.Repeat("x", 257)), false))
	fmt.Fprintln(&out)

	for _, c := range bsonExamples() {
		line("bson "+c.name, AppendBSON(nil, c.value, false), AppendBSON(nil, c.value, true))
	}
	fmt.Fprintln(&out)
	line("exact [null]", AppendExact(nil, array(null)))
	line("exact {\"a\":null}", AppendExact(nil, object(bsoncore.AppendNullElement(nil, "a"))))

	const golden = "testdata/format.golden"
	if storytest.Rewriting() {
		if err := os.WriteFile(golden, out.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	got, wanted := strings.Split(out.String(), "\n"), strings.Split(string(want), "\n")
	for i := range max(len(got), len(wanted)) {
		g, w := "", ""
		if i < len(got) {
			g = got[i]
		}
		if i < len(wanted) {
			w = wanted[i]
		}
		if g != w {
			t.Errorf("line %d (go test -run TestFormat -rewrite accepts it)\n got %s\nwant %s", i+1, g, w)
		}
	}
}

func describe(v doc.Value) string {
	if v.Type == bsoncore.TypeObjectID {
		return "object id"
	}
	switch rank(v) {
	case rankString:
		return fmt.Sprintf("%q", string(v.Data[4:len(v.Data)-1]))
	case rankNumber:
		if x := exactly(v); x != nil {
			return x.Text('g', 20)
		}
		return "NaN"
	case rank(undefined):
		return "undefined"
	case rank(no):
		return "false"
	case rank(yes):
		return "true"
	}
	return v.Type.String()
}

func TestDocumentation(t *testing.T) {
	text, err := os.ReadFile("../../docs/format.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range kinds {
		if !bytes.Contains(text, []byte(fmt.Sprintf("### `%c` ", k))) {
			t.Errorf("docs/format.md has no section for keys of kind %c", k)
		}
	}
}

// kinds lists every kind.
var kinds = []Kind{KindRecord, KindLookup, KindPosting, KindEntry, KindComposite, KindFeed, KindDeadline,
	KindUnique, KindReclaimed, KindMark, KindOrder, KindDeletion, KindNamed, KindMultikey, KindBuilding}

func TestEnd(t *testing.T) {
	for _, c := range []struct{ prefix, want string }{
		{"", ""}, {"a", "b"}, {"a\xFF", "b"}, {"a\xFFb", "a\xFFc"}, {"\xFF\xFF", ""}, {"\x00", "\x01"},
	} {
		if got := End([]byte(c.prefix)); string(got) != c.want || (got == nil) != (c.want == "") {
			t.Errorf("%q: %q, want %q", c.prefix, got, c.want)
		}
	}
}

func TestKindsAreDistinct(t *testing.T) {
	seen := map[Kind]bool{}
	for _, k := range kinds {
		if seen[k] {
			t.Errorf("kind %c twice", k)
		}
		seen[k] = true
	}
}

func inside(key, lower, upper []byte) bool {
	return bytes.Compare(lower, key) <= 0 && (upper == nil || bytes.Compare(key, upper) < 0)
}

func TestBounds(t *testing.T) {
	r := Range{Container: 1, Range: 0xFFFF}
	p := AppendPartition(nil, HashV2, true, []doc.Value{str("a"), str("b")})
	prefix := AppendPartition(nil, HashV2, true, []doc.Value{str("a")})
	other := AppendPartition(nil, HashV2, true, []doc.Value{str("b"), str("b")})
	path := appendPath(nil, []string{"a"})
	below := appendPath(nil, []string{"a", "b"})

	type bounds struct{ lower, upper []byte }
	pair := func(lower, upper []byte) bounds { return bounds{lower, upper} }
	for _, c := range []struct {
		name string
		key  []byte
		in   bounds
		want bool
	}{
		{"record of its range", r.Record(nil, math.MaxUint64), pair(r.Bounds(KindRecord)), true},
		{"record of the next container", Range{2, 0}.Record(nil, 0), pair(r.Bounds(KindRecord)), false},
		{"feed among records", r.Feed(nil, 1), pair(r.Bounds(KindRecord)), false},
		{"order counter", r.Order(nil), pair(r.Bounds(KindOrder)), true},
		{"last key of a container", r.Posting(nil, p, math.MaxUint64), pair(ContainerBounds(1)), true},
		{"next container", Range{2, 0}.Record(nil, 0), pair(ContainerBounds(1)), false},
		{"entry of its named index", AppendNumber(AppendBSON(r.NamedPrefix(nil, 3), str("x"), true), math.MaxUint64),
			pair(r.NamedBounds(3)), true},
		{"entry of another named index", AppendNumber(AppendBSON(r.NamedPrefix(nil, 4), null, false), 0),
			pair(r.NamedBounds(3)), false},
		{"multikey among named entries", r.Multikey(nil, 3), pair(r.Bounds(KindNamed)), false},
		{"values of its named index", r.NamedUnique(nil, 3, AppendBSON(nil, str("x"), false)),
			pair(r.NamedUniqueBounds(3)), true},
		{"values of another named index", r.NamedUnique(nil, 4, AppendBSON(nil, null, false)),
			pair(r.NamedUniqueBounds(3)), false},
		{"last container", Range{math.MaxUint32, math.MaxUint16}.Record(nil, 1), pair(ContainerBounds(math.MaxUint32)),
			true},
		{"lookup in its partition", r.Lookup(nil, p, "\xFF"), pair(r.PartitionBounds(KindLookup, p)), true},
		{"lookup in a prefix of its partition", r.Lookup(nil, p, "id"), pair(r.PartitionBounds(KindLookup, prefix)),
			true},
		{"lookup in another partition", r.Lookup(nil, other, "id"), pair(r.PartitionBounds(KindLookup, prefix)), false},
		{"posting in its partition", r.Posting(nil, p, math.MaxUint64), pair(r.PartitionBounds(KindPosting, p)), true},
		{"entry under its path", entry(r, 1, path, object(), math.MaxUint64),
			pair(Prefixed(r.EntryPrefix(nil, 1, path))), true},
		{"entry under a longer path", entry(r, 1, below, null, 1), pair(Prefixed(r.EntryPrefix(nil, 1, path))), false},
		{"entry of another generation", entry(r, 2, path, null, 1), pair(Prefixed(r.EntryPrefix(nil, 1, path))), false},
		{"entry of its generation", entry(r, 1, path, null, 1), pair(r.GenerationBounds(KindEntry, 1)), true},
		{"composite of its ordinal", r.Composite(nil, 1, 2, []doc.Value{str("x")}, []bool{true}, 9),
			pair(Prefixed(r.CompositePrefix(nil, 1, 2))), true},
		{"composite of another ordinal", r.Composite(nil, 1, 3, nil, nil, 9),
			pair(Prefixed(r.CompositePrefix(nil, 1, 2))), false},
		{"unique of its constraint", r.Unique(nil, 1, p, []doc.Value{object()}), pair(Prefixed(r.UniquePrefix(nil, 1))),
			true},
		{"unique of another constraint", r.Unique(nil, 2, p, nil), pair(Prefixed(r.UniquePrefix(nil, 1))), false},
		{"entry of the log", LogKey(5), pair(LogBounds()), true},
		{"another system key", ClockKey(), pair(LogBounds()), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := inside(c.key, c.in.lower, c.in.upper); got != c.want {
				t.Errorf("%x in [%x, %x): %t", c.key, c.in.lower, c.in.upper, got)
			}
		})
	}
}

// TestEPKBounds cuts the whole range of each scheme at every effective
// partition key of a few hundred documents, and a little beside it.
func TestEPKBounds(t *testing.T) {
	r := Range{Container: 1}
	for _, s := range schemes {
		var keys, epks [][]byte
		for i := range int64(60) {
			values := []doc.Value{doc.Int(i), str(fmt.Sprint(i % 7)), yes}[:s.n]
			if s.n > 1 {
				values[0] = doc.Int(i % 9)
			}
			keys = append(keys, r.Lookup(nil, AppendPartition(nil, s.version, s.multi, values), "id"))
			epks = append(epks, EffectivePartitionKey(nil, s.version, s.multi, values))
		}
		cuts := [][]byte{nil, {0xFF}, {0x05}, {0x20}, {0x05, 0xC1, 0xD9}}
		for _, e := range epks {
			cuts = append(cuts, e, append(e[:len(e):len(e)], 0), append(e[:len(e):len(e)], 0xFF), e[:min(len(e), 16)],
				e[:len(e)-1])
		}
		for i, cut := range cuts {
			for _, other := range [][]byte{nil, {0xFF}, cuts[(i*7+3)%len(cuts)]} {
				lower, upper := r.EPKBounds(KindLookup, s.version, s.multi, cut, other)
				for j, key := range keys {
					want := InEPKRange(epks[j], cut, other)
					got := inside(key, lower, upper)
					if want && !got {
						t.Fatalf("%s: %x is in [%x, %x), its key is not in the bounds", s.name, epks[j], cut, other)
					}
					if got && !want && len(cut) <= hashBytes && len(other) <= hashBytes && s.version == HashV2 {
						t.Fatalf("%s: %x is not in [%x, %x), its key is in the bounds", s.name, epks[j], cut, other)
					}
				}
			}
		}
	}
}

func TestPathsAreInjective(t *testing.T) {
	long := strings.Repeat("x", 300)
	paths := [][]string{
		nil, {""}, {"", ""}, {"a"}, {"a", "b"}, {"ab"}, {"a", ""}, {eachElement}, {"[]"}, {"a", eachElement},
		{eachElement, "a"},
		{"\x01"}, {"\x02"}, {"a\x00b"}, {"a\x00"}, {long}, {long, "a"}, {long + "a"}, {"a", long},
	}
	for i, a := range paths {
		x := appendPath(nil, a)
		if len(x) > MaxPathBytes {
			t.Errorf("%.20q takes %d bytes", a, len(x))
		}
		for j, b := range paths {
			if y := appendPath(nil, b); i != j && bytes.HasPrefix(y, x) {
				t.Errorf("%.20q is %x, a prefix of %.20q, %x", a, x, b, y)
			}
		}
		got, hashed, rest, err := decodePath(append(x, "rest"...))
		if err != nil || string(rest) != "rest" || !hashed && strings.Join(got, "/") != strings.Join(a, "/") {
			t.Errorf("%.20q became %q, rest %q, error %v", a, got, rest, err)
		}
	}
}

func TestLongUniqueValuesAreHashed(t *testing.T) {
	r := Range{}
	long := strings.Repeat("x", doc.MaxBytes)
	a := r.Unique(nil, 0, nil, []doc.Value{str(long + "a")})
	b := r.Unique(nil, 0, nil, []doc.Value{str(long + "b")})
	if len(a) != len(b) || len(a) > 64 || bytes.Equal(a, b) {
		t.Errorf("%d and %d bytes, equal %t", len(a), len(b), bytes.Equal(a, b))
	}
}

func TestDecodeHeader(t *testing.T) {
	good := append(AppendHeader(nil, Header{Class: ClassNever, Sequence: 1, Stamp: -5, TTL: -1}), "body"...)
	h, body, err := DecodeHeader(good)
	if err != nil || string(body) != "body" || h != (Header{ClassNever, 1, -5, -1}) {
		t.Errorf("%+v, %q, %v", h, body, err)
	}
	for _, c := range []struct {
		name   string
		record []byte
	}{
		{"nothing", nil},
		{"short", good[:HeaderBytes-1]},
		{"later version", append([]byte{2}, good[1:]...)},
		{"unknown class", append([]byte{1, 3}, good[2:]...)},
	} {
		if h, body, err := DecodeHeader(c.record); !errors.Is(err, ErrCorrupt) || body != nil {
			t.Errorf("%s: %+v, %v", c.name, h, err)
		}
	}
}

func FuzzKeyShapes(f *testing.F) {
	f.Add(uint32(1), uint16(0), uint8(1), uint8(10), uint64(7), int64(1700000000), "id", "a", 1.5)
	f.Add(uint32(math.MaxUint32), uint16(math.MaxUint16), uint8(3), uint8(5), uint64(math.MaxUint64),
		int64(math.MinInt64), "", "", 0.0)
	f.Add(uint32(0), uint16(0), uint8(0), uint8(11), uint64(1), int64(-1), "\x00\xFF", strings.Repeat("p", 300),
		math.Inf(1))
	f.Fuzz(func(t *testing.T, container uint32, number uint16, scheme, kind uint8, n uint64, at int64, id, name string,
		x float64) {
		r, s, v := Range{container, number}, schemes[scheme%4], made(kind, n, x, name)
		values := []doc.Value{v, str(id), null}[:s.n]
		p := AppendPartition(nil, s.version, s.multi, values)
		path := appendPath(nil, []string{name, eachElement, id})

		numbered := map[Kind][]byte{
			KindRecord: r.Record(nil, n), KindPosting: r.Posting(nil, p, n), KindReclaimed: r.Reclaimed(nil, n),
			KindEntry: entry(r, number, path, v, n), KindDeadline: r.Deadline(nil, at, n),
			KindComposite: r.Composite(nil, number, 1, []doc.Value{v, v}, []bool{false, true}, n),
			KindFeed:      r.Feed(nil, n), KindDeletion: r.numbered(nil, KindDeletion, n),
			KindNamed: AppendNumber(AppendBSON(r.NamedPrefix(nil, container), v, kind%2 == 0), n),
		}
		for k, key := range numbered {
			if got, err := Number(key); err != nil || got != n {
				t.Errorf("%c: number %d, %v, want %d", k, got, err, n)
			}
		}
		numbered[KindLookup], numbered[KindOrder] = r.Lookup(nil, p, id), r.Order(nil)
		numbered[KindUnique] = r.Unique(nil, number, p, values)
		numbered[KindMultikey] = r.Multikey(nil, container)
		for k, key := range numbered {
			if gotRange, got, _, err := Split(key); err != nil || gotRange != r || got != k {
				t.Errorf("%x: %+v %c, %v, want %+v %c", key, gotRange, got, err, r, k)
			}
			lower, upper := r.Bounds(k)
			if !inside(key, lower, upper) {
				t.Errorf("%c: %x is not in [%x, %x)", k, key, lower, upper)
			}
		}

		_, _, rest, _ := Split(r.Lookup(nil, p, id))
		if _, gotID, err := PartitionEPK(nil, rest, s.version, s.multi, s.n); err != nil || string(gotID) != id {
			t.Errorf("lookup of %x and %q: %q, %v", p, id, gotID, err)
		}
		if got, err := PostingPartition(r.Posting(nil, p, n)); err != nil || !bytes.Equal(got, p) {
			t.Errorf("posting of %x: %x, %v", p, got, err)
		}
		if got, err := Deadline(r.Deadline(nil, at, n)); err != nil || got != at {
			t.Errorf("deadline %d, %v, want %d", got, err, at)
		}
		later, bound := r.Deadline(nil, max(at, at+1), n), r.Deadline(nil, at, math.MaxUint64)
		if at != math.MaxInt64 && bytes.Compare(later, bound) <= 0 {
			t.Errorf("deadlines %d and %d are out of order", at, at+1)
		}
		gen, gotPath, got, _, last, err := decodeEntry(entry(r, number, path, v, n))
		if err != nil || gen != number || !bytes.Equal(gotPath, path) || last != n || rank(got) != rank(v) {
			t.Errorf("entry: %d %x %v %d, %v", gen, gotPath, got, last, err)
		}
		e := FeedEntry{Number: n, Stamp: at, TTL: int32(at), Bytes: container}
		if got, err := DecodeFeed(AppendFeed(nil, e)); err != nil || got != e {
			t.Errorf("feed value %+v, %v, want %+v", got, err, e)
		}
		d := DeadlineEntry{Sequence: n, Bytes: container}
		if got, err := DecodeDeadline(AppendDeadline(nil, d)); err != nil || got != d {
			t.Errorf("deadline value %+v, %v, want %+v", got, err, d)
		}
		sr := SessionRecord{State: kind, Number: at, Parts: container, Stamp: at / 2, Body: []byte(id)}
		if got, err := DecodeSession(sr.Append(nil)); err != nil || !reflect.DeepEqual(got, sr) {
			t.Errorf("record of a session %+v, %v, want %+v", got, err, sr)
		}
		c := Counter{Sequence: n, Number: n / 2, Stamp: at, Documents: n / 3, Bytes: uint64(container), Epoch: n / 5}
		if got, err := DecodeCounter(c.Append(nil)); err != nil || got != c {
			t.Errorf("counter %+v, %v, want %+v", got, err, c)
		}
		h := Header{Class: scheme % 3, Sequence: n, Stamp: at, TTL: int32(at)}
		if got, _, err := DecodeHeader(AppendHeader(nil, h)); err != nil || got != h {
			t.Errorf("header %+v, %v, want %+v", got, err, h)
		}
	})
}
