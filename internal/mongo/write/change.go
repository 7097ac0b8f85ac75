package write

import (
	"bytes"
	"context"
	"slices"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/expression"
	"github.com/mayflydb/mayfly/internal/mongo/filter"
	"github.com/mayflydb/mayfly/internal/mongo/pipeline"
	"github.com/mayflydb/mayfly/internal/mongo/query"
	"github.com/mayflydb/mayfly/internal/mongo/session"
	"github.com/mayflydb/mayfly/internal/mongo/update"
	"github.com/mayflydb/mayfly/internal/store"
)

// A Change is what an update does to a document: operators, a replacement or a pipeline.
type Change struct {
	Replaces    bool
	replacement doc.Doc
	update      *update.Update
	pipeline    *pipeline.Pipeline
	vars        []doc.Value
}

// CompileChange compiles the `u` of an update, or the `update` of a findAndModify.
func CompileChange(o *session.Operation, q *query.Selection, spec, filters, constants doc.Value) (*Change, error) {
	x := &Change{vars: q.Vars}
	if spec.Type == bsoncore.TypeArray {
		return x, x.readPipeline(o, q, spec, filters, constants)
	}
	d, ok := doc.AsDoc(spec)
	if !ok {
		return nil, code.New(code.FailedToParse, "Update argument must be either an object or an array")
	}
	if constants.Type != 0 {
		return nil, code.New(51198, "Constant values may only be specified for pipeline updates")
	}
	// The statement outlives the command's buffer: a write may run it again after other requests have reused that.
	d = bytes.Clone(d)
	if x.Replaces = update.IsReplacement(d); x.Replaces {
		if filters.Type != 0 {
			return nil, code.New(code.FailedToParse, "arrayFilters may not be specified for replacement-style updates")
		}
		x.replacement = d
		return x, update.Check(d)
	}
	options := update.Options{Names: q.Names}
	if options.Names == nil {
		options.Names = o.NewNames()
	}
	for v := range doc.Elements(filters) {
		f, ok := doc.AsDoc(v)
		if !ok {
			return nil, code.WrongType(o.Name+".updates.arrayFilters", v, "object")
		}
		options.ArrayFilters = append(options.ArrayFilters, bytes.Clone(f))
	}
	var err error
	x.update, err = update.Compile(d, options)
	return x, err
}

func (x *Change) readPipeline(
	o *session.Operation, q *query.Selection, spec, filters, constants doc.Value,
) (err error) {
	if filters.Type != 0 {
		return code.New(code.FailedToParse, "arrayFilters may not be specified for pipeline-style updates")
	}
	names := q.Names
	if c, ok := doc.AsDoc(constants); ok {
		x.vars = slices.Clone(x.vars)
		for name, v := range doc.Members(c) {
			// Each variable takes a slot in every document's scope, so their number has a limit.
			if err := names.Full(); err != nil {
				return err
			}
			var slot int
			names, slot = names.With(name)
			for len(x.vars) <= slot {
				x.vars = append(x.vars, doc.Value{})
			}
			// Constants get their slots after the variables of the command's let.
			x.vars[slot] = doc.Clone(v)
		}
	}
	x.pipeline, err = pipeline.Compile(slices.Collect(doc.Elements(spec)),
		pipeline.Options{Names: names, UpdateOnly: true})
	return err
}

// Apply gives what the change makes of a document, and whether that is another one.
func (x *Change) Apply(
	o *session.Operation, d doc.Doc, where filter.Where, inserting bool,
) (out doc.Doc, changed bool, err error) {
	in := update.Input{Now: o.At, ClusterTime: o.ClusterTime(), Inserting: inserting, Meter: o.Work()}
	switch {
	case x.Replaces:
		return update.Replace(d, x.replacement, in)
	case x.pipeline != nil:
		return x.pipe(o, d, in)
	}
	return x.update.Apply(nil, d, where, in)
}

// pipe runs the pipeline of an update over one document.
func (x *Change) pipe(o *session.Operation, d doc.Doc, in update.Input) (out doc.Doc, changed bool, err error) {
	ctx, m := o.Context, o.Work()
	if ctx == nil {
		ctx = context.Background()
	}
	// What the pipeline makes on the way is garbage once its result is copied.
	defer m.Release(m.Mark())
	each, err := x.pipeline.Each(ctx,
		&pipeline.Env{Now: o.At, ClusterTime: o.ClusterTime(), Random: session.Random, Vars: x.vars, Meter: m})
	if err != nil {
		return nil, false, err
	}
	if out, _, err = each(d); err != nil {
		return nil, false, err
	}
	// Transform checks what a pipeline may not do, such as changing _id, since stages know nothing of updates.
	return update.Transform(d, bytes.Clone(out), in)
}

