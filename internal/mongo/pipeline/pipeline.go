// Package pipeline has MongoDB's aggregation stages, accumulators, projections and
// sorts over raw BSON. A pipeline is compiled once and run over a lazy sequence of
// documents; a stage's parsing, checks and work sit together in the file of its
// name. It never touches a store: what stages ask of the server goes through the
// Server of an Env. Stages that must hold documents stop at a limit on memory.
// https://www.mongodb.com/docs/v7.0/reference/operator/aggregation-pipeline/
package pipeline

import (
	"context"
	"errors"
	"iter"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/expression"
	"github.com/mayflydb/mayfly/internal/mongo/filter"
	"github.com/mayflydb/mayfly/internal/mongo/work"
)

// Rows is a lazy sequence of documents. A document is valid until the next step, and
// an error is the last step. Errors of this package are *code.Error.
type Rows = iter.Seq2[doc.Doc, error]

// Limits of a pipeline.
const (
	MaxStages        = 1000      // of one pipeline, each sub-pipeline by itself
	MaxDepth         = 20        // of sub-pipelines in one another
	MaxMemory        = 100 << 20 // bytes that one stage holds
	MaxDocumentBytes = 16<<20 + 16<<10
	maxPassingBytes  = 64 << 20 // of a document between two stages
)

// Options of Compile.
type Options struct {
	// Names are the variables of the command's `let`; nil for none.
	Names *expression.Names
	// UpdateOnly allows only the stages that an update may have.
	UpdateOnly bool
}

// An Env is what a run of a pipeline sees of the world. Only Now is needed by all.
type Env struct {
	Now         time.Time // $$NOW, of the whole command
	ClusterTime doc.Value // $$CLUSTER_TIME, missing when stand-alone
	Random      func() float64
	Vars        []doc.Value // by the slots of Options.Names
	Meter       *work.Meter // counts the work of the command; nil for one that asks the context of Run
	Memory      Memory      // which the run shares with others; nil for no limit but its own
	Server      Server      // may be nil when no stage reads or writes other containers
}

// A Pipeline is compiled. It is immutable and safe for concurrent runs.
type Pipeline struct {
	stages []stage
	names  *expression.Names
	specs  []doc.Doc      // the stages as they were given
	lead   *filter.Filter // of a sub-pipeline: what its first stages match, nil for all
}

// A stage is one step of a pipeline: it is a mapper, a flow or an opening.
type stage interface{ name() string }

// A mapper makes at most one document of each. What it gives is valid until it is
// called again.
type mapper interface {
	stage
	mapper(r *run) mapping
}

type mapping = func(d doc.Doc) (out doc.Doc, keep bool, err error)

// A flow makes a sequence of another.
type flow interface {
	stage
	rows(r *run, in Rows) Rows
}

// An opening is the first stage of a pipeline and reads no documents.
type opening interface {
	stage
	open(r *run) Rows
}

// Compile reads the stages of a pipeline: the elements of an array. It keeps nothing
// of their memory.
func Compile(stages []doc.Value, o Options) (*Pipeline, error) {
	names := o.Names
	if names == nil {
		names = expression.NewNames()
	}
	c := &compiler{names: names, updateOnly: o.UpdateOnly, parsers: parsers}
	owned := make([]doc.Value, len(stages))
	for i, v := range stages {
		owned[i] = doc.Value{Type: v.Type, Data: slices.Clone(v.Data)}
	}
	return c.pipeline(owned)
}

// Stages lists the stages as they were given, for explain.
func (p *Pipeline) Stages() []doc.Doc { return p.specs }

// Len is how many stages there are.
func (p *Pipeline) Len() int { return len(p.stages) }

// Source is the stage that the pipeline begins with in place of documents, such as
// $collStats, and its argument. It is "" when the pipeline reads documents.
func (p *Pipeline) Source() (name string, arg doc.Value) {
	if len(p.stages) == 0 {
		return "", doc.Value{}
	}
	switch s := p.stages[0].(type) {
	case *source:
		return s.stage, s.arg
	case opening:
		return s.name(), doc.Lookup(p.specs[0], s.name())
	}
	return "", doc.Value{}
}

// Run gives the documents that the pipeline makes of in, which may be nil when the
// pipeline has a Source. A pipeline that ends in $out or $merge gives none, and has
// done its work when the sequence ends. The sequence may be walked once.
func (p *Pipeline) Run(ctx context.Context, in Rows, env *Env) Rows {
	return func(yield func(doc.Doc, error) bool) {
		r := newRun(ctx, env, p.names)
		for d, err := range p.rows(r, in) {
			if err == nil && len(d) > MaxDocumentBytes {
				err = tooLarge(len(d))
			}
			if err == nil {
				err = r.passing(d)
			}
			if err != nil {
				yield(nil, err)
				return
			}
			if !yield(d, nil) {
				return
			}
		}
	}
}

