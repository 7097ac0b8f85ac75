package store_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/store"
)

// BenchmarkGroup changes three documents in two containers.
func BenchmarkGroup(b *testing.B) {
	w := newWorld(b, collection("c", expiry.Unset))
	d := w.another(collection("d", expiry.Unset))
	ops := [3]store.Op{w.doing(store.Upsert, "a", `"n":1`), w.doing(store.Upsert, "b", `"n":1`),
		w.doing(store.Upsert, "c", `"n":1`)}
	b.ReportAllocs()
	for b.Loop() {
		g := w.beginSnapshot()
		x, y := g.On(w.view()), g.On(w.viewOf(d))
		w.wrote(x, ops[0])
		w.wrote(x, ops[1])
		w.wrote(y, ops[2])
		w.ok(g.Commit(context.Background()))
	}
}

// BenchmarkLog shows what a log costs a write.
func BenchmarkLog(b *testing.B) {
	for _, on := range []bool{false, true} {
		b.Run(fmt.Sprintf("on %v", on), func(b *testing.B) {
			w := newWorld(b, collection("c", expiry.Unset))
			if on {
				w.keepLog()
			}
			op := w.doing(store.Upsert, "a", `"n":1`)
			b.ReportAllocs()
			for b.Loop() {
				w.at(w.c, op)
			}
		})
	}
}
