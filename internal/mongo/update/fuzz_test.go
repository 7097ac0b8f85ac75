package update

import (
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/filter"
	"github.com/mayflydb/mayfly/internal/storytest"
)

// FuzzUpdate gives any update to any document: nothing panics, every error is one of
// MongoDB's, what comes out is BSON, within its limits and with the same _id, and its
// description leads from one document to the other.
func FuzzUpdate(f *testing.F) {
	for _, given := range storytest.Given(f, "testdata/*.txt", storytest.Blocks) {
		s := storyIn(f, given)
		if s["doc"] == "" || s["update"] == "" {
			continue
		}
		filters := ""
		if s["filters"] != "" {
			filters = string(valueIn(f, s["filters"]).Data)
		}
		f.Add([]byte(docIn(f, s["doc"])), []byte(docIn(f, s["update"])), []byte(filters), true, uint8(1))
	}
	f.Fuzz(func(t *testing.T, d, update, filters []byte, found bool, element uint8) {
		if !isBSON(d, 20) || !isBSON(update, 20) {
			return
		}
		o := Options{}
		if isBSON(filters, 20) {
			for _, v := range doc.Members(filters) {
				if e, ok := doc.AsDoc(v); ok {
					o.ArrayFilters = append(o.ArrayFilters, e)
				}
			}
		}
		u, err := Compile(update, o)
		if err != nil {
			mustBeMongo(t, err)
			return
		}
		out, changed, err := u.Apply(nil, d, filter.Where{Found: found, Element: int(element)}, now)
		if err != nil {
			mustBeMongo(t, err)
			return
		}
		if !isBSON(out, 2*MaxDepth) {
			t.Fatalf("%x is no BSON", out)
		}
		if id := doc.Lookup(d, "_id"); !doc.IsUndefined(id) && !unchanged(doc.Lookup(out, "_id"), id) {
			t.Errorf("another _id: %s", show(doc.Object(out)))
		}
		if description := Describe(d, out); !isBSON(description, 2*MaxDepth) {
			t.Errorf("%x is no BSON", description)
		} else if !changed && len(description) != len(Describe(nil, nil)) {
			t.Errorf("nothing has changed, but %s", show(doc.Object(description)))
		}
		_, _, err = Replace(d, update, now)
		mustBeMongo(t, err)
		_, _, err = Transform(d, update, now)
		mustBeMongo(t, err)
	})
}

// FuzzUpserted makes documents of any query.
func FuzzUpserted(f *testing.F) {
	for _, query := range []string{"{a: 1}", `{"a.b": 1, "a.c": {$in: [1]}}`, "{$and: [{a: 1}, {b: {$all: [1]}}]}",
		"{_id: {x: 1}}", `{"": 1, "$": 1}`} {
		f.Add([]byte(docIn(f, query)))
	}
	f.Fuzz(func(t *testing.T, query []byte) {
		if !isBSON(query, 20) {
			return
		}
		compiled, err := filter.Compile(query, filter.Options{})
		if err != nil {
			return
		}
		d, err := Upserted(compiled)
		mustBeMongo(t, err)
		if err == nil && !isBSON(d, 2*MaxDepth) {
			t.Errorf("%x is no BSON", d)
		}
		d, err = UpsertedID(compiled)
		mustBeMongo(t, err)
		if err == nil && !isBSON(d, 2*MaxDepth) {
			t.Errorf("%x is no BSON", d)
		}
	})
}

func mustBeMongo(t *testing.T, err error) {
	t.Helper()
	if err != nil && code.Of(err) == nil {
		t.Errorf("%v is no error of MongoDB", err)
	}
}

// isBSON reports whether b is a document as the wire accepts it, as far as this
// package has to trust it.
func isBSON(b []byte, levels int) bool {
	d := doc.Doc(b)
	length, _, ok := bsoncore.ReadLength(b)
	return ok && int(length) == len(b) && d.Validate() == nil && soundMembers(d, levels)
}

func soundMembers(d doc.Doc, levels int) bool {
	at := 4
	for name, v := range doc.Members(d) {
		at += 2 + len(name) + len(v.Data)
		if v.Validate() != nil {
			return false
		}
		if v.Type == bsoncore.TypeEmbeddedDocument || v.Type == bsoncore.TypeArray {
			if levels == 0 || !isBSON(v.Data, levels-1) {
				return false
			}
		}
	}
	return at == len(d)-1
}

// TestDescribeLeadsFromBeforeToAfter changes random documents and follows the
// description of the change.
func TestDescribeLeadsFromBeforeToAfter(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 1))
	for range 3000 {
		before := randomValue(r, 4, true)
		after := mutated(r, before, 4)
		description := Describe(before.Data, after.Data)
		if got := follow(before.Data, description); !sameMembers(doc.Object(got), after) {
			t.Fatalf("seed %d\nbefore %s\nafter  %s\n%s\ngives  %s", seed, show(before), show(after),
				show(doc.Object(description)), show(doc.Object(got)))
		}
	}
}

