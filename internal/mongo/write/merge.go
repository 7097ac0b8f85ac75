package write

import (
	"bytes"
	"context"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/filter"
	"github.com/mayflydb/mayfly/internal/mongo/pipeline"
	"github.com/mayflydb/mayfly/internal/mongo/query"
	"github.com/mayflydb/mayfly/internal/mongo/update"
	"github.com/mayflydb/mayfly/internal/store"
)

// Merge writes one document into a container.
func (s Sink) Merge(_ context.Context, m *pipeline.Merge, d doc.Doc, change func(old doc.Doc) (doc.Doc, error)) error {
	o := s.Cursor.Operation()
	o.DeferSyncs() // a stage writes many
	db := m.Into.Database
	if db == "" {
		db = s.Database
	}
	c, err := FindOrCreate(o, db, m.Into.Container)
	if err != nil {
		return err
	}
	// Without a unique index two writers could each insert a document for one value of the join fields.
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

func (s Sink) mergeOne(
	c *catalog.Container, m *pipeline.Merge, d doc.Doc, change func(old doc.Doc) (doc.Doc, error),
) (again bool, err error) {
	o := s.Cursor.Operation()
	// The join fields become a query of equalities, which the planner answers from the unique index.
	q := &query.Selection{Container: c, Namespace: c.Database.Name + "." + c.State().Name}
	a := doc.NewWriter(nil)
	for _, path := range m.On {
		p, err := filter.ParsePath(path)
		if err != nil {
			return false, err
		}
		var found doc.Value
		p.Walk(d, filter.Whole, o.Work(), func(v doc.Value, _ int) bool {
			found = v
			return true
		})
		a.Object(path)
		if found.Type == 0 {
			found = doc.Null()
		}
		a.Value("$eq", found)
		a.Close()
	}
	q.Query = a.End()
	// In this form the planner sees a query for one _id, which is a point read.
	if len(m.On) == 1 && m.On[0] == "_id" {
		id := doc.NewWriter(nil)
		id.Value("_id", doc.Lookup(d, "_id"))
		q.Query = id.End()
	}
	if q.Filter, err = filter.Compile(q.Query, filter.Options{Meter: o.Work()}); err != nil {
		return false, err
	}
	var id doc.Value
	var found bool
	// For whenMatched: fail no lookup is needed: the insert below fails on the unique index.
	if m.WhenMatched != "fail" {
		if id, found, err = firstID(o, q); err != nil {
			return false, err
		}
	}
	validate, err := ValidatorOf(o, c)
	if err != nil {
		return false, err
	}
	if found {
		op := store.Op{Verb: store.Patch, Key: store.Identity(id), Lenient: true,
			Edit: func(old access.Document) (doc.Doc, error) {
				if err := holdEdit(o, len(old.Body)+len(d)); err != nil {
					return nil, err
				}
				body, err := change(old.Body)
				if err != nil {
					return nil, err
				}
				body, changed, err := update.Transform(old.Body, body, update.Input{})
				// An unchanged document is written where documents expire, because the write renews its lifetime
				//
				if err != nil || !changed && !c.State().Policy.On() {
					return nil, err
				}
				if validate != nil {
					if err := validate(body); err != nil && !sparesInvalid(o, c, old.Body) {
						return nil, err
					}
				}
				return bytes.Clone(body), nil
			}}
		_, err = Apply(o, c, []store.Op{op})
		// If the document has gone since it was found, it does not match any more: look again, or insert.
		if !isGone(err) {
			return false, m.Failed(statementErr(c, d, err))
		}
		if query.OnlyID(q.Query).Type == 0 {
			return true, nil
		}
	}
	switch m.WhenNotMatched {
	case "discard":
		return false, nil
	case "fail":
		return false, m.NotMatched()
	}
	body, err := prepareDocument(o, d)
	if err == nil && validate != nil {
		err = validate(body)
	}
	if err != nil {
		return false, err
	}
	create := store.Op{
		Verb: store.Create, Key: store.Identity(doc.Lookup(body, "_id")), Body: bytes.Clone(body), Lenient: true,
	}
	_, err = Apply(o, c, []store.Op{create})
	// Another request inserted the match meanwhile: start again, and merge into it.
	if fault.KindOf(err) == fault.Exists && m.WhenMatched != "fail" && isSelected(o, q) {
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
