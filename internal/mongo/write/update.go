package write

import (
	"errors"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/plan"
	"github.com/mayflydb/mayfly/internal/mongo/query"
	"github.com/mayflydb/mayfly/internal/mongo/session"
	"github.com/mayflydb/mayfly/internal/store"
)

// An Update is one statement of an update: which documents it selects and what becomes of them.
type Update struct {
	query.Selection
	Database string
	Name     string
	Change   *Change
	Multi    bool
	Upsert   bool

	Matched, Modified int64
	Upserted          doc.Value // the _id of inserted
	inserted          doc.Doc

	image func(before, after doc.Doc) doc.Doc // the document that a findAndModify answers with; nil for an update
}

// maxLooks bounds how often a write looks again for a document because others have changed what it
// has found.
const maxLooks = 1_000

// Run carries the statement out.
func (u *Update) Run(o *session.Operation) error {
	for range maxLooks {
		if x, ok := o.Retry.Found(); ok {
			u.take(x)
			return nil
		}
		again, err := u.try(o)
		if err == session.ErrDone {
			continue
		}
		if err == nil && !again && u.Matched == 0 && u.Upserted.Type == 0 {
			var x session.Done
			var ok bool
			if x, ok, err = o.Retry.FoundAfterAll(); ok {
				u.take(x)
			}
		}
		if !again || err != nil {
			return err
		}
	}
	return code.New(code.WriteConflict, "other writes came first too often")
}

// take takes over what an earlier attempt of the command has done.
func (u *Update) take(x session.Done) {
	u.Matched, u.Modified, u.Upserted = x.Matched, x.Modified, x.Upserted
}

// try looks for the documents and changes them, or makes one; again when another write has come
// between.
func (u *Update) try(o *session.Operation) (again bool, err error) {
	// The container is looked up again in each round, since another one may have the name by now.
	if u.Container, err = o.Find(u.Database, u.Name); err != nil {
		return false, err
	}
	if u.Container != nil {
		if u.Multi {
			err = u.changeAll(o)
		} else {
			again, err = u.changeOne(o)
		}
		if fault.KindOf(err) == fault.NotFound && o.Transaction == nil {
			return true, nil // the container was dropped during the write
		}
		// Only an update that matched nothing may insert.
		if again || err != nil || u.Matched > 0 {
			return again, err
		}
	}
	if !u.Upsert {
		return false, nil
	}
	return u.insert(o)
}

// changeOne changes the first document that is selected.
func (u *Update) changeOne(o *session.Operation) (again bool, err error) {
	id, found, err := firstID(o, &u.Selection)
	if err != nil || !found {
		return false, err
	}
	validate, err := ValidatorOf(o, u.Container)
	if err != nil {
		return false, err
	}
	e := u.Change.edit(o, &u.Selection, validate, u.Container)
	results, err := applyOnce(o, u.Container, []store.Op{e.op(id)}, e.tell())
	if err != nil {
		if isGone(err) {
			return query.OnlyID(u.Query).Type == 0, nil
		}
		return false, statementErr(u.Container, e.made, err)
	}
	if !e.matched {
		return query.OnlyID(u.Query).Type == 0, nil // it is another document by now
	}
	u.Matched++
	if !results[0].Skipped && e.changed {
		u.Modified++
	}
	return false, nil
}

// firstID finds the _id of the first document that is selected.
func firstID(o *session.Operation, q *query.Selection) (id doc.Value, found bool, err error) {
	o.Settled = false // unless a write follows
	if q.Container.State().Dialect != catalog.Mongo {
		return doc.Value{}, false, Writable(q.Container)
	}
	if query.ViewOf(q.Container) != nil {
		return doc.Value{}, false, code.New(code.CommandNotSupportedOnView, "Namespace %s is a view, not a collection",
			q.Namespace)
	}
	if id = query.OnlyID(q.Query); id.Type != 0 && q.Hint.Type == 0 {
		return id, true, nil // the write itself finds out
	}
	one := *q
	// A sort needs all candidates; without one, the first document that the plan meets will do.
	if one.Sort != nil || one.Reverse {
		one.Limit = 1
		for d, err := range query.Rows(o, &one) {
			return doc.Clone(doc.Lookup(d, "_id")), err == nil, err
		}
		return doc.Value{}, false, nil
	}
	one.Limit = 1
	err = query.WithPlan(o, &one, func(v catalog.View, p *plan.Plan) (bool, error) {
		return found, query.Each(o, &one, v, p, nil, func(d access.Document) (bool, error) {
			id, found = doc.Clone(doc.Lookup(d.Body, "_id")), true
			return false, nil
		})
	})
	return id, found, err
}

// isGone reports whether the document that a write was for is not there any more.
func isGone(err error) bool {
	var e *store.BatchError
	return errors.As(err, &e) && fault.KindOf(e.Err) == fault.NotFound
}

// statementErr is what a client is told of a statement that the store has refused.
func statementErr(c *catalog.Container, body doc.Doc, err error) error {
	var e *store.BatchError
	if errors.As(err, &e) {
		err = e.Err
	}
	return Duplicate(c, body, err)
}

