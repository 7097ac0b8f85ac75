package store_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/keys"
	"github.com/mayflydb/mayfly/internal/kv"
	"github.com/mayflydb/mayfly/internal/kv/pebble"
	"github.com/mayflydb/mayfly/internal/store"
)

var everything = catalog.Indexing{Included: []string{"/*"}}

// paths makes an indexing policy of paths; those that begin with - are excluded.
func paths(list ...string) catalog.Indexing {
	var x catalog.Indexing
	for _, path := range list {
		if excluded, ok := strings.CutPrefix(path, "-"); ok {
			x.Excluded = append(x.Excluded, excluded)
		} else {
			x.Included = append(x.Included, path)
		}
	}
	return x
}

func TestIndexingPolicies(t *testing.T) {
	const tree = `"a":{"b":{"c":1,"d":2},"e":3},"f":4`
	cases := []struct {
		name     string
		indexing catalog.Indexing
		document string
		want     string // entries beside that of id, by path
	}{
		{"everything", everything, `"a":1,"b":"x","c":true,"d":false,"e":null`,
			`/a 1; /b "x"; /c true; /d false; /e null`},
		{"objects and arrays are there too", everything, `"a":{"b":2},"c":[1,{"d":3}],"e":{},"f":[]`,
			`/a {}; /a/b 2; /c []; /c/[] 1; /c/[] {}; /c/[]/d 3; /e {}; /f []`},
		{"no path at all", catalog.Indexing{}, tree, ``},
		{"all excluded", paths("-/*"), tree, ``},
		{"included and excluded alike", paths("/*", "-/*"), tree, ``},
		{"one scalar alike", paths("/*", "/f/?", "-/f/?"), `"f":4,"g":5`, `/g 5`},

		{"one path", paths("/a/e/?"), tree, `/a/e 3`},
		{"one path below the excluded root", paths("-/*", "/a/e/?"), tree, `/a/e 3`},
		{"a path without a mark is that of its value", paths("/a/e"), tree, `/a/e 3`},
		{"scalar mark at an object", paths("/a/?"), tree, `/a {}`},
		{"below", paths("/a/b/*"), tree, `/a/b {}; /a/b/c 1; /a/b/d 2`},
		{"below a scalar is the scalar", paths("/f/*"), tree, `/f 4`},
		{"a scalar excluded", paths("/*", "-/f/?"), tree, `/a {}; /a/b {}; /a/b/c 1; /a/b/d 2; /a/e 3`},
		{"a subtree excluded", paths("/*", "-/a/b/*"), tree, `/a {}; /a/e 3; /f 4`},
		{"the value excluded, not what is below", paths("/*", "-/a/b/?"), tree,
			`/a {}; /a/b/c 1; /a/b/d 2; /a/e 3; /f 4`},
		{"the value included, not what is below", paths("-/a/b/*", "/a/b/?"), tree, `/a/b {}`},
		{"below included, the value not", paths("/a/b/*", "-/a/b/?"), tree, `/a/b/c 1; /a/b/d 2`},

		{"the more precise include wins", paths("/*", "-/a/*", "/a/b/*"), tree, `/a/b {}; /a/b/c 1; /a/b/d 2; /f 4`},
		{"the more precise exclude wins", paths("/*", "-/a/*", "/a/b/*", "-/a/b/c/?"), tree, `/a/b {}; /a/b/d 2; /f 4`},
		{"four levels", paths("-/*", "/a/*", "-/a/b/*", "/a/b/d/?"), tree, `/a {}; /a/b/d 2; /a/e 3`},
		{"order of the list does not matter", paths("/a/b/*", "-/a/b/c/?", "-/a/*", "/*"), tree,
			`/a/b {}; /a/b/d 2; /f 4`},
		{"a path of absent members", paths("-/*", "/x/y/?", "/a/x/*"), tree, ``},
		{"names are told by case", paths("/A/*", "/F/?"), tree, ``},

		{"elements", paths("/a/[]/?"), `"a":[1,"x",null,[2],{"b":3}]`,
			`/a/[] "x"; /a/[] 1; /a/[] []; /a/[] null; /a/[] {}`},
		{"below elements", paths("/a/[]/*"), `"a":[1,[2],{"b":3}]`,
			`/a/[] 1; /a/[] []; /a/[] {}; /a/[]/[] 2; /a/[]/b 3`},
		{"members of elements", paths("/a/[]/b/?"), `"a":[{"b":1,"c":9},{"b":2},{"b":[3]},4,{"c":9}]`,
			`/a/[]/b 1; /a/[]/b 2; /a/[]/b []`},
		{"elements of elements", paths("/a/[]/[]/?"), `"a":[[1,2],[2,3],4]`, `/a/[]/[] 1; /a/[]/[] 2; /a/[]/[] 3`},
		{"elements excluded", paths("/*", "-/a/[]/*"), `"a":[1,{"b":2}],"c":[3]`, `/a []; /c []; /c/[] 3`},
		{"a member of elements excluded", paths("/*", "-/a/[]/b/?"), `"a":[{"b":1,"c":2}]`,
			`/a []; /a/[] {}; /a/[]/c 2`},
		{"elements are not members", paths("/a/[]/?"), `"a":{"[]":1,"0":2}`, ``},
		{"members are not elements", paths("/a/b/?", "/a/0/?"), `"a":[{"b":1}]`, ``},
		{"the array alone", paths("/a/?"), `"a":[1,2]`, `/a []`},

		{"quoted name", paths(`/"a b"/?`), `"a b":1,"a":2`, `/"a b" 1`},
		{"single quotes", paths(`/'a b'/?`), `"a b":1`, `/"a b" 1`},
		{"quoted name of a usual word", paths(`/"a"/"b"/?`), `"a":{"b":1}`, `/a/b 1`},
		{"names that look like marks", paths(`/"?"/?`, `/'*'/?`, `/"[]"/?`), `"?":1,"*":2,"[]":3,"a":4`,
			`/"*" 2; /"?" 1; /"[]" 3`},
		{"name with a slash and quotes", paths(`/"a/\"b\""/?`), `"a/\"b\"":1`, `/"a/\"b\"" 1`},
		{"name in escapes", paths(`/"caf\u00e9"/?`), `"café":1`, `/"café" 1`},
		{"name that needs no quotes here", paths(`/a b/?`), `"a b":1`, `/"a b" 1`},
		{"names under everything", everything, `"":1,"a/b":2,"?":3,"\u0001":4`, `/"" 1; /"?" 3; /"\u0001" 4; /"a/b" 2`},
		{"paths that cannot be read are passed over", paths("/*", "nonsense", "-", "-/a//b", `-/"open`, "-/b/*/c"),
			`"a":1,"b":{"c":2}`, `/a 1; /b {}; /b/c 2`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			ix := newIndexed(t, c.indexing)
			ix.create("x", c.document)
			ix.expect(`/id "x"`, c.want)
		})
	}
}

