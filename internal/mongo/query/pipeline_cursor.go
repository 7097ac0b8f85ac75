package query

import (
	"iter"
	"time"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/pipeline"
	"github.com/mayflydb/mayfly/internal/mongo/session"
	"github.com/mayflydb/mayfly/internal/mongo/work"
)

// An Aggregation is a pipeline over a container, or over nothing.
type Aggregation struct {
	Selection
	Pipeline *pipeline.Pipeline
}

// MaxViews bounds how many views lie on one another.
const MaxViews = 20

// UnfoldView follows views to the container below, and puts their stages first.
func UnfoldView(
	o *session.Operation, c *catalog.Container, stages []doc.Value,
) (*catalog.Container, []doc.Value, error) {
	for range MaxViews {
		v := ViewOf(c)
		if v == nil {
			return c, stages, nil
		}
		// A new slice, since the stages of the command belong to the caller.
		stages = append(append([]doc.Value{}, v.Stages...), stages...)
		var err error
		if c, err = o.Find(c.Database.Name, v.On); c == nil || err != nil {
			return nil, stages, err
		}
	}
	return nil, nil, code.New(code.GraphContainsCycle, "View depth too deep or view cycle detected. Maximum depth: %d",
		MaxViews)
}

// ViewRows gives the rows of a view to a stage of p.
func (p *PipelineCursor) ViewRows(c *catalog.Container, query doc.Doc) (pipeline.Rows, error) {
	o := p.current
	match := bsoncore.NewDocumentBuilder().AppendDocument("$match", bsoncore.Document(query)).Build()
	x := &Aggregation{}
	x.Namespace, x.Names = c.Database.Name+"."+c.State().Name, o.NewNames()
	var stages []doc.Value
	var err error
	if x.Container, stages, err = UnfoldView(o, c, []doc.Value{doc.Object(match)}); err != nil {
		return nil, err
	}
	if x.Pipeline, err = pipeline.Compile(stages, pipeline.Options{Names: x.Names}); err != nil {
		return nil, err
	}
	// The stages of a view may read other containers, which the client needs rights for.
	if err := p.mayRun(o, x.Pipeline); err != nil {
		return nil, err
	}
	return x.rowsOf(p, false), nil
}

// A PipelineCursor is the producer of an aggregation: rows that are pulled. It belongs to one operation at a time.
type PipelineCursor struct {
	session.Holding
	current *session.Operation
	mayRun  MayRun
	server  pipeline.Server // what stages ask for
	next    func() (doc.Doc, error, bool)
	quit    func()
	held    doc.Doc

	source  *Selection // of the documents that the rows are made of, nil for none
	last    doc.Doc    // {_id} of the one that was read last, nil when none is being worked on
	read    uint64     // how many were read
	expired uint64     // the turn of one that has ended between two operations
	rows    pipeline.Rows
}

// MayRun decides whether the client of an operation may run the pipeline of a view. A later operation than the one that
// opened a cursor may come over another connection, so rights are those of the operation that reads the cursor.
type MayRun func(*session.Operation, *pipeline.Pipeline) error

// NewPipelineCursor makes ready to run pipelines for an operation.
func NewPipelineCursor(o *session.Operation, may MayRun) *PipelineCursor {
	p := &PipelineCursor{current: o, mayRun: may}
	p.Lend(o)
	return p
}

// Serve lets stages ask a server for what they need.
func (p *PipelineCursor) Serve(s pipeline.Server) { p.server = s }

// Run makes ready to give the rows of a pipeline.
func (p *PipelineCursor) Run(x *Aggregation) { p.rows = x.rowsOf(p, true) }

// All gives the rows of the pipeline in this operation.
func (p *PipelineCursor) All() pipeline.Rows { return p.rows }

// Operation is the one that reads the cursor now.
func (p *PipelineCursor) Operation() *session.Operation { return p.current }

// rowsOf gives the rows of a pipeline that runs for p, or inside of one that does.
func (x *Aggregation) rowsOf(p *PipelineCursor, outermost bool) pipeline.Rows {
	rows, safe := x.rowsIn(p, outermost), x.Pipeline.Safe()
	if safe == nil {
		return rows
	}
	return func(yield func(doc.Doc, error) bool) {
		begun, failed := false, false
		for d, err := range rows {
			if failed = !begun && code.Is(err, code.QueryExceededMemoryLimitNoDiskUseAllowed); failed {
				break // and give its memory back
			}
			if begun = true; !yield(d, err) {
				return
			}
		}
		if failed {
			again := *x
			again.Pipeline = safe
			again.rowsIn(p, outermost)(yield)
		}
	}
}