// changeAll changes every document that is selected, each for itself, chunk by chunk. A document that a
// change moves to a later place in an index is changed once.
func (u *Update) changeAll(o *session.Operation) error {
	nothing := query.Selection{Container: u.Container, Namespace: u.Namespace, Query: impossible}
	if _, _, err := firstID(o, &nothing); err != nil {
		return err
	}
	validate, err := ValidatorOf(o, u.Container)
	if err != nil {
		return err
	}
	// By number, not by _id: a document that is deleted and created again under its _id is another one.
	seen := map[uint64]struct{}{}
	return inChunks(o, &u.Selection, seen, func(ids []doc.Value) error {
		edits, ops := make([]*edit, len(ids)), make([]store.Op, len(ids))
		for i, id := range ids {
			edits[i] = u.Change.edit(o, &u.Selection, validate, u.Container)
			ops[i] = edits[i].op(id)
		}
		return writeEach(o, u.Container, ops, func(i int, result store.Result, err error) error {
			e := edits[i]
			switch {
			case err != nil && fault.KindOf(err) == fault.NotFound:
				return nil
			case err != nil:
				return statementErr(u.Container, e.made, err)
			case e.matched:
				u.Matched++
				if !result.Skipped && e.changed {
					u.Modified++
				}
			}
			return nil
		})
	})
}

// impossible selects nothing and costs nothing: a query of one _id that nobody has looked for.
var impossible = bsoncore.NewDocumentBuilder().AppendMinKey("_id").Build()

const idCost = 128 // of an _id that is kept, in addition to its value

// inChunks calls use with the _ids of the documents that are selected, some at a time. seen has the
// numbers of those that were given out.
func inChunks(
	o *session.Operation, q *query.Selection, seen map[uint64]struct{}, use func(ids []doc.Value) error,
) error {
	var after access.Position
	for {
		o.Settled = false // unless a write follows
		var ids []doc.Value
		size, more := 0, false
		err := query.WithPlan(o, q, func(v catalog.View, p *plan.Plan) (bool, error) {
			ids, size, more = ids[:0], 0, false
			return after != nil, query.Each(o, q, v, p, after, func(d access.Document) (bool, error) {
				if _, again := seen[d.Number]; again {
					return true, nil
				}
				id := doc.Lookup(d.Body, "_id")
				if err := o.Take(len(id.Data) + idCost); err != nil {
					return false, err
				}
				ids = append(ids, doc.Clone(id))
				seen[d.Number] = struct{}{}
				// Between chunks no snapshot is open while others write. A transaction has its own snapshot, so it
				// takes all at once.
				if size += len(d.Body); o.Transaction == nil && (size >= chunkBytes || len(ids) >= chunkDocuments) {
					after, more = append(after[:0], d.Position...), true
					return false, nil
				}
				return true, nil
			})
		})
		if err != nil {
			return err
		}
		if len(ids) > 0 {
			if err := use(ids); err != nil {
				return err
			}
		}
		if !more {
			return nil
		}
	}
}

// writeEach does operations that have nothing to do with each other: together if that
// succeeds, else one by one. took is told what became of each; its error ends it.
func writeEach(
	o *session.Operation, c *catalog.Container, ops []store.Op, took func(i int, result store.Result, err error) error,
) error {
	// One batch for all costs one commit. A transaction commits later anyway, and stops at its first error.
	if o.Transaction == nil && len(ops) > 1 {
		results, err := Apply(o, c, ops)
		if err == nil {
			for i, result := range results {
				if err := took(i, result, nil); err != nil {
					return err
				}
			}
			return nil
		}
		var e *store.BatchError
		// The batch wrote nothing. If one of its operations is to blame, each is tried alone, so that the others
		// succeed.
		if !errors.As(err, &e) {
			return err
		}
	}
	for i := range ops {
		results, err := Apply(o, c, ops[i:i+1])
		var e *store.BatchError
		switch {
		case errors.As(err, &e):
			err = took(i, store.Result{}, e.Err)
		case err == nil:
			err = took(i, results[0], nil)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// insert makes the document of an upsert; again when another one has come first.
func (u *Update) insert(o *session.Operation) (again bool, err error) {
	body, err := u.Change.insertion(o, &u.Selection)
	if err != nil {
		return false, err
	}
	if u.Container, err = FindOrCreate(o, u.Database, u.Name); err != nil {
		return false, err
	}
	validate, err := ValidatorOf(o, u.Container)
	if err == nil && validate != nil {
		err = validate(body)
	}
	if err != nil {
		return false, err
	}
	id := doc.Lookup(body, "_id")
	var tell func() []session.Done
	if o.Retry != nil {
		tell = func() []session.Done {
			done := session.Done{Upserted: id}
			if u.image != nil {
				done.Image = u.image(nil, body)
			}
			return o.Retry.One(done)
		}
	}
	create := store.Op{Verb: store.Create, Key: store.Identity(id), Body: body, Lenient: true}
	_, err = applyOnce(o, u.Container, []store.Op{create}, tell)
	// Another request inserted a document that the query selects: update that one. If the query does not select it, the
	// duplicate key is an error of the statement.
	if fault.KindOf(err) == fault.Exists && o.Transaction == nil && isSelected(o, &u.Selection) {
		return true, nil
	}
	if err != nil {
		return false, statementErr(u.Container, body, err)
	}
	u.Upserted, u.inserted = id, body
	return false, nil
}

// isSelected reports whether a document is selected by now, so that what was to insert one has to change it.
func isSelected(o *session.Operation, q *query.Selection) bool {
	if id := query.OnlyID(q.Query); id.Type != 0 {
		v, err := o.Enter(q.Container)
		if err != nil {
			return false
		}
		there, err := o.Read(v, id, func(access.Document) error { return nil })
		return there && err == nil
	}
	_, there, err := firstID(o, q)
	return there && err == nil
}
