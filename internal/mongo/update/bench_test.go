package update

import (
	"fmt"
	"testing"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/filter"
)

// kilobyte is a document of 22 members and about 1 KiB.
func kilobyte(b *testing.B) doc.Doc {
	d := docIn(b, `{_id: oid("0102030405060708090a0b0c"), n: 5, tags: ["a", "b", "c"], at: {city: "x", zip: "12345"}}`)
	for i := range 18 {
		d = doc.With(d, fmt.Sprintf("member%02d", i), doc.String("some text that is neither long nor short"))
	}
	return d
}

func BenchmarkApply(b *testing.B) {
	for _, c := range []struct{ name, update string }{
		{"set one", `{$set: {member09: "another text"}}`},
		{"set new", `{$set: {zzz: "another text"}}`},
		{"set nested", `{$set: {"at.city": "y"}}`},
		{"set nothing", `{$set: {n: 5}}`},
		{"inc", `{$inc: {n: 1}}`},
		{"inc decimal", `{$inc: {n: decimal(1.5)}}`},
		{"push", `{$push: {tags: "d"}}`},
		{"push and slice", `{$push: {tags: {$each: ["d"], $slice: -3}}}`},
		{"addToSet", `{$addToSet: {tags: "d"}}`},
		{"pull", `{$pull: {tags: "b"}}`},
		{"five operators",
			`{$set: {member01: "x", "at.zip": "y"}, $inc: {n: 1}, $push: {tags: "d"}, $unset: {member05: 1}}`},
	} {
		b.Run(c.name, func(b *testing.B) {
			u, err := Compile(docIn(b, c.update), Options{})
			if err != nil {
				b.Fatal(err)
			}
			d := kilobyte(b)
			dst := make([]byte, 0, 2*len(d))
			b.SetBytes(int64(len(d)))
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := u.Apply(dst, d, filter.Where{}, now); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkCompile(b *testing.B) {
	d := docIn(b, `{$set: {member01: "x", "at.zip": "y"}, $inc: {n: 1}}`)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Compile(d, Options{}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDescribe(b *testing.B) {
	long := []byte{0, 0, 0, 0}
	list := beginArray(nil)
	for range 10_000 {
		list.add(doc.Double(1.5))
	}
	long = end(doc.AppendElement(long, "v", doc.Array(list.end())), 0)
	for _, c := range []struct {
		name   string
		before doc.Doc
		update string
	}{
		{"set", kilobyte(b), `{$set: {member09: "x", "at.zip": "y"}}`},
		{"push", long, `{$push: {v: 2}}`},
	} {
		b.Run(c.name, func(b *testing.B) {
			u, err := Compile(docIn(b, c.update), Options{})
			if err != nil {
				b.Fatal(err)
			}
			after, _, err := u.Apply(nil, c.before, filter.Where{}, now)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				Describe(c.before, after)
			}
		})
	}
}