// rowsIn gives the rows of the pipeline in the order of its stages.
func (x *Aggregation) rowsIn(p *PipelineCursor, outermost bool) pipeline.Rows {
	o := p.current
	env := &pipeline.Env{Now: o.At, ClusterTime: o.ClusterTime(), Random: session.Random, Vars: x.Vars,
		Memory: &p.Holding, Meter: p.meter(), Server: p.server}
	rest := x.Pipeline
	var rows pipeline.Rows
	if source, _ := x.Pipeline.Source(); source == "" {
		// What the planner can do by an index, leading $match, $sort, $skip and $limit, is not left to the pipeline.
		prefix := x.Pipeline.Prefix()
		rest = prefix.Rest
		q := x.Selection
		q.Filter, q.Query, q.Sort, q.Skip = prefix.Match, prefix.Query, prefix.Sort, prefix.Skip
		q.Limit, q.memory = max(0, prefix.Limit), &p.Holding
		if made, after, ok := rest.Counted(); ok && q.Skip == 0 && prefix.Limit < 0 && q.Container != nil {
			rows, rest = countedRows(p, &q, made), after
		} else if prefix.Limit != 0 {
			rows = q.documents(p, blocking(rest))
			if size, sample, after, ok := rest.Sampled(); ok {
				rows, rest = q.sampled(p, size, sample.Run(currentContext{p}, rows, env)), after
			}
			if outermost {
				rows = p.trackSource(&q, rows)
			}
			if g, after, ok := rest.Grouped(); ok && prefix.Limit < 0 {
				rows, rest = q.groupedRows(p, g, g.Stage.Run(currentContext{p}, rows, env)), after
			}
		}
	}
	return rest.Run(currentContext{p}, rows, env)
}

// documents gives what is selected, in one go when all of it is wanted before the first answer.
func (q *Selection) documents(p *PipelineCursor, atOnce bool) pipeline.Rows {
	// One snapshot for all documents. A pipeline that gives rows in between must not hold a snapshot open until the
	// client comes for more.
	if atOnce {
		current := func() *session.Operation { return p.current }
		rows := onlyAlive(current, q, func(yield func(doc.Doc, error) bool) { Rows(p.current, q)(yield) })
		return q.orInOrder(current, rows, rows)
	}
	return resumable(func() *session.Operation { return p.current }, q, &p.Holding)
}

// blocking reports whether a pipeline reads all its documents before it gives the first.
func blocking(p *pipeline.Pipeline) bool {
	for _, stage := range p.Stages() {
		for name := range doc.Members(stage) {
			switch name {
			case "$group", "$sort", "$sortByCount", "$bucket", "$bucketAuto", "$count", "$facet", "$setWindowFields",
				"$out", "$merge", "$fill", "$densify":
				return true
			}
		}
	}
	return false
}

// trackSource notes which document the rows come from that are made at the moment: a stage such as $unwind makes
// several of one, and a row may wait for the next operation.
func (p *PipelineCursor) trackSource(q *Selection, rows pipeline.Rows) pipeline.Rows {
	if q.Container == nil {
		return rows
	}
	p.source = q
	return func(yield func(doc.Doc, error) bool) {
		defer func() { p.last = nil }() // what comes now is of other documents, or of all
		for d, err := range rows {
			// Only where documents can expire does somebody ask for the last one, so others do not pay for the copy of
			// its _id.
			if p.read++; err == nil && q.canExpire() {
				id := doc.Lookup(d, "_id")
				start, last := bsoncore.AppendDocumentStart(p.last[:0])
				p.last, _ = bsoncore.AppendDocumentEnd(doc.AppendElement(last, "_id", id), start)
			}
			if !yield(d, err) {
				return
			}
		}
	}
}

// dropExpired leaves out the rows of a document that has ended since the last operation.
func (p *PipelineCursor) dropExpired(o *session.Operation) error {
	if p.last == nil {
		return nil
	}
	there, err := stillAlive(o, p.source, p.last)
	if err == nil && !there {
		p.held, p.expired = nil, p.read
	}
	return err
}

// Fill gives rows. It goes on with the pipeline in whichever operation reads the cursor.
func (p *PipelineCursor) Fill(o *session.Operation, b *session.Batch) (done bool, err error) {
	p.current = o
	if b.Full() {
		return false, nil // nothing was asked for
	}
	if p.next == nil {
		// A pulled sequence keeps the state of the whole pipeline between two batches.
		p.next, p.quit = iter.Pull2(p.rows)
	} else if err := p.dropExpired(o); err != nil {
		return false, err
	}
	for {
		if p.held != nil {
			// A row that is pulled cannot be put back. One that does not fit waits for the next batch.
			if !b.Add(p.held) {
				return false, nil
			}
			p.held = nil
		}
		if b.Full() {
			return false, nil
		}
		d, err, ok := p.next()
		if !ok {
			return true, nil
		}
		if err != nil {
			return false, err
		}
		if p.expired != 0 && p.expired == p.read {
			continue // another row of the document that has ended
		}
		p.held = d
	}
}

// Stop ends the pipeline, and gives back its memory.
func (p *PipelineCursor) Stop() {
	if p.quit != nil {
		p.quit()
	}
	p.Close()
}

// A currentContext is the context of the operation that reads the cursor now.
type currentContext struct{ p *PipelineCursor }

// Deadline is that of the operation.
func (f currentContext) Deadline() (time.Time, bool) { return f.p.current.Context.Deadline() }

// Done is that of the operation.
func (f currentContext) Done() <-chan struct{} { return f.p.current.Context.Done() }

// Err is that of the operation.
func (f currentContext) Err() error { return f.p.current.Context.Err() }

// Value is that of the operation.
func (f currentContext) Value(key any) any { return f.p.current.Context.Value(key) }

// meter counts the work of a cursor for whichever operation reads it at the moment.
func (p *PipelineCursor) meter() *work.Meter {
	return &work.Meter{
		Stop: func() error { return p.current.Stopped() },
		Hold: func(n int64) error {
			if n < 0 {
				p.Holding.Give(-n)
				return nil
			}
			return p.Holding.Take(n)
		},
	}
}