// rows chains the stages, and joins neighbours that are mappers.
func (p *Pipeline) rows(r *run, in Rows) Rows {
	if in == nil {
		in = empty
	}
	for i := 0; i < len(p.stages); i++ {
		switch s := p.stages[i].(type) {
		case opening:
			in = s.open(r)
		case flow:
			in = r.counted(s, in)
		case mapper:
			steps := []mapping{s.mapper(r)}
			for i+1 < len(p.stages) {
				next, ok := p.stages[i+1].(mapper)
				if !ok {
					break
				}
				steps = append(steps, next.mapper(r))
				i++
			}
			in = r.through(in, steps)
		}
	}
	return in
}

// through passes each document through all steps.
func (r *run) through(in Rows, steps []mapping) Rows {
	return func(yield func(doc.Doc, error) bool) {
		for d, err := range in {
			keep := true
			for i := 0; i < len(steps) && keep && err == nil; i++ {
				if err = r.passing(d); err != nil {
					break
				}
				d, keep, err = steps[i](d)
				if len(d) > maxPassingBytes {
					err = tooLarge(len(d))
				}
			}
			if err != nil {
				yield(nil, err)
				return
			}
			if keep && !yield(d, nil) {
				return
			}
		}
	}
}

// Each readies a pipeline for documents that come one by one: those of a change stream,
// or the one that an update changes. It fails with IllegalOperation when a stage
// needs more than one document at a time. The function belongs to one goroutine; what
// it gives is valid until it is called again.
func (p *Pipeline) Each(ctx context.Context, env *Env) (func(d doc.Doc) (out doc.Doc, keep bool, err error), error) {
	r := newRun(ctx, env, p.names)
	steps := make([]mapping, len(p.stages))
	for i, s := range p.stages {
		m, ok := s.(mapper)
		if !ok {
			return nil, code.New(code.IllegalOperation, "%s is not permitted in a $changeStream pipeline", s.name())
		}
		steps[i] = m.mapper(r)
	}
	return func(d doc.Doc) (doc.Doc, bool, error) {
		for _, step := range steps {
			if err := r.passing(d); err != nil {
				return nil, false, err
			}
			var keep bool
			var err error
			if d, keep, err = step(d); err != nil || !keep {
				return nil, false, err
			}
			if len(d) > maxPassingBytes {
				return nil, false, tooLarge(len(d))
			}
		}
		return d, true, nil
	}, nil
}

func empty(func(doc.Doc, error) bool) {}

// fail is a sequence that is an error.
func fail(err error) Rows {
	return func(yield func(doc.Doc, error) bool) { yield(nil, err) }
}

func tooLarge(size int) error {
	return code.New(code.BSONObjectTooLarge, "BSONObj size: %d (0x%X) is invalid. Size must be between 0 and %d(16MB)",
		size, size, MaxDocumentBytes)
}

// A run is one walk over a pipeline and its sub-pipelines. Their scopes share the
// variables, for each has slots of its own.
type run struct {
	ctx   context.Context
	env   *Env
	vars  []doc.Value
	meter *work.Meter

	together *holding // of all stages
	own      int      // of what is held, that of the stage that this is the run of
}

func newRun(ctx context.Context, env *Env, names *expression.Names) *run {
	vars := make([]doc.Value, max(names.Slots(), len(env.Vars)))
	copy(vars, env.Vars)
	r := &run{ctx: ctx, env: env, vars: vars, meter: env.Meter, together: &holding{}}
	if r.meter == nil {
		r.meter = &work.Meter{Stop: r.stop}
	}
	return r
}

// scope is for the expressions of one stage.
func (r *run) scope() *expression.Scope {
	return &expression.Scope{
		Vars: r.vars, Now: r.env.Now, ClusterTime: r.env.ClusterTime, Random: r.env.Random, Meter: r.meter,
	}
}

// stop says that the command's time is up.
func (r *run) stop() error {
	switch err := r.ctx.Err(); {
	case err == nil:
		return nil
	case errors.Is(err, context.DeadlineExceeded):
		return code.New(code.MaxTimeMSExpired, "operation exceeded time limit")
	}
	return code.New(code.Interrupted, "operation was interrupted")
}

// turn is called by each turn of a loop that may be long without reading documents.
func (r *run) turn() error {
	return r.work().Spend(work.Operator)
}

// work is the meter of the run, nil for a sort on its own.
func (r *run) work() *work.Meter {
	if r == nil {
		return nil
	}
	return r.meter
}

// passing counts a document that goes from one stage to the next, which walks through it.
func (r *run) passing(d doc.Doc) error { return r.meter.Spend(work.Operator + work.Scanned(len(d))/2) }

// random is a number from 0 up to, not including, 1.
func (r *run) random() float64 {
	if r.env.Random == nil {
		return 0
	}
	return r.env.Random()
}

// server is nil with an error when there is none to ask.
func (r *run) server(stage string) (Server, error) {
	if r.env.Server == nil {
		return nil, code.New(code.IllegalOperation, "%s cannot read or write other collections here", stage)
	}
	return r.env.Server, nil
}

// isObject reports whether v is a document.
func isObject(v doc.Value) bool { return v.Type == bsoncore.TypeEmbeddedDocument }
