// Package pipeline has MongoDB's aggregation stages, accumulators, projections and sorts over raw BSON. A pipeline is
// compiled once and run over a lazy sequence of documents; a stage's parsing, checks and work sit together in the file
// of its name. It never touches a store: stages reach other containers through the Server of an Env. Stages that must
// keep documents in memory fail at a limit.
// https://www.mongodb.com/docs/v7.0/reference/operator/aggregation-pipeline/
package pipeline

import (
	"context"
	"errors"
	"iter"
	"time"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/expression"
	"github.com/mayflydb/mayfly/internal/mongo/filter"
	"github.com/mayflydb/mayfly/internal/mongo/work"
)

// Rows is a lazy sequence of documents. A document is valid until the next one is asked for. An error ends the
// sequence. Errors of this package are *code.Error.
type Rows = iter.Seq2[doc.Doc, error]

// Limits of a pipeline.
const (
	MaxStages        = 1000      // of one pipeline, not counting sub-pipelines
	MaxDepth         = 20        // of nested sub-pipelines
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
	asGiven    bool // for tests, which compare what it gives then
}

// An Env is the environment of a run. Only Now is always required.
type Env struct {
	Now         time.Time // $$NOW, of the whole command
	ClusterTime doc.Value // $$CLUSTER_TIME, missing when stand-alone
	Random      func() float64
	Vars        []doc.Value // by the slots of Options.Names
	Meter       *work.Meter // counts the work of the command; nil for a meter that stops with the context of Run
	Memory      Memory      // limits the memory of this and other runs; nil for no limit but the run's own
	Server      Server      // may be nil when no stage reads or writes other containers
}

// A Pipeline is compiled, immutable and safe for concurrent runs.
type Pipeline struct {
	stages []stage
	names  *expression.Names
	specs  []doc.Doc      // the stages as they were given, but for their order
	lead   *filter.Filter // of a sub-pipeline: what its first stages match, nil for all
	safe   *Pipeline      // see Safe
}

// A stage is one step of a pipeline: a mapper, a flow or an opener.
type stage interface{ name() string }

// A mapper turns each document into at most one document, which is valid until the next call.
type mapper interface {
	stage
	mapper(r *run) mapFunc
}

type mapFunc = func(d doc.Doc) (out doc.Doc, keep bool, err error)

// A flow turns one sequence into another.
type flow interface {
	stage
	rows(r *run, in Rows) Rows
}

// An opener is a first stage that makes documents itself.
type opener interface {
	stage
	open(r *run) Rows
}

// Compile compiles a pipeline from its stages, the elements of an array. It keeps none of their memory.
func Compile(stages []doc.Value, o Options) (*Pipeline, error) {
	names := o.Names
	if names == nil {
		names = expression.NewNames()
	}
	c := &compiler{names: names, updateOnly: o.UpdateOnly, parsers: parsers, asGiven: o.asGiven}
	owned := make([]doc.Value, len(stages))
	for i, v := range stages {
		owned[i] = doc.Clone(v)
	}
	return c.pipeline(owned)
}

// Stages lists the stages in the order in which they run, for explain.
func (p *Pipeline) Stages() []doc.Doc { return p.specs }

// Safe is a pipeline with the same rows that fails less often for the memory of a sort, and may read more. It is nil if
// this one is as safe.
func (p *Pipeline) Safe() *Pipeline { return p.safe }

// Len is the number of stages.
func (p *Pipeline) Len() int { return len(p.stages) }

// Source returns the name and the argument of a first stage that the server answers, such as $collStats. The name is ""
// if the pipeline reads documents.
func (p *Pipeline) Source() (name string, arg doc.Value) {
	if len(p.stages) == 0 {
		return "", doc.Value{}
	}
	switch s := p.stages[0].(type) {
	case *source:
		return s.stage, s.arg
	case opener:
		return s.name(), doc.Lookup(p.specs[0], s.name())
	}
	return "", doc.Value{}
}

