package store_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/store"
)

// TestSampleDrawsLivingDocumentsEvenly draws from 300 documents, of which each third is deleted and each third dead.
func TestSampleDrawsLivingDocumentsEvenly(t *testing.T) {
	w := newWorld(t, definition(expiry.Never))
	for i := range 300 {
		_, err := w.write(w.put(store.Create, "p", fmt.Sprint(i), []string{"", `"ttl":10`, ""}[i%3]))
		w.ok(err)
	}
	for i := 2; i < 300; i += 3 {
		_, err := w.write(store.Op{Verb: store.Delete, Key: key("p", fmt.Sprint(i))})
		w.ok(err)
	}
	w.now += 10
	r := rand.New(rand.NewPCG(1, 2))
	drawn := map[string]int{}
	for range 400 {
		numbers, ok, err := w.store.Sample(context.Background(), w.view(), 10, r.Float64)
		w.ok(err)
		if *partitions > 1 {
			if ok {
				t.Fatal("a sample of several ranges")
			}
			return
		}
		if !ok || len(numbers) != 10 {
			t.Fatalf("%d, %v", len(numbers), ok)
		}
		seen := map[uint64]bool{}
		for _, number := range numbers {
			if seen[number] {
				t.Fatal("a document twice")
			}
			seen[number] = true
			w.ok(w.store.Find(context.Background(), w.view(), number, func(d access.Document) error {
				id, _ := doc.AsString(doc.Lookup(d.Body, "id"))
				drawn[strings.Clone(id)]++
				return nil
			}))
		}
	}
	// Each of 100 documents is expected 40 times.
	for i := 0; i < 300; i += 3 {
		if n := drawn[fmt.Sprint(i)]; n < 15 || n > 75 {
			t.Errorf("document %d is drawn %d times", i, n)
		}
	}
	if len(drawn) != 100 {
		t.Errorf("%d documents are drawn", len(drawn))
	}
}

// TestNoSampleOfFewOrOfGaps: all documents are read where a sample has many of them, and where numbers lead nowhere.
func TestNoSampleOfFewOrOfGaps(t *testing.T) {
	w := newWorld(t, definition(expiry.Never))
	for i := range 2000 {
		_, err := w.write(w.put(store.Create, "p", fmt.Sprint(i), ""))
		w.ok(err)
	}
	draw := func(n int) bool {
		_, ok, err := w.store.Sample(context.Background(), w.view(), n, rand.Float64)
		w.ok(err)
		return ok
	}
	if few, many := draw(100), draw(101); *partitions == 1 && !few || many {
		t.Errorf("of 2000 documents: %v for 100, %v for 101", few, many)
	}
	for i := 1; i < 1980; i++ {
		_, err := w.write(store.Op{Verb: store.Delete, Key: key("p", fmt.Sprint(i))})
		w.ok(err)
	}
	if draw(1) {
		t.Error("a sample of 21 documents with 2000 numbers")
	}
}

// TestNoSampleOfTheDead: where most documents on disk are dead, few numbers are tried before all documents are read.
func TestNoSampleOfTheDead(t *testing.T) {
	w := newWorld(t, definition(expiry.Never))
	for i := range 2000 {
		_, err := w.write(w.put(store.Create, "p", fmt.Sprint(i), []string{"", `"ttl":10`}[min(i%500, 1)]))
		w.ok(err)
	}
	w.now += 10
	tried := 0
	_, ok, err := w.store.Sample(context.Background(), w.view(), 100, func() float64 {
		tried++
		return rand.Float64()
	})
	w.ok(err)
	if ok || tried > 250 {
		t.Errorf("%v after %d numbers", ok, tried)
	}
}