func TestIDIsAlwaysIndexed(t *testing.T) {
	cases := []struct {
		name     string
		indexing catalog.Indexing
		want     string
	}{
		{"excluded with everything", paths("-/*"), `/id "x"`},
		{"excluded by name", paths("/*", "-/id/?", "-/a/*"), `/id "x"`},
		{"excluded with all below", paths("-/id/*", "-/*"), `/id "x"`},
		{"only at the root", paths("-/*", "-/a/id/?"), `/id "x"`},
		{"no indexing", catalog.Indexing{None: true}, ``},
		{"no indexing, whatever the paths say", catalog.Indexing{None: true, Included: []string{"/*"},
			Composite: [][]catalog.CompositePath{{{Path: "/id"}, {Path: "/a"}}}}, ``},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			ix := newIndexed(t, c.indexing)
			ix.create("x", `"a":{"id":"y"}`)
			ix.expect(c.want)
		})
	}
}

func TestIndexedValues(t *testing.T) {
	long := strings.Repeat("s", keys.MaxStringBytes)
	cases := []struct{ name, document, want string }{
		{"one number of two types", `"a":[1,1.0,1e0,10.0E-1]`, `/a []; /a/[] 1`},
		{"zeros", `"a":[0,-0,-0.0,0.0]`, `/a []; /a/[] 0`},
		{"fractions", `"a":[1.5,1.50,-0.25]`, `/a []; /a/[] -0.25; /a/[] 1.5`},
		{"large numbers are told apart", `"a":[9007199254740992,9007199254740993,18446744073709551615]`,
			`/a []; /a/[] 18446744073709551615; /a/[] 9007199254740992; /a/[] 9007199254740993`},
		{"a large number of two types", `"a":[9007199254740992,9007199254740992.0]`, `/a []; /a/[] 9007199254740992`},
		{"texts are not numbers", `"a":[1,"1",true,"true",null,"null"]`,
			`/a []; /a/[] "1"; /a/[] "null"; /a/[] "true"; /a/[] 1; /a/[] null; /a/[] true`},
		{"duplicates count once", `"a":["x","x",null,null,[],[1],[1,1],{},{"b":1},{"b":1.0}]`,
			`/a []; /a/[] "x"; /a/[] []; /a/[] null; /a/[] {}; /a/[]/[] 1; /a/[]/b 1`},
		{"same value under two paths", `"a":1,"b":1`, `/a 1; /b 1`},
		{"odd texts", `"a":["","\u0000","x\u0000y"]`, `/a []; /a/[] ""; /a/[] "\u0000"; /a/[] "x\u0000y"`},
		{"as long as a text may be", `"a":"` + long + `"`, `/a "` + long + `"`},
		{"a longer one is cut", `"a":"` + long + `t"`, `/a "` + long + `"...`},
		{"cut alike", `"a":["` + long + `t","` + long + `u","` + long + `"]`,
			`/a []; /a/[] "` + long + `"; /a/[] "` + long + `"...`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			ix := newIndexed(t, everything)
			ix.create("x", c.document)
			ix.expect(`/id "x"`, c.want)
			ix.consistent()
		})
	}
}

