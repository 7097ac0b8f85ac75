package write

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/query"
	"github.com/mayflydb/mayfly/internal/mongo/session"
	"github.com/mayflydb/mayfly/internal/store"
)

// Kinds of entries in the store's log that this API adds, named like the events of change streams.
const (
	LogDrop         = "drop"         // of a container
	LogRename       = "rename"       // of a container
	LogDropDatabase = "dropDatabase" // after its containers
	LogModify       = "modify"       // of the options of a container
	LogModifyView   = "modifyView"   // of the definition of a view

	logCreate = "create"

	logCreateIndexes = "createIndexes"
	logDropIndexes   = "dropIndexes"

	logCreateView = "createView"
	logDropView   = "dropView"
)

// OfViews are the entries about views, and what their events are called.
var OfViews = map[string]string{logCreateView: logCreate, logDropView: LogDrop, LogModifyView: LogModify}

// noteCreated tells change streams of a container that was made.
func noteCreated(o *session.Operation, c *catalog.Container) error {
	note := doc.NewWriter(nil)
	note.Members(c.State().Echo)
	if query.ViewOf(c) != nil {
		return NoteContainer(o, c, store.LogEntry{Kind: logCreateView, Note: note.End()})
	}
	note.Object("idIndex")
	note.Int32("v", 2)
	note.Object("key")
	note.Int32("_id", 1)
	note.Close()
	note.String("name", "_id_")
	note.Close()
	return NoteContainer(o, c, store.LogEntry{Kind: logCreate, Note: note.End()})
}

// NoteDropped tells change streams of a container that is gone.
func NoteDropped(o *session.Operation, c *catalog.Container) error {
	if query.ViewOf(c) != nil {
		return NoteContainer(o, c, store.LogEntry{Kind: logDropView})
	}
	return NoteContainer(o, c, store.LogEntry{Kind: LogDrop})
}

// NoteRenamed tells change streams of a container that has another name; over is the one that had it
// before, nil if there was none.
func NoteRenamed(o *session.Operation, c *catalog.Container, from string, over *catalog.Container) error {
	note := doc.NewWriter(nil)
	note.Object("to")
	note.String("db", c.Database.Name)
	note.String("coll", c.State().Name)
	note.Close()
	if over != nil {
		note.Value("dropTarget", UUIDOf(over))
	}
	return NoteContainer(o, c, store.LogEntry{Kind: LogRename, ContainerName: from, Note: note.End()})
}

// RenamedTo is the new name of a container in the entry about it.
func RenamedTo(e *store.LogEntry) string {
	to, _ := doc.AsDoc(doc.Lookup(e.Note, "to"))
	name, _ := doc.AsString(doc.Lookup(to, "coll"))
	return name
}

// NoteDatabaseDropped tells change streams of a database that is gone, after all of its containers.
func NoteDatabaseDropped(o *session.Operation, d *catalog.Database) error {
	return o.Node.Store.AppendLog(o.Context,
		store.LogEntry{Kind: LogDropDatabase, Wall: o.At.UnixMilli(), Database: d.ID, DatabaseName: d.Name})
}

// NoteIndexes tells change streams which indexes a container has got or lost since it had those.
func NoteIndexes(o *session.Operation, c *catalog.Container, before, after []doc.Doc) error {
	err := noteSpecs(o, c, logCreateIndexes, missingIn(before, after))
	if err == nil {
		err = noteSpecs(o, c, logDropIndexes, missingIn(after, before))
	}
	return err
}

// missingIn lists what is among specs, but by its name not there.
func missingIn(there, specs []doc.Doc) []doc.Doc {
	return slices.DeleteFunc(slices.Clone(specs), func(x doc.Doc) bool {
		return slices.ContainsFunc(there, func(y doc.Doc) bool {
			return doc.EqualBSON(doc.Lookup(x, "name"), doc.Lookup(y, "name"))
		})
	})
}

func noteSpecs(o *session.Operation, c *catalog.Container, kind string, specs []doc.Doc) error {
	if len(specs) == 0 {
		return nil
	}
	note := doc.NewWriter(nil)
	note.Array("indexes")
	for _, x := range specs {
		note.Element(x)
	}
	note.Close()
	return NoteContainer(o, c, store.LogEntry{Kind: kind, Note: note.End()})
}

// NoteContainer writes an entry about a container to the log, if it has a place there; that of a transaction
// gets there by its commit.
func NoteContainer(o *session.Operation, c *catalog.Container, e store.LogEntry) error {
	if c.State().Dialect != catalog.Mongo {
		return nil
	}
	e.Wall = o.At.UnixMilli()
	// What a transaction does must not be in the log before its commit, and not at all without one.
	if o.Transaction != nil {
		g, err := o.Transaction.Begin()
		if err != nil {
			return err
		}
		g.AppendLog(c, e)
		return nil
	}
	// Names are recorded as they are now: by the time that a stream reads the entry, the container may have another
	// name, or none.
	e.Database, e.DatabaseName, e.Container = c.Database.ID, c.Database.Name, c.ID
	if e.ContainerName == "" {
		e.ContainerName = c.State().Name
	}
	return o.Node.Store.AppendLog(o.Context, e)
}

// UUIDOf is the UUID of a container: of its number, which is never given to another.
func UUIDOf(c *catalog.Container) doc.Value {
	sum := sha256.Sum256(binary.BigEndian.AppendUint32([]byte("mayfly container "), c.ID))
	id := sum[:16]
	id[6], id[8] = id[6]&0x0f|0x80, id[8]&0x3f|0x80 // version 8, made by a rule of ours
	return doc.Value{Type: bsoncore.TypeBinary, Data: append([]byte{16, 0, 0, 0, 4}, id...)}
}
