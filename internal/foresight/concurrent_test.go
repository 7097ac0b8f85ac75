package foresight_test

import (
	"fmt"
	"sync"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/foresight"
	"github.com/mayflydb/mayfly/internal/store"
)

// TestDuringChanges asks while others write, change the policy and its indexes, and reclaim: each answer is about one
// moment, so its parts are together what lives.
func TestDuringChanges(t *testing.T) {
	w := newWorld(t, mongo(5000))
	done := make(chan struct{})
	var others sync.WaitGroup
	repeat := func(do func(i int) error) {
		others.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-done:
					return
				default:
				}
				if err := do(i); err != nil && fault.KindOf(err) != fault.NotFound {
					t.Error(err)
					return
				}
			}
		})
	}
	repeat(func(i int) error {
		id := int64(i % 200)
		body, _ := bson.Marshal(bson.D{{Key: "_id", Value: id}, {Key: "ttl", Value: i % 50 * 100},
			{Key: "at", Value: bson.DateTime(1000 * (start + int64(i)))}})
		_, err := w.store.Write(ctx, w.c, w.now+int64(i/10),
			store.Op{Verb: store.Upsert, Key: store.Identity(doc.Int(id)), Body: body, Lenient: true})
		return err
	})
	repeat(func(i int) error {
		_, _, err := w.store.ReplaceContainer(ctx, w.now, w.c, func(st *catalog.State) (catalog.Definition, error) {
			def := st.Definition
			def.TTL = expiry.TTL(5000 + 100*(i%7))
			return def, nil
		})
		return err
	})
	repeat(func(i int) error {
		_, err := w.store.Reclaim(ctx, w.c, w.now, 10)
		return err
	})
	var names int
	repeat(func(i int) error {
		if i%2 == 0 {
			names++
			return w.index(catalog.NamedIndex{
				Name: fmt.Sprint("x", names), Expires: true, Seconds: 3000,
				Columns: []catalog.NamedColumn{{Path: "at"}},
			})
		}
		_, err := w.catalog.ReplaceIndexes(ctx, w.now, w.c, func(*catalog.State) ([]catalog.NamedIndex, error) {
			return nil, nil
		})
		if fault.KindOf(err) == fault.Invalid { // too many closed rules: they wait for the reaper
			return nil
		}
		return err
	})
	for range 100 {
		p, err := w.f.Preview(ctx, w.c, w.now, foresight.Change{Default: pointer(expiry.TTL(60))}, 0)
		if err != nil && fault.KindOf(err) != fault.Invalid {
			t.Error(err)
			break
		}
		if err == nil && (!p.Exact || p.Windows[4].Documents > p.Living.Documents) {
			t.Errorf("a preview: %s", show(p))
		}
		f, err := w.f.Forecast(ctx, foresight.Scope{}, w.now, foresight.ByHour, 2, 0)
		if err != nil {
			t.Error(err)
			break
		}
		sum := f.Beyond.Documents + f.NoEnd.Documents
		for _, b := range f.Buckets {
			sum += b.Documents
		}
		if !f.Exact || sum != f.Living.Documents {
			t.Errorf("a forecast: %s", show(f))
		}
		if _, err := w.f.Explain(ctx, w.c, w.now, store.Identity(doc.Int(7))); err != nil &&
			fault.KindOf(err) != fault.NotFound {
			t.Error(err)
			break
		}
		if t.Failed() {
			break
		}
	}
	close(done)
	others.Wait()
}