func TestLongPathsAreHashed(t *testing.T) {
	fits := strings.Repeat("n", keys.MaxPathBytes-4) // its own end and the path's take four bytes
	ix := newIndexed(t, everything)
	ix.create("x", fmt.Sprintf(`"%s":1,"%sx":2,"%sy":2,"%sz":{"q":2}`, fits, fits, fits, fits))
	ix.expect(`/id "x"`, fmt.Sprintf(`/%s 1; hashed 2; hashed 2; hashed 2; hashed {}`, fits))
	rng := ix.c.KeysOf(ix.rangeOf("x"))
	for _, path := range [][]string{{fits}, {fits + "x"}, {fits + "y"}, {fits + "z"}, {fits + "z", "q"}} {
		var steps []byte
		for _, name := range path {
			steps = keys.AppendMemberStep(steps, name)
		}
		lower, upper := keys.Prefixed(rng.EntryPrefix(nil, 1, keys.AppendSteps(nil, steps)))
		if got := len(ix.between(lower, upper)); got != 1 {
			t.Errorf("%d entries under a path of %d names and %d bytes", got, len(path), len(path[0]))
		}
	}
	ix.consistent()
	ix.replace("x", ``)
	ix.expect(`/id "x"`)
}

func TestDeepDocument(t *testing.T) {
	ix := newIndexed(t, everything)
	const depth = doc.MaxDepth - 1 // below the root
	ix.create("x", strings.Repeat(`"a":{`, depth-1)+`"a":[1]`+strings.Repeat(`}`, depth-1))
	if got := len(ix.entries()); got != 1+depth+1 {
		t.Errorf("%d entries, want one of id, one of each of %d levels, and the scalar", got, depth)
	}
	ix.consistent()
	ix.remove("x")
	ix.expect()
}

func TestWideDocument(t *testing.T) {
	ix := newIndexed(t, everything)
	const width = 5_000
	var members, elements []string
	for i := range width {
		members = append(members, fmt.Sprintf(`"m%d":%d`, i, i))
		elements = append(elements, fmt.Sprint(i))
	}
	ix.create("x", strings.Join(members, ",")+`,"list":[`+strings.Join(elements, ",")+`]`)
	if got := len(ix.entries()); got != 1+width+1+width {
		t.Errorf("%d entries, want one of id, %d members, the list and %d elements", got, width, width)
	}
	ix.consistent()
	members[width/2] = `"m2500":true`
	elements[0] = `-1`
	ix.replace("x", strings.Join(members, ",")+`,"list":[`+strings.Join(elements, ",")+`]`)
	ix.changed(`+/list/[] -1; +/m2500 true; -/list/[] 0; -/m2500 2500`)
	ix.remove("x")
	ix.expect()
}

