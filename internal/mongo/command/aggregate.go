package command

import (
	"context"
	"iter"
	"time"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/pipeline"
)

func aggregate(r *request, a *answer) error {
	x, err := r.aggregation()
	if err != nil {
		return err
	}
	if r.bool("explain", false) {
		return r.explainAggregate(x, a)
	}
	size := int64(firstBatch)
	cursor := r.get("cursor")
	options, ok := doc.AsDoc(cursor)
	switch {
	case cursor.Type == 0:
		return code.New(code.FailedToParse, "The 'cursor' option is required, except for aggregate with the explain argument")
	case !ok:
		return code.New(code.TypeMismatch, "cursor field must be missing or an object")
	}
	size = r.batchSize("cursor", doc.Lookup(options, "batchSize"), firstBatch)
	if r.err != nil {
		return r.err
	}
	switch stage, arg := x.pipeline.Source(); stage {
	case "$changeStream":
		return r.openStream(a, x, arg, size)
	case "$collStats":
		if err := r.checkCollStats(arg); err != nil {
			return err
		}
	}
	if _, writes := x.pipeline.Containers(); writes != nil {
		return x.write(r, a)
	}
	p, err := x.start(r)
	if err != nil {
		return err
	}
	return within(duringAggregation, r.reply(a, x.ns, p, size, nil))
}

const duringAggregation = "PlanExecutor error during aggregation"

// An aggregation is a pipeline over a container, or over nothing.
type aggregation struct {
	selection
	pipeline *pipeline.Pipeline
}

// aggregation reads the arguments.
func (r *request) aggregation() (*aggregation, error) {
	x := &aggregation{}
	name := "$cmd.aggregate" // of a pipeline over the whole database
	if n, ok := doc.AsInt64Exact(r.arg); !ok || n != 1 {
		name = r.collection()
	}
	x.ns = r.db + "." + name
	stages := r.list("pipeline")
	if r.err == nil && doc.Lookup(r.body, "pipeline").Type == 0 {
		r.fault(code.New(code.MissingFieldOfCommand, "BSON field 'aggregate.pipeline' is missing but a required field"))
	}
	if r.err != nil {
		return nil, r.err
	}
	if err := r.checkCollation("collation"); err != nil {
		return nil, err
	}
	var err error
	if x.names, x.vars, err = r.variables(); err != nil {
		return nil, err
	}
	if x.container, err = r.find(r.db, name); err != nil {
		return nil, err
	}
	if x.container != nil && stageName(stages) != "$changeStream" {
		if x.container, stages, err = r.unfold(x.container, stages); err != nil {
			return nil, err
		}
	}
	if err := x.hinted(r.get("hint")); err != nil {
		return nil, err
	}
	x.pipeline, err = pipeline.Compile(stages, pipeline.Options{Names: x.names})
	if err == nil {
		err = r.mayRun(x.pipeline)
	}
	if err != nil {
		return nil, err
	}
	if source, _ := x.pipeline.Source(); source == "" && name == "$cmd.aggregate" {
		return nil, code.New(code.InvalidNamespace, "{aggregate: 1} is not valid for '%s'; a collection is required.", stageName(stages))
	}
	return x, nil
}

func stageName(stages []doc.Value) string {
	if len(stages) > 0 {
		if d, ok := doc.AsDoc(stages[0]); ok {
			for name := range doc.Members(d) {
				return name
			}
		}
	}
	return "an empty pipeline"
}

// maxViews bounds how many views lie on one another.
const maxViews = 20

// unfold follows views to the container below, and puts their stages first.
func (r *request) unfold(c *catalog.Container, stages []doc.Value) (*catalog.Container, []doc.Value, error) {
	for range maxViews {
		v := viewOf(c)
		if v == nil {
			return c, stages, nil
		}
		stages = append(append([]doc.Value{}, v.stages...), stages...)
		var err error
		if c, err = r.find(c.Database.Name, v.on); c == nil || err != nil {
			return nil, stages, err
		}
	}
	return nil, nil, code.New(code.GraphContainsCycle, "View depth too deep or view cycle detected. Maximum depth: %d", maxViews)
}

// viewRows gives the rows of a view that match a query.
func (r *request) viewRows(c *catalog.Container, query doc.Doc) (pipeline.Rows, error) {
	p := &piping{now: r}
	p.lend(r)
	return p.viewRows(c, query)
}

// viewRows gives the rows of a view to a stage of p.
func (p *piping) viewRows(c *catalog.Container, query doc.Doc) (pipeline.Rows, error) {
	r := p.now
	match := bsoncore.NewDocumentBuilder().AppendDocument("$match", bsoncore.Document(query)).Build()
	x := &aggregation{}
	x.ns, x.names = c.Database.Name+"."+c.State().Name, r.newNames()
	var stages []doc.Value
	var err error
	if x.container, stages, err = r.unfold(c, []doc.Value{doc.Object(match)}); err != nil {
		return nil, err
	}
	if x.pipeline, err = pipeline.Compile(stages, pipeline.Options{Names: x.names}); err != nil {
		return nil, err
	}
	if err := r.mayRun(x.pipeline); err != nil {
		return nil, err
	}
	return x.rowsOf(p, false), nil
}

