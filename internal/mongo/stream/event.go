package stream

import (
	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/session"
	"github.com/mayflydb/mayfly/internal/mongo/update"
	"github.com/mayflydb/mayfly/internal/mongo/write"
	"github.com/mayflydb/mayfly/internal/store"
)

// shows reports whether the stream has events of a kind of entries.
func (s *Stream) shows(kind string) bool {
	switch kind {
	case store.LogInsert, store.LogUpdate, store.LogReplace, store.LogDelete, write.LogDrop, write.LogRename,
		write.LogDropDatabase:
		return true
	}
	return s.expanded
}

// event makes the event of an entry. It is valid until the next one.
// https://www.mongodb.com/docs/v7.0/reference/change-events/
func (s *Stream) event(o *session.Operation, e *store.LogEntry) (doc.Doc, error) {
	if err := s.images(e); err != nil {
		return nil, err
	}
	a := doc.NewWriter(s.buf[:0])
	kind, isView := write.OfViews[e.Kind]
	if !isView {
		kind = e.Kind
	}
	writeHead(a, token{e.Time, ofEvent}, kind, e.Wall)
	if s.expanded && e.ContainerName != "" && !isView {
		a.Value("collectionUUID", write.UUIDOf(&catalog.Container{ID: e.Container}))
	}
	a.Members(e.Label)
	if err := s.full(o, a, e); err != nil {
		return nil, err
	}
	a.Object("ns")
	a.String("db", e.DatabaseName)
	if e.ContainerName != "" {
		a.String("coll", e.ContainerName)
	}
	a.Close()
	switch {
	case e.Kind == write.LogRename:
		a.Value("to", doc.Lookup(e.Note, "to"))
	case e.ID.Type != 0:
		a.Object("documentKey")
		a.Value("_id", e.ID)
		a.Close()
	}
	switch {
	case e.Kind == store.LogUpdate:
		s.describe(a, e.Note)
	case s.expanded && e.ID.Type == 0 && e.Note != nil:
		a.Doc("operationDescription", e.Note)
	}
	if s.before == "whenAvailable" && changes(e.Kind) {
		a.Null("fullDocumentBeforeChange")
	}
	s.buf = a.End()
	return s.buf, nil
}

// describe writes what an update has done. Only expanded events have the paths that need to be told in parts, and
// always.
func (s *Stream) describe(a *doc.Writer, note doc.Doc) {
	parted := doc.Lookup(note, update.DisambiguatedPaths)
	if parted.Type == 0 && !s.expanded {
		a.Doc("updateDescription", note)
		return
	}
	a.Object("updateDescription")
	for name, v := range doc.Members(note) {
		if name != update.DisambiguatedPaths {
			a.Value(name, v)
		}
	}
	switch {
	case s.expanded && parted.Type == 0:
		a.Doc(update.DisambiguatedPaths, doc.Empty)
	case s.expanded:
		a.Value(update.DisambiguatedPaths, parted)
	}
	a.Close()
}

// writeHead writes what every event begins with.
func writeHead(a *doc.Writer, t token, kind string, wall int64) {
	a.Object("_id")
	a.String("_data", t.String())
	a.Close()
	a.String("operationType", kind)
	a.Value("clusterTime", doc.Timestamp(t.time.Seconds(), t.time.Ordinal()))
	a.Date("wallTime", wall)
}

// changes reports whether an entry is about a document that was there before.
func changes(kind string) bool {
	return kind == store.LogUpdate || kind == store.LogReplace || kind == store.LogDelete
}

// images refuses events for which the client requires images: none are kept.
func (s *Stream) images(e *store.LogEntry) error {
	switch {
	case s.lookup == "required" && e.Kind == store.LogUpdate:
		return code.New(code.NoMatchingDocument,
			"Change stream was configured to require a post-image for all update events, but the post-image was not "+
				"found: mayfly keeps no images of documents. Use updateLookup.")
	case s.before == "required" && changes(e.Kind):
		return code.New(code.NoMatchingDocument,
			"Change stream was configured to require a pre-image for all update, delete and replace events, but the "+
				"pre-image was not found: mayfly keeps no images of documents.")
	}
	return nil
}

// full writes fullDocument, where the event has one.
func (s *Stream) full(o *session.Operation, a *doc.Writer, e *store.LogEntry) error {
	switch {
	case e.Full != nil:
		a.Doc("fullDocument", e.Full)
	case e.Kind != store.LogUpdate:
	case s.lookup == "updateLookup":
		return s.current(o, a, e)
	case s.lookup == "whenAvailable":
		a.Null("fullDocument")
	}
	return nil
}

// current writes the document as it is now, which may be later than when the request came; null when it has expired or
// is gone, or its container.
func (s *Stream) current(o *session.Operation, a *doc.Writer, e *store.LogEntry) error {
	c, err := s.node.Catalog.ContainerByID(e.Container)
	found := false
	if err == nil {
		// A getMore may have waited for this event, so its own instant is too early to say what is alive.
		v, enterErr := c.Enter(o.Context, o.Node.Clock.Now().Unix())
		if err = enterErr; err == nil {
			found, err = o.Read(v, e.ID, func(d access.Document) error {
				a.Doc("fullDocument", d.Body)
				return nil
			})
		}
	}
	if fault.KindOf(err) == fault.NotFound || fault.KindOf(err) == fault.OwnerNotFound {
		err = nil
	}
	if err == nil && !found {
		a.Null("fullDocument")
	}
	return err
}

// invalidate is the event that ends a stream.
func (s *Stream) invalidate(t token) doc.Doc {
	a := doc.NewWriter(s.buf[:0])
	writeHead(a, t, "invalidate", s.wall)
	s.buf = a.End()
	return s.buf
}
