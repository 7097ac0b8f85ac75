package function

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/mayflydb/mayfly/internal/doc"
)

func TestVectorDistance(t *testing.T) {
	runNumberCalls(t, []callCase{
		{"VECTORDISTANCE", `[1,2,3], [1,2,3]`, "1"}, {"VECTORDISTANCE", `[1,0], [0,1]`, "0"}, {"VECTORDISTANCE",
			`[1,0], [-2,0]`, "-1"},
		{"VECTORDISTANCE", `[1,2,3], [4,5,6]`, "0.9746318461970762"}, {"VECTORDISTANCE", `[1,2,3], [4,5,6], true`,
			"0.9746318461970762"},
		{"VECTORDISTANCE", `[1,2,3], [4,5,6], false, {"distanceFunction":"Cosine"}`, "0.9746318461970762"},
		{"VECTORDISTANCE", `[1,2,3], [4,5,6], false, {"distanceFunction":"dotproduct"}`, "32"},
		{"VECTORDISTANCE", `[1,2,3], [4,6,3], false, {"distanceFunction":"euclidean","dataType":"Float32"}`, "5"},
		{"VECTORDISTANCE", `[1,2,3,4,5,6,7], [1,1,1,1,1,1,1.5], false, {"distanceFunction":"DotProduct"}`, "31.5"},
		{"VECTORDISTANCE", `[1.5,2], [1,2], false, {"searchListSizeMultiplier":10,"distanceFunction":"dotproduct"}`,
			"5.5"},
		{"VECTORDISTANCE", `[1,2], [1,2], false, {}`, "1"},
		{"VECTORDISTANCE", `[1e200,0], [1e200,0]`, "undefined"},
		{"VECTORDISTANCE", `[1e150,0], [1e150,0]`, "1"},

		{"VECTORDISTANCE", `[1,2], [1,2,3]`, "undefined"}, {"VECTORDISTANCE", `[], []`, "undefined"},
		{"VECTORDISTANCE", `[0,0], [1,2]`, "undefined"},
		{"VECTORDISTANCE", `[[1,2]], [[1,2]]`, "undefined"}, {"VECTORDISTANCE", `[1,"2"], [1,2]`, "undefined"},
		{"VECTORDISTANCE", `[1,2], [1,null]`, "undefined"},
		{"VECTORDISTANCE", `undefined, [1,2]`, "undefined"}, {"VECTORDISTANCE", `[1,2], "[1,2]"`, "undefined"},
		{"VECTORDISTANCE", `[1,2], [1,2], 1`, "undefined"}, {"VECTORDISTANCE", `[1,2], [1,2], undefined`,
			"undefined"}, {"VECTORDISTANCE", `[1,2], [1,2], true, "cosine"`, "undefined"},
		{"VECTORDISTANCE", `[1,2], [1,2], false, {"distanceFunction":"hamming"}`, "!invalid"}, {"VECTORDISTANCE",
			`[1,2], [1,2], false, {"distanceFunction":1}`, "!invalid"},
		{"VECTORDISTANCE", `[1,2], [1,2], false, {"dataType":"float64"}`, "!invalid"},
	})
}

// From row to row one argument changes and the other does not.
func TestVectorsChange(t *testing.T) {
	f, _ := Lookup("VECTORDISTANCE")
	c := &Call{}
	for i := range 40 {
		n := i % 7
		a, b := argument(t, fmt.Sprintf(`[%d,%d]`, n, i)), argument(t, `[3,1.5]`)
		options := argument(t, `{"distanceFunction":"`+[]string{"dotproduct", "euclidean"}[i/20]+`"}`)
		want := float64(3*n) + 1.5*float64(i)
		if i >= 20 {
			want = euclidean([]float64{float64(n), float64(i)}, []float64{3, 1.5})
		}
		for _, args := range [][]doc.Value{{a, b, no, options}, {a, b, no, options}} {
			if got, _ := doc.AsFloat(f.Run(c, args)); got != want {
				t.Fatalf("row %d gives %v, want %v", i, got, want)
			}
		}
	}
}

// appendFloats agrees with a simple loop for all kinds of numbers.
func TestReadingVectors(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	for _, n := range []int{1, 9, 10, 11, 99, 100, 101, 1001} {
		text := vectorText(random, n)
		for _, v := range []doc.Value{argument(t, text), argument(t, strings.Replace(text, ",",
			",18446744073709551615,", 1))} {
			var want []float64
			for e := range doc.Elements(v) {
				f, _ := doc.AsFloat(e)
				want = append(want, f)
			}
			if got := appendFloats(nil, v); fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("%d numbers: %v, want %v", n, got, want)
			}
		}
	}
}

func vectorText(random *rand.Rand, n int) string {
	var b strings.Builder
	for i := range n {
		if i%5 == 4 {
			fmt.Fprintf(&b, ",%d", random.IntN(100))
		} else {
			fmt.Fprintf(&b, ",%v", random.NormFloat64())
		}
	}
	return "[" + b.String()[1:] + "]"
}

// A filter or an order by distance is computed for each document.
func TestVectorDistanceDoesNotAllocate(t *testing.T) {
	random := rand.New(rand.NewPCG(9, 10))
	f, _ := Lookup("VECTORDISTANCE")
	constant := argument(t, vectorText(random, 1536))
	rows := []doc.Value{argument(t, vectorText(random, 1536)), argument(t, vectorText(random, 1536)), argument(t,
		vectorText(random, 1536))}
	c, i := &Call{}, 0
	args := make([]doc.Value, 2)
	run := func() {
		args[0], args[1] = rows[i%3], constant
		f.Run(c, args)
		i++
	}
	for range 3 {
		run()
	}
	if n := testing.AllocsPerRun(100, run); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkVectorDistance(b *testing.B) {
	random := rand.New(rand.NewPCG(9, 10))
	constant := argument(b, vectorText(random, 1536))
	rows := []doc.Value{argument(b, vectorText(random, 1536)), argument(b, vectorText(random, 1536)), argument(b,
		vectorText(random, 1536))}
	f, _ := Lookup("VECTORDISTANCE")
	for _, name := range []string{"cosine", "dotproduct", "euclidean"} {
		b.Run(name, func(b *testing.B) {
			c, i := &Call{}, 0
			args := []doc.Value{{}, constant, no, argument(b, `{"distanceFunction":"`+name+`"}`)}
			b.ReportAllocs()
			for b.Loop() {
				args[0] = rows[i%3]
				f.Run(c, args)
				i++
			}
		})
	}
	b.Run("reading alone", func(b *testing.B) {
		var floats []float64
		for b.Loop() {
			floats = appendFloats(floats[:0], rows[0])
		}
	})
	b.Run("reading with doc.Elements", func(b *testing.B) {
		var floats []float64
		for b.Loop() {
			floats = appendSlowly(floats[:0], rows[0], 4, 0)
		}
	})
}