// follow is what a reader of a change stream makes of a description.
func follow(d doc.Doc, description doc.Doc) doc.Doc {
	removed, parted := doc.Lookup(description, "removedFields"), doc.Lookup(description, DisambiguatedPaths)
	parts := func(path string) (list []string) {
		named, ok := doc.AsDoc(parted)
		if v := doc.Lookup(named, path); ok && v.Type != 0 {
			for part := range doc.Elements(v) {
				name, isName := doc.AsString(part)
				if n, _ := doc.AsInt(part); !isName {
					name = strconv.FormatInt(n, 10)
				}
				list = append(list, name)
			}
			return list
		}
		return strings.Split(path, ".")
	}
	for v := range doc.Elements(doc.Lookup(description, "truncatedArrays")) {
		field, _ := doc.AsString(doc.Lookup(v.Data, "field"))
		size, _ := doc.AsInt(doc.Lookup(v.Data, "newSize"))
		d = edited(doc.Object(d), parts(field), func(old doc.Value) doc.Value {
			a, n := beginArray(nil), int64(0)
			for e := range doc.Elements(old) {
				if n++; n <= size {
					a.add(e)
				}
			}
			return doc.Array(a.end())
		}).Data
	}
	updated, _ := doc.AsDoc(doc.Lookup(description, "updatedFields"))
	for path, v := range doc.Members(updated) {
		d = edited(doc.Object(d), parts(path), func(doc.Value) doc.Value { return v }).Data
	}
	for v := range doc.Elements(removed) {
		path, _ := doc.AsString(v)
		d = edited(doc.Object(d), parts(path), func(doc.Value) doc.Value { return doc.Value{} }).Data
	}
	return d
}

// edited changes the value at a path of names and indexes.
func edited(v doc.Value, path []string, change func(doc.Value) doc.Value) doc.Value {
	if len(path) == 0 {
		return change(v)
	}
	out, met := []byte{0, 0, 0, 0}, false
	for name, m := range doc.Members(v.Data) {
		if name == path[0] {
			met = true
			m = edited(m, path[1:], change)
		}
		if m.Type != 0 {
			out = doc.AppendElement(out, name, m)
		}
	}
	if !met {
		out = doc.AppendElement(out, path[0], change(doc.Value{}))
	}
	return doc.Value{Type: v.Type, Data: end(out, 0)}
}

// sameMembers compares objects whatever the order of their members.
func sameMembers(a, b doc.Value) bool {
	if a.Type != b.Type || a.Type != bsoncore.TypeEmbeddedDocument && a.Type != bsoncore.TypeArray {
		return unchanged(a, b)
	}
	n := 0
	for name, v := range doc.Members(a.Data) {
		other := doc.Lookup(b.Data, name)
		if other.Type == 0 || !sameMembers(v, other) {
			return false
		}
		n++
	}
	for range doc.Members(b.Data) {
		n--
	}
	return n == 0
}

func randomValue(r *rand.Rand, levels int, object bool) doc.Value {
	kind := r.IntN(6)
	switch {
	case object || levels > 0 && kind == 0:
		d := []byte{0, 0, 0, 0}
		for _, i := range r.Perm(6)[:r.IntN(6)] {
			d = doc.AppendElement(d, []string{"a", "b", "c.d", "e.f.g", "1", "$h"}[i], randomValue(r, levels-1, false))
		}
		return doc.Object(end(d, 0))
	case levels > 0 && kind <= 2:
		a := beginArray(nil)
		for range r.IntN(6) {
			a.add(randomValue(r, levels-1, false))
		}
		return doc.Array(a.end())
	case kind == 3:
		return doc.String(strings.Repeat("text ", r.IntN(20)) + strconv.Itoa(r.IntN(3)))
	}
	return doc.Int32(int32(r.IntN(4)))
}

// mutated changes some of a value's parts.
func mutated(r *rand.Rand, v doc.Value, levels int) doc.Value {
	switch v.Type {
	case bsoncore.TypeEmbeddedDocument:
		d := []byte{0, 0, 0, 0}
		for name, m := range doc.Members(v.Data) {
			switch r.IntN(5) {
			case 0:
				continue
			case 1:
				m = randomValue(r, levels-1, false)
			case 2:
				m = mutated(r, m, levels-1)
			}
			d = doc.AppendElement(d, name, m)
		}
		if r.IntN(3) == 0 {
			d = doc.AppendElement(d, "new", randomValue(r, levels-1, false))
		}
		return doc.Object(end(d, 0))
	case bsoncore.TypeArray:
		a := beginArray(nil)
		for e := range doc.Elements(v) {
			if a.n > 0 && r.IntN(8) == 0 {
				break
			}
			if r.IntN(3) == 0 {
				e = mutated(r, e, levels-1)
			}
			a.add(e)
		}
		for range r.IntN(2) {
			a.add(randomValue(r, levels-1, false))
		}
		return doc.Array(a.end())
	}
	return randomValue(r, levels-1, false)
}
