package rest

import (
	"context"
	"iter"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/cosmos/sql/exec"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/store"
)

// An itemSource is the items of a container as a query sees them.
type itemSource struct {
	door *Door
	view catalog.View
	text []byte // scratch of system members
}

func (s *itemSource) Scan(ctx context.Context, a access.Access) iter.Seq2[*exec.Document, error] {
	return func(yield func(*exec.Document, error) bool) {
		var out exec.Document
		for d, err := range s.door.store.Scan(ctx, s.view, a) {
			if err != nil {
				yield(nil, err)
				return
			}
			out = asked(&d)
			if !yield(&out, nil) {
				return
			}
		}
	}
}

// asked is a stored document as a query sees it.
func asked(d *store.Document) exec.Document {
	return exec.Document{Number: d.Number, Sequence: d.Sequence, Stamp: d.Stamp, Body: d.Body, Position: d.Position}
}

func (s *itemSource) Count(ctx context.Context, a access.Access) (n uint64, ok bool, err error) {
	return s.door.store.Count(ctx, s.view, a)
}

// System makes the members that the service adds to an item: the same as
// appendItem writes.
func (s *itemSource) System(dst []byte, d *exec.Document) doc.Doc {
	dst, s.text = appendSystem(dst, s.text, s.view.Container, d)
	return dst
}

// appendSystem appends {_rid, _self, _etag, _attachments, _ts}; text is scratch.
func appendSystem(dst, text []byte, c *catalog.Container, d *exec.Document) (out, scratch []byte) {
	id := documentRID.in(c, d.Number)
	at, dst := bsoncore.AppendDocumentStart(dst)
	text = id.append(text[:0])
	dst = bsoncore.AppendStringElement(dst, "_rid", string(text))
	text = databaseRID(c.Database).append(append(text[:0], "dbs/"...))
	text = containerRID(c).append(append(text, "/colls/"...))
	text = append(id.append(append(text, "/docs/"...)), '/')
	dst = bsoncore.AppendStringElement(dst, "_self", string(text))
	text = appendETag(text[:0], store.Version{Sequence: d.Sequence, Stamp: d.Stamp})
	dst = bsoncore.AppendStringElement(dst, "_etag", string(text))
	dst = bsoncore.AppendStringElement(dst, "_attachments", "attachments/")
	dst = bsoncore.AppendInt64Element(dst, "_ts", d.Stamp)
	dst, _ = bsoncore.AppendDocumentEnd(dst, at)
	return dst, text
}
