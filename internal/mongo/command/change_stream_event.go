package command

import (
	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/update"
	"github.com/mayflydb/mayfly/internal/store"
)

// shows reports whether the stream has events of a kind of entries.
func (s *stream) shows(kind string) bool {
	switch kind {
	case store.LogInsert, store.LogUpdate, store.LogReplace, store.LogDelete, logDrop, logRename, logDropDatabase:
		return true
	}
	return s.expanded
}

// event makes the event of an entry. It is valid until the next one.
// https://www.mongodb.com/docs/v7.0/reference/change-events/
func (s *stream) event(r *request, e *store.LogEntry) (doc.Doc, error) {
	if err := s.images(e); err != nil {
		return nil, err
	}
	a := newAnswer(s.buf[:0])
	kind, isView := ofViews[e.Kind]
	if !isView {
		kind = e.Kind
	}
	a.head(resumeToken{e.Time, ofEvent}, kind, e.Wall)
	if s.expanded && e.ContainerName != "" && !isView {
		a.value("collectionUUID", uuidOf(&catalog.Container{ID: e.Container}))
	}
	a.members(e.Label)
	if err := s.full(r, a, e); err != nil {
		return nil, err
	}
	a.object("ns")
	a.string("db", e.DatabaseName)
	if e.ContainerName != "" {
		a.string("coll", e.ContainerName)
	}
	a.close()
	switch {
	case e.Kind == logRename:
		a.value("to", doc.Lookup(e.Note, "to"))
	case e.ID.Type != 0:
		a.object("documentKey")
		a.value("_id", e.ID)
		a.close()
	}
	switch {
	case e.Kind == store.LogUpdate:
		s.describe(a, e.Note)
	case s.expanded && e.ID.Type == 0 && e.Note != nil:
		a.doc("operationDescription", e.Note)
	}
	if s.before == "whenAvailable" && changes(e.Kind) {
		a.null("fullDocumentBeforeChange")
	}
	s.buf = a.end()
	return s.buf, nil
}

// describe writes what an update has done. Only expanded events have the paths that need to be told in parts, and always.
func (s *stream) describe(a *answer, note doc.Doc) {
	parted := doc.Lookup(note, update.DisambiguatedPaths)
	if parted.Type == 0 && !s.expanded {
		a.doc("updateDescription", note)
		return
	}
	a.object("updateDescription")
	for name, v := range doc.Members(note) {
		if name != update.DisambiguatedPaths {
			a.value(name, v)
		}
	}
	switch {
	case s.expanded && parted.Type == 0:
		a.doc(update.DisambiguatedPaths, doc.Empty)
	case s.expanded:
		a.value(update.DisambiguatedPaths, parted)
	}
	a.close()
}

// head writes what every event begins with.
func (a *answer) head(t resumeToken, kind string, wall int64) {
	a.object("_id")
	a.string("_data", t.String())
	a.close()
	a.string("operationType", kind)
	a.value("clusterTime", doc.Timestamp(t.time.Seconds(), t.time.Ordinal()))
	a.date("wallTime", wall)
}

// changes reports whether an entry is about a document that was there before.
func changes(kind string) bool {
	return kind == store.LogUpdate || kind == store.LogReplace || kind == store.LogDelete
}

// images refuses events of which the client requires images: none are kept.
func (s *stream) images(e *store.LogEntry) error {
	switch {
	case s.lookup == "required" && e.Kind == store.LogUpdate:
		return code.New(code.NoMatchingDocument, "Change stream was configured to require a post-image for all update events, but the post-image was not found: "+
			"mayfly keeps no images of documents. Use updateLookup.")
	case s.before == "required" && changes(e.Kind):
		return code.New(code.NoMatchingDocument, "Change stream was configured to require a pre-image for all update, delete and replace events, but the pre-image was not found: "+
			"mayfly keeps no images of documents.")
	}
	return nil
}

// full writes fullDocument, where the event has one.
func (s *stream) full(r *request, a *answer, e *store.LogEntry) error {
	switch {
	case e.Full != nil:
		a.doc("fullDocument", e.Full)
	case e.Kind != store.LogUpdate:
	case s.lookup == "updateLookup":
		return s.current(r, a, e)
	case s.lookup == "whenAvailable":
		a.null("fullDocument")
	}
	return nil
}

// current writes the document as it is now, which may be later than when the request came; null when it has expired or is gone, or its container.
func (s *stream) current(r *request, a *answer, e *store.LogEntry) error {
	c, err := s.s.o.Catalog.ContainerByID(e.Container)
	found := false
	if err == nil {
		v, enterErr := c.Enter(r.ctx, r.s.o.Clock.Now().Unix())
		if err = enterErr; err == nil {
			found, err = r.read(v, e.ID, func(d access.Document) error {
				a.doc("fullDocument", d.Body)
				return nil
			})
		}
	}
	if isNotFound(err) || isOwnerless(err) {
		err = nil
	}
	if err == nil && !found {
		a.null("fullDocument")
	}
	return err
}

// invalidate is the event that ends a stream.
func (s *stream) invalidate(t resumeToken) doc.Doc {
	a := newAnswer(s.buf[:0])
	a.head(t, "invalidate", s.wall)
	s.buf = a.end()
	return s.buf
}
