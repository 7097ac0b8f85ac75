package command

import (
	"bytes"
	"context"
	"fmt"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/filter"
	"github.com/mayflydb/mayfly/internal/mongo/pipeline"
	"github.com/mayflydb/mayfly/internal/mongo/update"
	"github.com/mayflydb/mayfly/internal/store"
)

// A server is what the stages of one pipeline ask of the door.
type server struct {
	p  *piping
	db string // of the command
}

func failed(err error) pipeline.Rows {
	return func(yield func(doc.Doc, error) bool) { yield(nil, err) }
}

func none(func(doc.Doc, error) bool) {}

// container finds a container; nil without an error when there is none.
func (s server) container(n pipeline.Namespace) (*catalog.Container, string, error) {
	db := n.Database
	if db == "" {
		db = s.db
	}
	c, err := s.p.now.find(db, n.Container)
	return c, db + "." + n.Container, err
}

// Documents gives the documents of a container, or the rows of a view.
func (s server) Documents(_ context.Context, from pipeline.Namespace, match *filter.Filter) pipeline.Rows {
	c, ns, err := s.container(from)
	switch {
	case err != nil:
		return failed(err)
	case c == nil:
		return none
	case viewOf(c) != nil:
		rows, err := s.p.viewRows(c, doc.Empty)
		if err != nil {
			return failed(err)
		}
		return rows
	}
	if match != nil && match.NeedsScope() {
		match = nil // its variables are the stage's, which checks each document itself
	}
	q := &selection{container: c, ns: ns, filter: match, query: doc.Empty, memory: &s.p.holding}
	return pausable(func() *request { return s.p.now }, q, &s.p.holding)
}

// Equal gives the documents that {path: {$in: values}} selects, by an index.
func (s server) Equal(_ context.Context, from pipeline.Namespace, path string, values []doc.Value) (pipeline.Rows, bool) {
	c, ns, err := s.container(from)
	if err != nil {
		return failed(err), true
	}
	if c == nil {
		return none, true
	}
	r := s.p.now
	if viewOf(c) != nil || c.State().Dialect != catalog.Mongo || !s.indexed(c, path) {
		return nil, false
	}
	f, err := filter.Compile(inQuery(path, values), filter.Options{Meter: r.work()})
	if err != nil {
		return failed(err), true
	}
	return r.rows(&selection{container: c, ns: ns, filter: f, query: doc.Empty, memory: &s.p.holding}), true
}

// indexed reports whether an index begins with a path.
func (s server) indexed(c *catalog.Container, path string) bool {
	if path == "_id" {
		return true
	}
	for _, x := range c.State().Named {
		if !x.Building && !x.Hidden && x.Partial == nil && !x.Sparse && !x.Wildcard && x.Columns[0].Path == path {
			return true
		}
	}
	return false
}

// inQuery is {path: {$in: values}}.
func inQuery(path string, values []doc.Value) doc.Doc {
	a := newAnswer(nil)
	a.object(path)
	a.array("$in")
	for _, v := range values {
		if v.Type == 0 {
			v = doc.Null()
		}
		a.value(a.index(), v)
	}
	a.close()
	a.close()
	return a.end()
}

// Source gives the rows of a stage about the server.
func (s server) Source(_ context.Context, stage string, arg doc.Value) pipeline.Rows {
	give, ok := sources[stage]
	if !ok {
		return failed(code.Unsupported("the stage " + stage))
	}
	return give(s.p.now, arg)
}

