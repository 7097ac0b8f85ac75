package command

import (
	"slices"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/store"
)

// The kinds of entries that this package adds to the store's log, named like the events of change streams.
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

// ofViews maps the entries about views to the names of their events.
var ofViews = map[string]string{logCreateView: logCreate, logDropView: logDrop, logModifyView: logModify}

// created notifies change streams of a new container.
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

// dropped notifies change streams of a dropped container.
func (r *request) dropped(c *catalog.Container) error {
	if viewOf(c) != nil {
		return r.notice(c, store.LogEntry{Kind: logDropView})
	}
	return r.notice(c, store.LogEntry{Kind: logDrop})
}

// renamed notifies change streams of a renamed container. over is the container that had the new name before, nil if
// there was none.
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

// renamedTo reads the new name of a container from the entry that renamed has made.
func renamedTo(e *store.LogEntry) string {
	to, _ := doc.AsDoc(doc.Lookup(e.Note, "to"))
	name, _ := doc.AsString(doc.Lookup(to, "coll"))
	return name
}

// databaseDropped notifies change streams of a dropped database, after all of its containers.
func (r *request) databaseDropped(d *catalog.Database) error {
	return r.s.o.Store.AppendLog(r.ctx, store.LogEntry{
		Kind: logDropDatabase, Wall: r.at.UnixMilli(), Database: d.ID, DatabaseName: d.Name,
	})
}

// indexed notifies change streams of the indexes that a container has got or lost since it had those of before.
func (r *request) indexed(c *catalog.Container, before []doc.Doc) error {
	after := indexSpecs(c)
	err := r.noticeIndexes(c, logCreateIndexes, missingIn(before, after))
	if err == nil {
		err = r.noticeIndexes(c, logDropIndexes, missingIn(after, before))
	}
	return err
}

// missingIn lists the specs whose names are not in there.
func missingIn(there, specs []doc.Doc) []doc.Doc {
	return slices.DeleteFunc(slices.Clone(specs), func(x doc.Doc) bool {
		return slices.ContainsFunc(there, func(y doc.Doc) bool {
			return doc.EqualBSON(doc.Lookup(x, "name"), doc.Lookup(y, "name"))
		})
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

// modified notifies change streams of what the client has asked collMod for.
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

// notice writes an entry about a container to the log, which has only containers of this API. In a transaction the
// entry becomes part of it, and is written by the commit.
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