func TestCompositeIndexes(t *testing.T) {
	x := paths("-/*")
	x.Composite = [][]catalog.CompositePath{
		{{Path: "/a"}, {Path: "/b/c", Descending: true}},
		{{Path: "/b/c"}, {Path: `/"d e"`}, {Path: "/a", Descending: true}},
	}
	cases := []struct{ name, document, want string }{
		{"all there", `"a":1,"b":{"c":"x"},"d e":true`, `composite 0: 1, "x" down; composite 1: "x", true, 1 down`},
		{"some undefined", `"b":{"c":"x"}`,
			`composite 0: undefined, "x" down; composite 1: "x", undefined, undefined down`},
		{"all undefined", ``,
			`composite 0: undefined, undefined down; composite 1: undefined, undefined, undefined down`},
		{"null is not undefined", `"a":null,"b":{"c":null}`,
			`composite 0: null, null down; composite 1: null, undefined, null down`},
		{"objects and arrays", `"a":[1,2],"b":{"c":{"d":1}}`,
			`composite 0: [], {} down; composite 1: {}, undefined, [] down`},
		{"no way through an array", `"a":1,"b":[{"c":2}]`,
			`composite 0: 1, undefined down; composite 1: undefined, undefined, 1 down`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			ix := newIndexed(t, x)
			ix.create("x", c.document)
			ix.expect(`/id "x"`, c.want)
			ix.consistent()
		})
	}
}

