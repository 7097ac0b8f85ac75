package write

import (
	"bytes"
	"cmp"
	"context"
	"fmt"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/mongo/call"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/pipeline"
	"github.com/mayflydb/mayfly/internal/mongo/query"
	"github.com/mayflydb/mayfly/internal/mongo/session"
	"github.com/mayflydb/mayfly/internal/store"
)

// A Sink carries out the stages of a pipeline that write.
type Sink struct{ query.Joined }

// Out replaces a container by rows: they are written to another one, which takes its name in the end.
func (s Sink) Out(_ context.Context, into pipeline.Namespace, rows pipeline.Rows) error {
	o := s.Cursor.Operation()
	old, ns, err := s.Container(into)
	if err != nil {
		return err
	}
	db := into.Database
	if db == "" {
		db = s.Database
	}
	if err := call.CheckName(db, into.Container); err != nil {
		return err
	}
	if old != nil && (query.ViewOf(old) != nil || old.State().Dialect != catalog.Mongo) {
		return code.New(code.CommandNotSupportedOnView, "Namespace %s is a view, not a collection", ns)
	}
	// Readers see the old container until the new one is complete, and a failed $out leaves it as it was. Only the
	// rename at the end is visible.
	scratch := fmt.Sprintf("tmp.agg_out.%x", o.Node.NewObjectID(o.At))
	var options doc.Doc
	if old != nil {
		options = old.State().Echo
	}
	c, err := CreateContainer(o, db, scratch, options)
	if err != nil {
		return err
	}
	if old != nil {
		_, err = o.Node.Catalog.ReplaceIndexes(o.Context, o.Now, c, func(*catalog.State) ([]catalog.NamedIndex, error) {
			return fresh(old.State().Named), nil
		})
		if st := old.State(); err == nil && st.Policy.On() {
			// The lifetime is set before rows arrive, so that none of them lives without it.
			err = inheritLifetime(o, c, st)
		}
	}
	if err == nil {
		err = s.insertRows(c, rows)
	}
	if err == nil {
		err = o.Node.Catalog.RenameContainer(o.Context, c, into.Container, true)
	}
	if err != nil {
		// The half-written container goes even if the client has gone: nobody else knows its name.
		return cmp.Or(err, o.Node.Catalog.DeleteContainer(context.WithoutCancel(o.Context), c))
	}
	if old != nil {
		o.Node.Forget(old)
	}
	return NoteRenamed(o, c, scratch, old)
}

// inheritLifetime gives a container that is empty the lifetime that counts from the stamp of another one.
func inheritLifetime(o *session.Operation, c *catalog.Container, from *catalog.State) error {
	_, effect, err := o.Node.Store.ReplaceContainer(o.Context, o.Now, c,
		func(st *catalog.State) (catalog.Definition, error) {
			def := st.Definition
			if def.TTL, def.TTLIndex = from.TTL, from.TTLIndex; def.TTL == expiry.Unset {
				def.TTLProperty = ""
			}
			return def, nil
		})
	if effect != nil {
		effect.Log(o.Node.Log, NamespaceOf(c))
	}
	return err
}

// fresh are indexes as they are made anew.
func fresh(list []catalog.NamedIndex) []catalog.NamedIndex {
	made := make([]catalog.NamedIndex, len(list))
	for i, x := range list {
		x.ID = 0
		made[i] = x
	}
	return made
}

func (s Sink) insertRows(c *catalog.Container, rows pipeline.Rows) error {
	o := s.Cursor.Operation()
	w := Writer{o: o, c: c, ordered: true}
	validate, err := ValidatorOf(o, c)
	if err != nil {
		return err
	}
	i := 0
	for d, err := range rows {
		if err != nil {
			return err
		}
		body, err := prepareDocument(o, d)
		if err == nil && validate != nil {
			err = validate(body)
		}
		if err != nil {
			return err
		}
		if err := reserveMore(o, writeCost*len(body)); err != nil {
			return err
		}
		body = bytes.Clone(body)
		w.ops = append(w.ops,
			store.Op{Verb: store.Create, Key: store.Identity(doc.Lookup(body, "_id")), Body: body, Lenient: true})
		w.indexes = append(w.indexes, i)
		i++
		if w.bytes += len(body); len(w.ops) >= chunkDocuments || w.bytes >= chunkBytes {
			if !w.flush() {
				return w.first()
			}
			// The rows stream through, so only those of the present chunk are in memory.
			unreserve(o)
		}
	}
	w.flush()
	return w.first()
}