// Run returns the rows that the pipeline computes from in, which may be nil if the pipeline has a Source. A pipeline
// that ends in $out or $merge has no rows; it has done its work when the sequence ends. The sequence can be read once.
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

// rows chains the stages. Adjacent mappers run in one loop.
func (p *Pipeline) rows(r *run, in Rows) Rows {
	if in == nil {
		in = empty
	}
	for i := 0; i < len(p.stages); i++ {
		switch s := p.stages[i].(type) {
		case opener:
			in = s.open(r)
		case flow:
			in = r.counted(s, in)
		case mapper:
			steps := []mapFunc{s.mapper(r)}
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

// through yields each document after all steps.
func (r *run) through(in Rows, steps []mapFunc) Rows {
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

// Each prepares a pipeline for single documents: the events of a change stream, or the document of an update. It fails
// with IllegalOperation if a stage needs more than one document at a time. The function is for one goroutine; its
// result is valid until the next call.
func (p *Pipeline) Each(ctx context.Context, env *Env) (func(d doc.Doc) (out doc.Doc, keep bool, err error), error) {
	r := newRun(ctx, env, p.names)
	steps := make([]mapFunc, len(p.stages))
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

// fail is a sequence of one error.
func fail(err error) Rows {
	return func(yield func(doc.Doc, error) bool) { yield(nil, err) }
}

func tooLarge(size int) error {
	return code.New(code.BSONObjectTooLarge, "BSONObj size: %d (0x%X) is invalid. Size must be between 0 and %d(16MB)",
		size, size, MaxDocumentBytes)
}

// A run is one execution of a pipeline and its sub-pipelines. All their scopes share the slice of variables, in which
// each variable has its own slot.
type run struct {
	ctx   context.Context
	env   *Env
	vars  []doc.Value
	meter *work.Meter

	together *memoryUse // of all stages
	own      int        // bytes held by the stage of this run
}

func newRun(ctx context.Context, env *Env, names *expression.Names) *run {
	vars := make([]doc.Value, max(names.Slots(), len(env.Vars)))
	copy(vars, env.Vars)
	r := &run{ctx: ctx, env: env, vars: vars, meter: env.Meter, together: &memoryUse{}}
	if r.meter == nil {
		r.meter = &work.Meter{Stop: r.stop}
	}
	return r
}

// scope makes a scope for the expressions of one stage.
func (r *run) scope() *expression.Scope {
	return &expression.Scope{
		Vars: r.vars, Now: r.env.Now, ClusterTime: r.env.ClusterTime, Random: r.env.Random, Meter: r.meter,
	}
}

// stop returns an error if the command's time is up.
func (r *run) stop() error {
	switch err := r.ctx.Err(); {
	case err == nil:
		return nil
	case errors.Is(err, context.DeadlineExceeded):
		return code.New(code.MaxTimeMSExpired, "operation exceeded time limit")
	}
	return code.New(code.Interrupted, "operation was interrupted")
}

// turn is called by each iteration of a loop that may be long and reads no documents.
func (r *run) turn() error {
	return r.work().Spend(work.Operator)
}

// work is the meter of the run, nil for a sort outside of a pipeline.
func (r *run) work() *work.Meter {
	if r == nil {
		return nil
	}
	return r.meter
}

// passing spends the cost of a document that goes from one stage to the next.
func (r *run) passing(d doc.Doc) error { return r.meter.Spend(work.Operator + work.Scanned(len(d))/2) }

// random is a number in [0, 1).
func (r *run) random() float64 {
	if r.env.Random == nil {
		return 0
	}
	return r.env.Random()
}

// server returns the Server, or an error if there is none.
func (r *run) server(stage string) (Server, error) {
	if r.env.Server == nil {
		return nil, code.New(code.IllegalOperation, "%s cannot read or write other collections here", stage)
	}
	return r.env.Server, nil
}

// isObject reports whether v is a document.
func isObject(v doc.Value) bool { return v.Type == bsoncore.TypeEmbeddedDocument }
