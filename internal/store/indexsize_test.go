package store_test

import (
	"context"
	"testing"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/catalog"
)

// The size of a small index is that of its entries, that of a large one a fair guess.
func TestIndexSizes(t *testing.T) {
	sizes := func(documents int) (identity, plain, unique uint64) {
		w := byName(t, documents)
		w.announce(catalog.NamedIndex{Name: "n_1", Columns: []catalog.NamedColumn{{Path: "n"}}},
			catalog.NamedIndex{Name: "_id_n", Columns: []catalog.NamedColumn{{Path: "_id"}, {Path: "n"}}, Unique: true})
		w.ok(w.buildNamed())
		list, err := w.store.IndexSizes(context.Background(), w.c, uint64(documents))
		w.ok(err)
		named := w.c.State().Named
		return list[access.Identity], list[named[0].ID], list[named[1].ID]
	}
	id, plain, unique := sizes(100)
	if id == 0 || plain == 0 || unique <= plain {
		t.Fatalf("100 documents: %d, %d, %d bytes", id, plain, unique)
	}
	largeID, largePlain, largeUnique := sizes(1000)
	for _, c := range []struct {
		name         string
		small, large uint64
	}{{"_id_", id, largeID}, {"n_1", plain, largePlain}, {"_id_n", unique, largeUnique}} {
		if c.large < 8*c.small || c.large > 12*c.small {
			t.Errorf("%s: %d bytes for 100 documents, %d for 1000", c.name, c.small, c.large)
		}
	}
}
