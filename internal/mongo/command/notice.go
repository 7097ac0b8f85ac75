package command

import (
	"slices"

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

	logCreateIndexes = "createIndexes"
	logDropIndexes   = "dropIndexes"
	logModify        = "modify"

	logCreateView = "createView"
	logDropView   = "dropView"
	logModifyView = "modifyView"
)

// ofViews are the entries about views, and what their events are called.
var ofViews = map[string]string{logCreateView: logCreate, logDropView: logDrop, logModifyView: logModify}

// created tells change streams of a container that was made.
func (r *request) created(c *catalog.Container) error {
	note := newAnswer(nil)
	note.members(c.State().Echo)
	if viewOf(c) != nil {
		return r.notice(c, store.LogEntry{Kind: logCreateView, Note: note.end()})
	}
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
		return r.notice(c, store.LogEntry{Kind: logDropView})
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
	if over != nil {
		note.value("dropTarget", uuidOf(over))
	}
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

// indexed tells change streams which indexes a container has got or lost since it had those.
func (r *request) indexed(c *catalog.Container, before []doc.Doc) error {
	after := indexSpecs(c)
	err := r.noticeIndexes(c, logCreateIndexes, missingIn(before, after))
	if err == nil {
		err = r.noticeIndexes(c, logDropIndexes, missingIn(after, before))
	}
	return err
}

// missingIn lists what is among specs, but by its name not there.
func missingIn(there, specs []doc.Doc) []doc.Doc {
	return slices.DeleteFunc(slices.Clone(specs), func(x doc.Doc) bool {
		return slices.ContainsFunc(there, func(y doc.Doc) bool { return doc.EqualBSON(doc.Lookup(x, "name"), doc.Lookup(y, "name")) })
	})
}

func (r *request) noticeIndexes(c *catalog.Container, kind string, specs []doc.Doc) error {
	if len(specs) == 0 {
		return nil
	}
	note := newAnswer(nil)
	note.array("indexes")
	for _, x := range specs {
		note.element(x)
	}
	note.close()
	return r.notice(c, store.LogEntry{Kind: kind, Note: note.end()})
}

// modified tells change streams what the client has asked collMod for.
func (r *request) modified(c *catalog.Container) error {
	note := newAnswer(nil)
	for name, v := range doc.Members(r.body) {
		if name != r.name && !genericFields[name] {
			note.value(name, v)
		}
	}
	if viewOf(c) != nil {
		return r.notice(c, store.LogEntry{Kind: logModifyView, Note: note.end()})
	}
	return r.notice(c, store.LogEntry{Kind: logModify, Note: note.end()})
}

// notice writes an entry about a container to the log, if it has a place there; that of a transaction
// gets there by its commit.
func (r *request) notice(c *catalog.Container, e store.LogEntry) error {
	if c.State().Dialect != catalog.Mongo {
		return nil
	}
	e.Wall = r.at.UnixMilli()
	if r.tx != nil {
		r.tx.begin().AppendLog(c, e)
		return nil
	}
	e.Database, e.DatabaseName, e.Container = c.Database.ID, c.Database.Name, c.ID
	if e.ContainerName == "" {
		e.ContainerName = c.State().Name
	}
	return r.s.o.Store.AppendLog(r.ctx, e)
}

func isNotFound(err error) bool { return fault.KindOf(err) == fault.NotFound }

func isOwnerless(err error) bool { return fault.KindOf(err) == fault.OwnerNotFound }

func isExists(err error) bool { return fault.KindOf(err) == fault.Exists }