// TestCompositeOrder reads the keys in the engine's order.
func TestCompositeOrder(t *testing.T) {
	x := paths("-/*")
	x.Composite = [][]catalog.CompositePath{{{Path: "/a"}, {Path: "/b", Descending: true}}}
	ix := newIndexed(t, x)
	for i, document := range []string{`"a":2,"b":1`, `"a":1,"b":1`, `"a":1,"b":2.5`, `"a":"1","b":1`, `"a":1`,
		`"a":1,"b":"x"`, `"b":7`, `"a":10,"b":1`} {
		ix.create(fmt.Sprint(i), document)
	}
	want := []string{
		`composite 0: undefined, 7 down`,
		`composite 0: 1, "x" down`, `composite 0: 1, 2.5 down`, `composite 0: 1, 1 down`,
		`composite 0: 1, undefined down`,
		`composite 0: 2, 1 down`, `composite 0: 10, 1 down`, `composite 0: "1", 1 down`,
	}
	if len(ix.ranges()) > 1 {
		t.Skip("each range has an order of its own")
	}
	lower, upper := keys.Prefixed(ix.c.KeysOf(0).CompositePrefix(nil, 1, 0))
	if got := ix.between(lower, upper); !slices.Equal(got, want) {
		t.Errorf("in order:\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestEntriesChangeByDifference counts what a write of an existing document
// does to the index.
func TestEntriesChangeByDifference(t *testing.T) {
	long := strings.Repeat("s", keys.MaxStringBytes)
	cases := []struct{ name, before, after, want string }{
		{"nothing", `"a":1,"b":[1,2]`, `"a":1,"b":[1,2]`, ``},
		{"order of members", `"a":1,"b":2`, `"b":2,"a":1`, ``},
		{"type of a number", `"a":1,"b":[2]`, `"a":1.0,"b":[2.0]`, ``},
		{"order and repeats of elements", `"a":[1,2,2]`, `"a":[2,1,1,1]`, ``},
		{"what is cut off", `"a":"` + long + `1"`, `"a":"` + long + `2"`, ``},
		{"what an array holds", `"a":[1]`, `"a":[1,2]`, `+/a/[] 2`},
		{"one value", `"a":1,"b":2`, `"a":1,"b":3`, `+/b 3; -/b 2`},
		{"one more member", `"a":1`, `"a":1,"b":{"c":2}`, `+/b {}; +/b/c 2`},
		{"one member less", `"a":1,"b":{"c":2}`, `"a":1`, `-/b {}; -/b/c 2`},
		{"scalar to object", `"a":1`, `"a":{"b":1}`, `+/a {}; +/a/b 1; -/a 1`},
		{"its own ttl", `"ttl":5`, `"ttl":6`, `+/ttl 6; -/ttl 5`},
		{"all", `"a":1`, `"b":1`, `+/b 1; -/a 1`},
		{"one value in objects", `"a":{"b":{"c":1,"d":2},"e":3}`, `"a":{"b":{"c":1,"d":4},"e":3}`,
			`+/a/b/d 4; -/a/b/d 2`},
		{"a member between others", `"a":{"b":1,"d":2},"e":3`, `"a":{"b":1,"c":4,"d":2},"e":3`, `+/a/c 4`},
		{"order of members in objects", `"a":{"b":1,"c":2},"d":3`, `"a":{"c":2,"b":4},"d":3`, `+/a/b 4; -/a/b 1`},
		{"one of two equal elements", `"a":[1,1]`, `"a":[1,2]`, `+/a/[] 2`},
		{"a member of one of two equal elements", `"a":{"b":[{"c":1,"d":2},{"c":1,"d":2}]}`,
			`"a":{"b":[{"c":1,"d":2},{"c":3,"d":2}]}`, `+/a/b/[]/c 3`},
		{"object to array", `"a":{"b":{"c":1}}`, `"a":{"b":[{"c":1}]}`,
			`+/a/b []; +/a/b/[] {}; +/a/b/[]/c 1; -/a/b {}; -/a/b/c 1`},
		{"empty object", `"a":{"b":{}}`, `"a":{"b":{"c":1}}`, `+/a/b/c 1`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			ix := newIndexed(t, everything)
			ix.create("x", c.before)
			ix.replace("x", c.after)
			ix.changed(c.want)
			ix.consistent()
		})
	}
}

// TestEntriesOfRandomChanges replaces documents by others that are like them, under policies of all kinds.
func TestEntriesOfRandomChanges(t *testing.T) {
	composite := paths("/a/*", "-/a/b/?")
	composite.Composite = [][]catalog.CompositePath{{{Path: "/a/b"}, {Path: "/c"}}}
	r := newRandom(t)
	for _, policy := range []catalog.Indexing{
		everything, paths("/*", "-/a/*"), paths("-/*", "/a/b/*", "/c/[]/a/?"), paths("/a/?", "/b/[]/*"), composite,
		paths("/*", "-/a/*", "/a/b/*", "-/a/b/c/?"),
	} {
		ix := newIndexed(t, policy)
		before := randomMembers(r, 3)
		ix.create("x", before)
		pad, other := "", `"pad":"`+strings.Repeat("x", 64<<10)+`",`
		for range times(60) {
			after := randomChange(r, before)
			if r.IntN(8) == 0 { // a small document, or a large one
				pad, other = other, pad
			}
			ix.replace("x", pad+after)
			ix.consistent()
			if t.Failed() {
				t.Fatalf("%+v\nbefore %s\nafter %s", policy, before, after)
			}
			before = after
		}
	}
}

// newRandom takes the seed of the flag, or a new one.
func newRandom(t *testing.T) *rand.Rand {
	t.Helper()
	s := *seed
	if s == 0 {
		s = rand.Uint64()
	}
	t.Logf("-seed=%d", s)
	return rand.New(rand.NewPCG(s, 0))
}

// randomChange is the text of other members, most times of some that are like those of before.
func randomChange(r *rand.Rand, before string) string {
	if r.IntN(3) == 0 {
		return randomMembers(r, 3)
	}
	scalar := func() string { return strconv.Itoa(r.IntN(3)) } // no name has a digit
	return strings.Replace(before, scalar(), scalar(), 1+r.IntN(2))
}

// randomMembers is the text of up to three members in some order.
func randomMembers(r *rand.Rand, depth int) string {
	var members []string
	for _, i := range r.Perm(3)[:1+r.IntN(3)] {
		members = append(members, fmt.Sprintf("%q:%s", "abc"[i:i+1], randomValue(r, depth-1)))
	}
	return strings.Join(members, ",")
}

func randomValue(r *rand.Rand, depth int) string {
	switch kind := r.IntN(4); {
	case kind == 0 && depth > 0:
		elements := randomValue(r, depth-1)
		for range r.IntN(4) {
			elements += "," + randomValue(r, depth-1)
		}
		return "[" + elements + "]"
	case kind <= 2 && depth > 0:
		return "{" + randomMembers(r, depth) + "}"
	}
	return fmt.Sprint(r.IntN(3))
}

func TestEntriesOfOtherWrites(t *testing.T) {
	x := paths("/a/?")
	x.Composite = [][]catalog.CompositePath{{{Path: "/a"}, {Path: "/b"}}}
	const gone = `-/a 1; -/id "x"; -composite 0: 1, undefined`
	const made = `+/a 1; +/id "x"; +composite 0: 1, undefined`
	cases := []struct {
		name  string
		write func(ix *indexed)
		want  string
	}{
		{"create", func(ix *indexed) { ix.create("y", `"a":1`) }, `+/a 1; +/id "y"; +composite 0: 1, undefined`},
		{"delete", func(ix *indexed) { ix.remove("x") }, gone},
		{"upsert of a member that only the composite knows", func(ix *indexed) {
			ix.put(store.Upsert, "x", `"a":1,"b":2`)
		},
			`+composite 0: 1, 2; -composite 0: 1, undefined`},
		{"replace of what no index knows", func(ix *indexed) { ix.replace("x", `"a":1,"c":2`) }, ``},
		{"a refused write", func(ix *indexed) { ix.refused(store.Create, "x", `"a":2`) }, ``},
		{"a new document in the place of an expired one", func(ix *indexed) {
			ix.now += 10
			ix.create("x", `"a":1`)
		}, made},
		{"reclaim leaves entries alone", func(ix *indexed) {
			ix.now += 10
			_, err := ix.store.Reclaim(context.Background(), ix.c, ix.now, 10)
			ix.ok(err)
		}, ``},
		{"sweep", func(ix *indexed) {
			ix.now += 10
			ix.free()
		}, gone},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			ix := newIndexedFor(t, 10, x)
			ix.create("x", `"a":1`)
			ix.made()
			c.write(ix)
			ix.changed(c.want)
			ix.consistent()
		})
	}
}

