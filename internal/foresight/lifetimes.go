package foresight

import (
	"context"
	"strconv"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/store"
)

// A Row is what a row of a query says about the document that it comes from.
type Row struct {
	store.Ref
	// Named is false for a row that names no document: a sum, a group, a part of a document without its key.
	Named bool
	// Sure means that the row can only come from the document that it names. Without it the row may also have taken
	// values of other members for those of a key.
	Sure bool
}

// A RowLife is until when the document of a row lives.
type RowLife struct {
	Named bool
	Gone  bool         // the document has ended or was deleted since the query: the row must not be shown
	Ends  bool         // else it has no end
	At    expiry.Stamp // if it ends
}

// MarshalJSON writes Unix seconds, null for no end, or false for a row that names no document.
func (l RowLife) MarshalJSON() ([]byte, error) {
	switch {
	case !l.Named:
		return []byte("false"), nil
	case !l.Ends:
		return []byte("null"), nil
	}
	return strconv.AppendInt(nil, l.At, 10), nil
}

// Lifetimes says until when the documents of rows live; asked is when the query began. The answer holds at the instant
// that it returns with it, which is not before the query. It looks each document up by its key, so the cost is that of
// the rows.
//
// A row whose document has ended since the query is Gone. A document that ended before the query cannot be in its
// answer, so a row that seems to name it names none. A row that is not sure, whose document has not only ended since
// but has lost its space too, looks like one that names none.
func (f *Foresight) Lifetimes(
	ctx context.Context, c *catalog.Container, asked, now expiry.Stamp, rows []Row,
) ([]RowLife, expiry.Stamp, error) {
	v, err := c.Enter(ctx, now)
	if err != nil {
		return nil, 0, err
	}
	lives := make([]RowLife, len(rows))
	for i, row := range rows {
		if !row.Named {
			continue
		}
		fate, err := f.store.Fate(ctx, v, row.Ref)
		if err != nil {
			return nil, 0, err
		}
		switch {
		case fate.Alive:
			lives[i] = RowLife{Named: true, Ends: fate.Ends, At: fate.At}
		case row.Sure, fate.Stored && fate.Ends && fate.At > asked:
			lives[i] = RowLife{Named: true, Gone: true}
		}
	}
	return lives, v.Now, nil
}
