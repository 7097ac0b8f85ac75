package filter

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mayflydb/mayfly/internal/doc"
)

func benchmark(b *testing.B, query, document string, want bool) {
	f, err := Compile(fromJSON(b, query), Options{})
	if err != nil {
		b.Fatal(err)
	}
	d := fromJSON(b, document)
	b.ReportAllocs()
	for b.Loop() {
		if ok, err := f.Match(d, nil); ok != want || err != nil {
			b.Fatal(ok, err)
		}
	}
}

// wide is a document of 20 fields and an array of objects.
func wide() string {
	var b strings.Builder
	b.WriteString(`{"_id":1`)
	for i := range 20 {
		fmt.Fprintf(&b, `,"field%d":"value %d"`, i, i)
	}
	b.WriteString(`,"list":[{"x":1,"y":{"z":1}},{"x":2,"y":{"z":2}},{"x":3,"y":{"z":3}}]}`)
	return b.String()
}

func hundred(format string) string {
	list := make([]string, 100)
	for i := range list {
		list[i] = fmt.Sprintf(format, i)
	}
	return strings.Join(list, ",")
}

func BenchmarkEqual(b *testing.B)       { benchmark(b, `{"field15":"value 15"}`, wide(), true) }
func BenchmarkEqualNumber(b *testing.B) { benchmark(b, `{"_id":1.0}`, wide(), true) }
func BenchmarkRange(b *testing.B) {
	benchmark(b, `{"field15":{"$gte":"value 1","$lt":"value 2"}}`, wide(), true)
}
func BenchmarkInStrings(b *testing.B) {
	benchmark(b, `{"field15":{"$in":[`+hundred(`"value %d"`)+`]}}`, wide(), true)
}
func BenchmarkInNumbers(b *testing.B) {
	benchmark(b, `{"_id":{"$in":[`+hundred(`%d`)+`]}}`, wide(), true)
}
func BenchmarkRegexPrefix(b *testing.B) {
	benchmark(b, `{"field15":{"$regex":"^value 1"}}`, wide(), true)
}
func BenchmarkRegexInside(b *testing.B) {
	benchmark(b, `{"field15":{"$regex":"lue \\d5$"}}`, wide(), true)
}
func BenchmarkRegexAnyCase(b *testing.B) {
	benchmark(b, `{"field15":{"$regex":"LUE 16","$options":"i"}}`, wide(), false)
}
func BenchmarkRegexSlow(b *testing.B) {
	benchmark(b, `{"field15":{"$regex":"(?=v)val"}}`, wide(), true)
}
func BenchmarkDotted(b *testing.B) { benchmark(b, `{"list.y.z":3}`, wide(), true) }
func BenchmarkElemMatch(b *testing.B) {
	benchmark(b, `{"list":{"$elemMatch":{"x":3,"y.z":{"$gt":2}}}}`, wide(), true)
}
func BenchmarkSchema(b *testing.B) {
	benchmark(b,
		`{"$jsonSchema":{"required":["_id","field1"],"properties":{"_id":{"bsonType":"int"},"field1":{"bsonType":"string","maxLength":20}}}}`, wide(), true)
}

func BenchmarkLocate(b *testing.B) {
	f, _ := Compile(fromJSON(b, `{"list.x":2}`), Options{})
	d := fromJSON(b, wide())
	b.ReportAllocs()
	for b.Loop() {
		if ok, w, err := f.Locate(d, nil); !ok || w.Element != 1 || err != nil {
			b.Fatal(ok, w, err)
		}
	}
}

func BenchmarkCompile(b *testing.B) {
	query := fromJSON(b, `{"a":{"$gt":1,"$lt":5},"b":"x","$or":[{"c":1},{"d.e":{"$in":[1,2,3]}}]}`)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Compile(doc.Doc(query), Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