// An edit is a change of one document on its way through the store, which may run it more than once.
type edit struct {
	o        *session.Operation
	x        *Change
	q        *query.Selection
	scope    *expression.Scope
	validate func(doc.Doc) error
	holds    int  // bytes, of the last run
	touches  bool // the stamp moves even if nothing changes

	container *catalog.Container

	matched bool
	changed bool
	made    doc.Doc // the last result
	before  doc.Doc // the last document it was applied to, when kept is set
	kept    bool
	image   func(before, after doc.Doc) doc.Doc // see Update.image
}

// tell says what has become of the statement, for a retry; nil if nobody wants to know.
func (e *edit) tell() func() []session.Done {
	if e.o.Retry == nil {
		return nil
	}
	return func() []session.Done {
		x := session.Done{Matched: 1}
		if e.changed {
			x.Modified = 1
		}
		if e.image != nil {
			x.Image = e.image(e.before, e.made)
		}
		return e.o.Retry.One(x)
	}
}

func (x *Change) edit(
	o *session.Operation, q *query.Selection, validate func(doc.Doc) error, c *catalog.Container,
) *edit {
	return &edit{o: o, x: x, q: q, scope: q.Scope(o), validate: validate, touches: c.State().Policy.On(), container: c}
}

func (e *edit) op(id doc.Value) store.Op {
	return store.Op{Verb: store.Patch, Key: store.Identity(id), Edit: e.run, Lenient: true, Note: e.note()}
}

// note tells change streams what an update with operators has changed.
func (e *edit) note() func(before, after doc.Doc) doc.Doc {
	if e.x.Replaces {
		return func(doc.Doc, doc.Doc) doc.Doc { return nil }
	}
	return update.Describe
}

// run makes the new document, nil when the document is not selected any more or nothing
// changes. A write that changes nothing still counts for the lifetime.
func (e *edit) run(d access.Document) (doc.Doc, error) {
	// The store runs an edit again if another write came first. What the earlier run found does not count.
	e.matched, e.changed, e.made = false, false, nil
	releaseEdit(e.o, e.holds)
	e.holds = 0
	if err := holdEdit(e.o, len(d.Body)); err != nil {
		return nil, err
	}
	// Only the size before the edit is known yet. What the document grows by is taken below.
	e.holds = writeCost * len(d.Body)
	if e.kept {
		e.before = bytes.Clone(d.Body)
	}
	var where filter.Where
	if e.q.Filter != nil {
		if e.scope != nil {
			e.scope.Reset(doc.Object(d.Body))
		}
		// The filter is evaluated again on the version that is written: the one that was found may have changed since.
		// It also says which array element a positional operator means.
		ok, w, err := e.q.Filter.Locate(d.Body, e.scope)
		if err != nil || !ok {
			return nil, err
		}
		where = w
	}
	e.matched = true
	out, changed, err := e.x.Apply(e.o, d.Body, where, false)
	if err != nil {
		return nil, err
	}
	if grown := len(out) - len(d.Body); grown > 0 {
		if err := holdEdit(e.o, grown); err != nil {
			return nil, err
		}
		e.holds += writeCost * grown
	}
	e.changed = changed
	if !changed {
		if e.touches {
			return bytes.Clone(d.Body), nil
		}
		return nil, nil
	}
	if e.validate != nil {
		// With validationLevel moderate, a document that was invalid before may stay so.
		if err := e.validate(out); err != nil && !sparesInvalid(e.o, e.container, d.Body) {
			return nil, err
		}
	}
	e.made = out
	return out, nil
}

// insertion makes the document of an upsert.
func (x *Change) insertion(o *session.Operation, q *query.Selection) (doc.Doc, error) {
	begin := doc.Empty
	if q.Filter != nil {
		upserted := update.Upserted
		if x.Replaces {
			upserted = update.UpsertedID
		}
		var err error
		// An upsert starts from the equalities of the query; of a replacement only the _id counts.
		if begin, err = upserted(q.Filter); err != nil {
			return nil, err
		}
	}
	out, _, err := x.Apply(o, begin, filter.Where{}, true)
	if err != nil {
		return nil, err
	}
	return prepareDocument(o, out)
}