// Out replaces a container by rows: they are written to another one, which takes its name in the end.
func (s server) Out(_ context.Context, into pipeline.Namespace, rows pipeline.Rows) error {
	r := s.p.now
	old, ns, err := s.container(into)
	if err != nil {
		return err
	}
	db := into.Database
	if db == "" {
		db = s.db
	}
	if err := checkCollectionName(db, into.Container); err != nil {
		return err
	}
	if old != nil && (viewOf(old) != nil || old.State().Dialect != catalog.Mongo) {
		return code.New(code.CommandNotSupportedOnView, "Namespace %s is a view, not a collection", ns)
	}
	scratch := fmt.Sprintf("tmp.agg_out.%x", r.s.newObjectID(r.at))
	var options doc.Doc
	if old != nil {
		options = old.State().Echo
	}
	c, err := r.create(db, scratch, options)
	if err != nil {
		return err
	}
	if old != nil {
		_, err = r.s.o.Catalog.ReplaceIndexes(r.ctx, r.now, c, func(*catalog.State) ([]catalog.NamedIndex, error) { return fresh(old.State().Named), nil })
		if st := old.State(); err == nil && st.Policy.On() {
			err = r.setLifetime(c, st.TTL, st.TTLIndex)
		}
	}
	if err == nil {
		err = s.insertRows(c, rows)
	}
	if err == nil {
		err = r.s.o.Catalog.RenameContainer(r.ctx, c, into.Container, true)
	}
	if err != nil {
		return cmpOr(err, r.s.o.Catalog.DeleteContainer(context.WithoutCancel(r.ctx), c))
	}
	if old != nil {
		r.s.forget(old)
	}
	return r.renamed(c, scratch, old)
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

func (s server) insertRows(c *catalog.Container, rows pipeline.Rows) error {
	r := s.p.now
	w := writer{r: r, c: c, ordered: true}
	validate, err := r.validator(c)
	if err != nil {
		return err
	}
	i := 0
	for d, err := range rows {
		if err != nil {
			return err
		}
		body, err := r.prepare(d)
		if err == nil && validate != nil {
			err = validate(body)
		}
		if err != nil {
			return err
		}
		if err := r.reserveMore(writeCost * len(body)); err != nil {
			return err
		}
		body = bytes.Clone(body)
		w.ops = append(w.ops, store.Op{Verb: store.Create, Key: store.Identity(doc.Lookup(body, "_id")), Body: body, Lenient: true})
		w.indexes = append(w.indexes, i)
		i++
		if w.bytes += len(body); len(w.ops) >= chunkDocuments || w.bytes >= chunkBytes {
			if !w.flush() {
				return w.first()
			}
			r.unreserve()
		}
	}
	w.flush()
	return w.first()
}

// first is why the writer has stopped.
func (w *writer) first() error {
	if w.failed == nil && len(w.errors) > 0 {
		return w.errors[0].err
	}
	return w.failed
}

// Merge writes one document into a container.
func (s server) Merge(_ context.Context, m *pipeline.Merge, d doc.Doc, change func(old doc.Doc) (doc.Doc, error)) error {
	r := s.p.now
	db := m.Into.Database
	if db == "" {
		db = s.db
	}
	c, err := r.findOrCreate(db, m.Into.Container)
	if err != nil {
		return err
	}
	if !uniqueOn(c, m.On) {
		return code.New(51183, "Cannot find index to verify that join fields will be unique")
	}
	for range maxLooks {
		again, err := s.mergeOne(c, m, d, change)
		if !again || err != nil {
			return err
		}
	}
	return code.New(code.WriteConflict, "other writes came first too often")
}

func (s server) mergeOne(c *catalog.Container, m *pipeline.Merge, d doc.Doc, change func(old doc.Doc) (doc.Doc, error)) (again bool, err error) {
	r := s.p.now
	q := &selection{container: c, ns: c.Database.Name + "." + c.State().Name}
	a := newAnswer(nil)
	for _, path := range m.On {
		p, err := filter.ParsePath(path)
		if err != nil {
			return false, err
		}
		var found doc.Value
		p.Walk(d, filter.Whole, r.work(), func(v doc.Value, _ int) bool {
			found = v
			return true
		})
		a.object(path)
		if found.Type == 0 {
			found = doc.Null()
		}
		a.value("$eq", found)
		a.close()
	}
	q.query = a.end()
	if len(m.On) == 1 && m.On[0] == "_id" {
		id := newAnswer(nil)
		id.value("_id", doc.Lookup(d, "_id"))
		q.query = id.end()
	}
	if q.filter, err = filter.Compile(q.query, filter.Options{Meter: r.work()}); err != nil {
		return false, err
	}
	var id doc.Value
	var found bool
	if m.WhenMatched != "fail" {
		if id, found, err = r.first(q); err != nil {
			return false, err
		}
	}
	validate, err := r.validator(c)
	if err != nil {
		return false, err
	}
	if found {
		op := store.Op{Verb: store.Patch, Key: store.Identity(id), Lenient: true, Edit: func(old access.Document) (doc.Doc, error) {
			if err := r.editing(len(old.Body) + len(d)); err != nil {
				return nil, err
			}
			body, err := change(old.Body)
			if err != nil {
				return nil, err
			}
			body, changed, err := update.Transform(old.Body, body, update.Input{})
			if err != nil || !changed && !c.State().Policy.On() {
				return nil, err
			}
			if validate != nil {
				if err := validate(body); err != nil && !r.mayStayInvalid(c, old.Body) {
					return nil, err
				}
			}
			return bytes.Clone(body), nil
		}}
		_, err = r.write(c, []store.Op{op})
		if !isGone(err) {
			return false, m.Failed(statementErr(c, d, err))
		}
		if onlyID(q.query).Type == 0 {
			return true, nil
		}
	}
	switch m.WhenNotMatched {
	case "discard":
		return false, nil
	case "fail":
		return false, m.NotMatched()
	}
	body, err := r.prepare(d)
	if err == nil && validate != nil {
		err = validate(body)
	}
	if err != nil {
		return false, err
	}
	_, err = r.write(c, []store.Op{{Verb: store.Create, Key: store.Identity(doc.Lookup(body, "_id")), Body: bytes.Clone(body), Lenient: true}})
	if isExists(err) && m.WhenMatched != "fail" && r.selected(q) {
		return true, nil
	}
	return false, m.Failed(statementErr(c, body, err))
}

// uniqueOn reports whether a unique index is on exactly these paths.
func uniqueOn(c *catalog.Container, paths []string) bool {
	if len(paths) == 1 && paths[0] == "_id" {
		return true
	}
	for _, x := range c.State().Named {
		if !x.Unique || x.Building || x.Partial != nil || x.Sparse || len(x.Columns) != len(paths) {
			continue
		}
		all := true
		for _, column := range x.Columns {
			found := false
			for _, path := range paths {
				found = found || path == column.Path
			}
			all = all && found
		}
		if all {
			return true
		}
	}
	return false
}

var _ pipeline.Server = server{}
