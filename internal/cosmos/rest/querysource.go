package rest

import (
	"context"
	"iter"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
)

// An itemSource gives a query the items of a container.
type itemSource struct {
	api  *API
	view catalog.View
	part *selection // what the request selects, nil for what the access says
	link []byte     // see appendSystem
}

func (s *itemSource) Scan(ctx context.Context, a access.Access) iter.Seq2[*access.Document, error] {
	if s.part != nil {
		a.Of = s.part.inOrder(a.Of)
	}
	a.Texts = a.Texts && !isMongo(s.view.State) // see asItems
	return asItems(s.view.State, s.api.store.Scan(ctx, s.view, a))
}

// asItems hands out the documents of a walk as a query sees them.
func asItems(st *catalog.State, documents iter.Seq2[access.Document, error]) iter.Seq2[*access.Document, error] {
	return func(yield func(*access.Document, error) bool) {
		var out access.Document // one for all, as yield keeps no document
		var shape []byte
		for d, err := range documents {
			if err != nil {
				yield(nil, err)
				return
			}
			if out = d; isMongo(st) {
				shape = appendMongoItem(shape[:0], d.Body)
				out.Body, out.Memo = shape, nil // what is kept in memory has another form
			}
			if !yield(&out, nil) {
				return
			}
		}
	}
}

func (s *itemSource) Count(ctx context.Context, a access.Access) (n uint64, ok bool, err error) {
	return s.api.store.Count(ctx, s.view, a)
}

func (s *itemSource) Tabulate(ctx context.Context, a access.Access, t *access.Table) (access.Tabled, bool, error) {
	return s.api.store.Tabulate(ctx, s.view, a, t)
}

// System makes the members that the service adds to an item: the same as
// appendItem writes.
func (s *itemSource) System(dst []byte, d *access.Document) doc.Doc {
	dst, s.link = appendSystem(dst, s.link, s.view.Container, d)
	return dst
}

// appendSystem appends {_rid, _self, _etag, _attachments, _ts}. link is what the call
// before for the same container gave out as such, nil for the first.
func appendSystem(dst, link []byte, c *catalog.Container, d *access.Document) (out, same []byte) {
	if len(link) == 0 {
		link = databaseRID(c.Database).append(append(link, "dbs/"...))
		link = containerRID(c).append(append(link, "/colls/"...))
		link = append(link, "/docs/"...)
	}
	at, dst := bsoncore.AppendDocumentStart(dst)
	dst, text := doc.BeginString(dst, "_rid")
	dst = documentRID.in(c, d.Number).append(dst)
	from, to := text+4, len(dst)
	dst = doc.EndString(dst, text)
	dst, text = doc.BeginString(dst, "_self")
	dst = append(append(dst, link...), dst[from:to]...)
	dst = doc.EndString(append(dst, '/'), text)
	dst, text = doc.BeginString(dst, "_etag")
	dst = doc.EndString(appendETag(dst, d.Version), text)
	dst = bsoncore.AppendStringElement(dst, "_attachments", "attachments/")
	dst = bsoncore.AppendInt64Element(dst, "_ts", d.Stamp)
	dst, _ = bsoncore.AppendDocumentEnd(dst, at)
	return dst, link
}
