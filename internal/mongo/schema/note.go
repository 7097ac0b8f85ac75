package schema

import (
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/call"
	"github.com/mayflydb/mayfly/internal/mongo/query"
	"github.com/mayflydb/mayfly/internal/mongo/write"
	"github.com/mayflydb/mayfly/internal/store"
)

// noteModified tells change streams what the client has asked collMod for.
func noteModified(r *Request, c *catalog.Container) error {
	note := doc.NewWriter(nil)
	for name, v := range doc.Members(r.Body) {
		if name != r.Name && !call.GenericFields[name] {
			note.Value(name, v)
		}
	}
	if query.ViewOf(c) != nil {
		return write.NoteContainer(&r.Operation, c, store.LogEntry{Kind: write.LogModifyView, Note: note.End()})
	}
	return write.NoteContainer(&r.Operation, c, store.LogEntry{Kind: write.LogModify, Note: note.End()})
}
