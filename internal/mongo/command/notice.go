package command

import (
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/store"
)

// What the door itself adds to the store's log, named like the events of change streams.
const (
	logCreate       = "create"
	logDrop         = "drop"
	logRename       = "rename"
	logDropDatabase = "dropDatabase"
)

// created tells change streams of a container that was made.
func (r *request) created(c *catalog.Container) error {
	if viewOf(c) != nil {
		return nil
	}
	note := newAnswer(nil)
	note.members(c.State().Echo)
	note.object("idIndex")
	note.int32("v", 2)
	note.object("key")
	note.int32("_id", 1)
	note.close()
	note.string("name", "_id_")
	note.close()
	return r.notice(c, store.LogEntry{Kind: logCreate, Note: note.end()})
}

// dropped tells change streams of a container that is gone.
func (r *request) dropped(c *catalog.Container) error {
	if viewOf(c) != nil {
		return nil
	}
	return r.notice(c, store.LogEntry{Kind: logDrop})
}

// renamed tells change streams of a container that has another name; over is the one that had it
// before, nil if there was none.
func (r *request) renamed(c *catalog.Container, from string, over *catalog.Container) error {
	note := newAnswer(nil)
	note.object("to")
	note.string("db", c.Database.Name)
	note.string("coll", c.State().Name)
	note.close()
	return r.notice(c, store.LogEntry{Kind: logRename, ContainerName: from, Note: note.end()})
}

// renamedTo is the new name of a container in the entry about it.
func renamedTo(e *store.LogEntry) string {
	to, _ := doc.AsDoc(doc.Lookup(e.Note, "to"))
	name, _ := doc.AsString(doc.Lookup(to, "coll"))
	return name
}

// databaseDropped tells change streams of a database that is gone, after all of its containers.
func (r *request) databaseDropped(d *catalog.Database) error {
	return r.s.o.Store.AppendLog(r.ctx, store.LogEntry{Kind: logDropDatabase, Wall: r.at.UnixMilli(), Database: d.ID, DatabaseName: d.Name})
}

// notice writes an entry about a container to the log.
func (r *request) notice(c *catalog.Container, e store.LogEntry) error {
	e.Wall = r.at.UnixMilli()
	e.Database, e.DatabaseName, e.Container = c.Database.ID, c.Database.Name, c.ID
	if e.ContainerName == "" {
		e.ContainerName = c.State().Name
	}
	return r.s.o.Store.AppendLog(r.ctx, e)
}

func isNotFound(err error) bool { return fault.KindOf(err) == fault.NotFound }

func isOwnerless(err error) bool { return fault.KindOf(err) == fault.OwnerNotFound }

func isExists(err error) bool { return fault.KindOf(err) == fault.Exists }
