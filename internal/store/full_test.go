package store_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/store"
)

// A nearlyFull file system says that it has a little room, less than the reserve.
type nearlyFull struct{ vfs.FS }

func (nearlyFull) GetDiskUsage(string) (vfs.DiskUsage, error) {
	return vfs.DiskUsage{AvailBytes: 20 << 20, TotalBytes: 10 << 30}, nil
}

// TestFullDisk opens data on a disk that is nearly full, and tries what may be done there.
func TestFullDisk(t *testing.T) {
	ctx := context.Background()
	w := newWorld(t, definition(1_000))
	for i := range 20 {
		_, err := w.write(w.put(store.Create, "a", fmt.Sprint(i), ""))
		w.ok(err)
	}
	w.fs, w.reserve = nearlyFull{w.fs}, 64<<20
	w.reopen()
	remove := func(id string) store.Op { return store.Op{Verb: store.Delete, Key: key("a", id)} }
	for _, c := range []struct {
		name   string
		do     func() error
		passes bool
	}{
		{"create", func() error { _, err := w.write(w.put(store.Create, "a", "new", "")); return err }, false},
		{"replace", func() error { _, err := w.write(w.put(store.Replace, "a", "1", `"x":1`)); return err }, false},
		{"delete", func() error { _, err := w.write(remove("1")); return err }, true},
		{"deletes", func() error {
			_, err := w.store.WriteAll(ctx, w.c, w.now, []store.Op{remove("2"), remove("3")})
			return err
		}, true},
		{"delete and create", func() error {
			_, err := w.store.WriteAll(ctx, w.c, w.now, []store.Op{remove("4"), w.put(store.Create, "a", "new", "")})
			return err
		}, false},
		{"a refused batch has done nothing", func() error {
			if !w.alive("a", "4") {
				t.Error("4 is gone")
			}
			return nil
		}, true},
		{"a database", func() error { _, err := w.catalog.CreateDatabase(ctx, w.now, "new", nil); return err }, false},
		{"another indexing policy", func() error {
			_, err := w.catalog.ReplaceContainer(ctx, w.now, w.c, func(st *catalog.State) (catalog.Definition, error) {
				def := st.Definition
				def.Indexing = catalog.Indexing{Included: []string{"/x/?"}, Excluded: []string{"/*"}}
				return def, nil
			})
			return err
		}, false},
		{"a shorter lifetime", func() error { w.setTTL(10); return nil }, true},
		{"the clock's mark", func() error { return w.catalog.SaveClockMark(ctx, time.Unix(w.now+1, 0)) }, true},
		{"reclaiming", func() error {
			w.now += 2_000
			done, err := w.store.Reclaim(ctx, w.c, w.now, 1_000)
			if err == nil && done.Documents != 17 {
				t.Errorf("%d documents reclaimed, want 17", done.Documents)
			}
			return err
		}, true},
		{"check", func() error { w.consistent(); return nil }, true},
		{"drop", func() error { return w.catalog.DeleteContainer(ctx, w.c) }, true},
	} {
		err := c.do()
		if c.passes && err != nil || !c.passes && fault.KindOf(err) != fault.OutOfSpace {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