// A piping is the producer of an aggregation: rows that are pulled. It belongs to one request at a time.
type piping struct {
	holding
	now  *request
	next func() (doc.Doc, error, bool)
	quit func()
	held doc.Doc

	source *selection // of the documents that the rows are made of, nil for none
	last   doc.Doc    // {_id} of the one that was read last, nil when none is being worked on
	turn   uint64     // how many were read
	ended  uint64     // the turn of one that has ended between two requests
	rows   pipeline.Rows
}

// start makes ready to run a pipeline.
func (x *aggregation) start(r *request) (*piping, error) {
	p := &piping{now: r}
	p.lend(r)
	p.rows = x.rowsOf(p, true)
	return p, nil
}

// rowsOf gives the rows of a pipeline that runs for p, or inside of one that does.
func (x *aggregation) rowsOf(p *piping, outermost bool) pipeline.Rows {
	r := p.now
	env := &pipeline.Env{Now: r.at, ClusterTime: r.clusterTime(), Random: random, Vars: x.vars, Memory: &p.holding, Meter: p.meter(), Server: server{p, r.db}}
	rest := x.pipeline
	var rows pipeline.Rows
	if source, _ := x.pipeline.Source(); source == "" {
		prefix := x.pipeline.Prefix()
		rest = prefix.Rest
		q := x.selection
		q.filter, q.query, q.sort, q.skip = prefix.Match, prefix.Query, prefix.Sort, prefix.Skip
		q.limit, q.memory = max(0, prefix.Limit), &p.holding
		if prefix.Limit != 0 {
			rows = q.documents(p, blocking(rest))
			if outermost {
				rows = p.following(&q, rows)
			}
		}
	}
	return rest.Run(follower{p}, rows, env)
}

// documents gives what is selected, in one go when all of it is wanted before the first answer.
func (q *selection) documents(p *piping, atOnce bool) pipeline.Rows {
	if atOnce {
		return lasting(func() *request { return p.now }, q, func(yield func(doc.Doc, error) bool) { p.now.rows(q)(yield) })
	}
	return pausable(func() *request { return p.now }, q, &p.holding)
}

// blocking reports whether a pipeline reads all its documents before it gives the first.
func blocking(p *pipeline.Pipeline) bool {
	for _, stage := range p.Stages() {
		for name := range doc.Members(stage) {
			switch name {
			case "$group", "$sort", "$sortByCount", "$bucket", "$bucketAuto", "$count", "$facet", "$setWindowFields", "$out", "$merge", "$fill", "$densify":
				return true
			}
		}
	}
	return false
}

// following notes which document the rows come from that are made at the moment: a stage such as $unwind makes
// several of one, and a row may wait for the next request.
func (p *piping) following(q *selection, rows pipeline.Rows) pipeline.Rows {
	if q.container == nil {
		return rows
	}
	p.source = q
	return func(yield func(doc.Doc, error) bool) {
		defer func() { p.last = nil }() // what comes now is of other documents, or of all
		for d, err := range rows {
			if p.turn++; err == nil && q.mortal() {
				id := doc.Lookup(d, "_id")
				p.last = doc.AppendElement(append(p.last[:0], 0, 0, 0, 0), "_id", id)
				p.last = append(p.last, 0)
				setLength(p.last, 0)
			}
			if !yield(d, err) {
				return
			}
		}
	}
}

// look leaves out the rows of a document that has ended since the last request.
func (p *piping) look(r *request) error {
	if p.last == nil {
		return nil
	}
	there, err := r.lasts(p.source, p.last)
	if err == nil && !there {
		p.held, p.ended = nil, p.turn
	}
	return err
}

func (p *piping) fill(r *request, b *batch) (done bool, err error) {
	p.now = r
	if b.full() {
		return false, nil // nothing was asked for
	}
	if p.next == nil {
		p.next, p.quit = iter.Pull2(p.rows)
	} else if err := p.look(r); err != nil {
		return false, err
	}
	for {
		if p.held != nil {
			if !b.add(p.held) {
				return false, nil
			}
			p.held = nil
		}
		if b.full() {
			return false, nil
		}
		d, err, ok := p.next()
		if !ok {
			return true, nil
		}
		if err != nil {
			return false, err
		}
		if p.ended != 0 && p.ended == p.turn {
			continue // another row of the document that has ended
		}
		p.held = d
	}
}

func (p *piping) stop() {
	if p.quit != nil {
		p.quit()
	}
	p.close()
}

// A follower is the context of whichever request reads the cursor at the moment.
type follower struct{ p *piping }

func (f follower) Deadline() (time.Time, bool) { return f.p.now.ctx.Deadline() }
func (f follower) Done() <-chan struct{}       { return f.p.now.ctx.Done() }
func (f follower) Err() error                  { return f.p.now.ctx.Err() }
func (f follower) Value(key any) any           { return f.p.now.ctx.Value(key) }

var _ context.Context = follower{}

// write runs a pipeline that ends in $out or $merge.
func (x *aggregation) write(r *request, a *answer) error {
	if r.tx != nil {
		return code.New(code.OperationNotSupportedInTransaction, "$out and $merge cannot be used in a transaction")
	}
	p, err := x.start(r)
	if err != nil {
		return err
	}
	for _, err := range p.rows {
		if err != nil {
			return within(duringAggregation, err)
		}
	}
	a.object("cursor")
	a.int64("id", 0)
	a.string("ns", x.ns)
	a.array("firstBatch")
	a.close()
	a.close()
	return nil
}