// TestRecreatedInABatch is another document under the same key: it shares no
// entry with the first.
func TestRecreatedInABatch(t *testing.T) {
	ix := newIndexed(t, everything)
	ix.create("x", `"a":1`)
	ix.made()
	again := ix.operation(store.Create, "x", `"a":1`)
	results, err := ix.store.WriteAll(context.Background(), ix.c, ix.now,
		[]store.Op{{Verb: store.Delete, Key: again.Key}, again})
	ix.ok(err)
	if got := results[1].Terms; got != 4 {
		t.Errorf("%d terms, want 4", got)
	}
	ix.changed(`+/a 1; +/id "x"; -/a 1; -/id "x"`)
	ix.expect(`/id "x"`, `/a 1`)
	ix.consistent()
}

// An indexed world notes what is written to indexes. Its partition key is the id.
type indexed struct {
	*world
	indexing catalog.Indexing
	notes    *notebook
	terms    int // of the last write
}

// A notebook is an engine that notes changes of index entries.
type notebook struct {
	*pebble.Engine
	mu    sync.Mutex
	noted []kv.Op
}

func (n *notebook) Apply(ctx context.Context, b *kv.Batch) error {
	if err := n.Engine.Apply(ctx, b); err != nil {
		return err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, op := range b.Ops {
		if _, kind, _, err := keys.Split(op.Key); err == nil && (kind == keys.KindEntry || kind == keys.KindComposite) {
			n.noted = append(n.noted, kv.Op{Key: bytes.Clone(op.Key), Value: op.Value, End: op.End})
		}
	}
	return nil
}

func newIndexed(t *testing.T, x catalog.Indexing) *indexed {
	t.Helper()
	return newIndexedFor(t, expiry.Never, x)
}

func newIndexedFor(t *testing.T, ttl expiry.TTL, x catalog.Indexing) *indexed {
	t.Helper()
	def := definition(ttl)
	def.Partition.Paths, def.Indexing = []string{"/id"}, x
	ix := &indexed{world: newWorld(t, def), indexing: x}
	ix.notes = &notebook{Engine: ix.engine}
	ix.through(ix.notes)
	return ix
}

func (ix *indexed) operation(verb store.Verb, id, rest string) store.Op {
	ix.t.Helper()
	if rest != "" {
		rest = "," + rest
	}
	return store.Op{Verb: verb, Key: key(id, id), Body: ix.body(fmt.Sprintf(`{"id":%q%s}`, id, rest))}
}

func (ix *indexed) put(verb store.Verb, id, rest string) {
	ix.t.Helper()
	result, err := ix.write(ix.operation(verb, id, rest))
	ix.ok(err)
	ix.terms = result.Terms
}

func (ix *indexed) create(id, rest string) {
	ix.t.Helper()
	ix.put(store.Create, id, rest)
}

// replace forgets what was noted before.
func (ix *indexed) replace(id, rest string) {
	ix.t.Helper()
	ix.made()
	ix.put(store.Replace, id, rest)
	if noted := len(ix.notes.noted); ix.terms != noted {
		ix.t.Errorf("the result counts %d terms, %d were written", ix.terms, noted)
	}
}

func (ix *indexed) remove(id string) {
	ix.t.Helper()
	_, err := ix.write(store.Op{Verb: store.Delete, Key: key(id, id)})
	ix.ok(err)
}

func (ix *indexed) refused(verb store.Verb, id, rest string) {
	ix.t.Helper()
	if _, err := ix.write(ix.operation(verb, id, rest)); err == nil {
		ix.t.Error("the write was not refused")
	}
}

// free reclaims and sweeps all that is dead.
func (ix *indexed) free() {
	ix.t.Helper()
	for _, step := range []func() (store.Reclaimed, error){
		func() (store.Reclaimed, error) { return ix.store.Reclaim(context.Background(), ix.c, ix.now, 1000) },
		func() (store.Reclaimed, error) { return ix.store.Sweep(context.Background(), ix.c, 10) },
	} {
		for more := true; more; {
			done, err := step()
			ix.ok(err)
			more = done.More
		}
	}
}

// made forgets the changes noted so far.
func (ix *indexed) made() { ix.notes.noted = nil }

// changed compares the noted changes, + and -.
func (ix *indexed) changed(want string) {
	ix.t.Helper()
	var got []string
	for _, op := range ix.notes.noted {
		sign := "+"
		if op.Value == nil {
			sign = "-"
		}
		got = append(got, sign+ix.line(op.Key))
	}
	ix.compare(got, want)
}

// expect compares all entries that are there.
func (ix *indexed) expect(want ...string) {
	ix.t.Helper()
	ix.compare(ix.entries(), want...)
}

func (ix *indexed) compare(got []string, want ...string) {
	ix.t.Helper()
	var all []string
	for _, line := range want {
		if line != "" {
			all = append(all, strings.Split(line, "; ")...)
		}
	}
	slices.Sort(got)
	slices.Sort(all)
	if !slices.Equal(got, all) {
		ix.t.Errorf("entries\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(all, "\n  "))
	}
}

// entries is every index entry, as lines.
func (ix *indexed) entries() []string {
	ix.t.Helper()
	var lines []string
	for _, rng := range ix.ranges() {
		lower, upper := rng.Bounds(keys.KindEntry)
		lines = append(lines, ix.between(lower, upper)...)
		lower, upper = rng.Bounds(keys.KindComposite)
		lines = append(lines, ix.between(lower, upper)...)
	}
	return lines
}

func (ix *indexed) between(lower, upper []byte) []string {
	ix.t.Helper()
	it, err := ix.engine.Iterate(context.Background(), lower, upper)
	ix.ok(err)
	defer it.Close()
	var lines []string
	for it.Next() {
		if len(it.Value()) != 0 {
			ix.t.Errorf("the entry %q has a value", it.Key())
		}
		lines = append(lines, ix.line(it.Key()))
	}
	ix.ok(it.Err())
	return lines
}

// line shows an index entry.
func (ix *indexed) line(key []byte) string {
	ix.t.Helper()
	_, kind, b, err := keys.Split(key)
	ix.ok(err)
	if kind == keys.KindComposite {
		return ix.compositeLine(b[2:])
	}
	path, hashed, b := readPath(b[2:])
	v, cut, b := readValue(b, false)
	if len(b) != 8 {
		ix.t.Errorf("%d bytes after the value of an entry", len(b))
	}
	if hashed {
		return "hashed " + shown(v, cut)
	}
	return path.String() + " " + shown(v, cut)
}

// compositeLine shows what follows the generation in the key of a composite entry.
func (ix *indexed) compositeLine(b []byte) string {
	ix.t.Helper()
	ordinal := int(b[0])<<8 | int(b[1])
	line := fmt.Sprintf("composite %d:", ordinal)
	b = b[2:]
	for i, column := range ix.indexing.Composite[ordinal] {
		v, cut, rest := readValue(b, column.Descending)
		if i > 0 {
			line += ","
		}
		line += " " + shown(v, cut)
		if column.Descending {
			line += " down"
		}
		b = rest
	}
	if len(b) != 8 {
		ix.t.Errorf("%d bytes after the values of a composite entry", len(b))
	}
	return line
}

// shown is a value as an entry has it.
func shown(v doc.Value, truncated bool) string {
	switch {
	case doc.IsUndefined(v):
		return "undefined"
	case v.Type == bsoncore.TypeArray:
		return "[]"
	case v.Type == bsoncore.TypeEmbeddedDocument:
		return "{}"
	case truncated:
		return string(doc.AppendJSONValue(nil, v)) + "..."
	}
	return string(doc.AppendJSONValue(nil, v))
}
