// Package copying copies containers once from one endpoint to another, through the official clients: between two
// endpoints of Cosmos DB for NoSQL, or two of MongoDB. Documents take what remains of their lives along. It remembers
// how far it is, so that the same call goes on after an interruption, and it can compare both sides afterwards. It
// never writes to the side that it copies from.
package copying

import (
	"context"
	"errors"
	"fmt"
	"path"

	"github.com/mayflydb/mayfly/internal/transfer"
)

// A Lives says when the lives of copied documents end.
type Lives string

// Keep ends them when they end at the source. Restart begins them anew.
const (
	KeepLives    Lives = "keep"
	RestartLives Lives = "restart"
)

// MaxClients is the most requests at the same time.
const MaxClients = 256

// Options say what to copy.
type Options struct {
	From, To Endpoint
	// FromAdmin and ToAdmin send requests to the admin API of an endpoint that is a mayfly; nil if it is none.
	FromAdmin, ToAdmin transfer.Sender

	// Include and Exclude are patterns of path.Match for DB/CONTAINER, or for the name of a container alone. No pattern
	// in Include means everything.
	Include, Exclude []string

	Lives        Lives // empty means KeepLives
	IntoExisting bool  // also into a container whose properties differ
	Throughput   bool  // containers of NoSQL get the throughput of their source
	DryRun       bool  // read and count, and change nothing
	Compare      bool  // compare both sides afterwards; in a dry run, as they are
	Clients      int   // writes at the same time; 0 means 16
	Batch        int   // documents between two checkpoints; 0 means 500

	// Checkpoint is the file that says how far the work is; empty for none. Restart begins anew in spite of it.
	Checkpoint string
	Restart    bool

	// Progress, if not nil, is told how many documents of a container are read; total is 0 if it is unknown.
	Progress func(container string, read, total int64)
}

// A Result is what has become of the containers, in the order of their names.
type Result struct {
	Containers []*Part `json:"containers"`
	DryRun     bool    `json:"dryRun,omitempty"`
}

// Differences is how many differences comparisons have found.
func (r Result) Differences() (n int64) {
	for _, p := range r.Containers {
		n += p.Different
	}
	return n
}

// A Part is one container.
type Part struct {
	From    string `json:"from"`
	To      string `json:"to"`
	View    bool   `json:"view,omitempty"`
	Created bool   `json:"created"` // by this run, or an interrupted one; in a dry run it would be
	Read    int64  `json:"read"`    // with those that an interrupted run read
	Written int64  `json:"written"`
	Skipped int64  `json:"skipped,omitempty"` // the target had exactly these already
	Overdue int64  `json:"overdue"`           // their life had ended; they are not written

	Checked     bool     `json:"checked,omitempty"`  // both sides were compared
	Compared    int64    `json:"compared,omitempty"` // documents of the target
	Different   int64    `json:"different,omitempty"`
	Differences []string `json:"differences,omitempty"` // at most maxDifferences
}

// maxDifferences is how many differences a result lists for one container.
const maxDifferences = 100

func (p *Part) differs(format string, args ...any) {
	if p.Different++; len(p.Differences) < maxDifferences {
		p.Differences = append(p.Differences, fmt.Sprintf(format, args...))
	}
}

// ErrDialects is the error for endpoints of two kinds: a document of one dialect has no exact form in the other.
var ErrDialects = errors.New(
	"copy between a NoSQL and a MongoDB endpoint is not supported: use mayfly export and mayfly import")

// A DifferentError is the error for a container that exists at the target with other properties.
type DifferentError struct {
	Container string
	What      []string // differ
}

func (e *DifferentError) Error() string {
	text := e.Container + " exists with other properties:"
	for _, what := range e.What {
		text += "\n  " + what
	}
	return text + "\nchange them, choose another target, or copy with --into-existing"
}

// A job is one container to copy.
type job struct {
	from, to name
	part     *Part
	state    *jobState
	save     func() error // of the checkpoint
}

// begin forgets how far an interrupted run was, because the target has nothing of it. That is durable before the
// container is made: a run after this one finds a target, and could not tell.
func (j *job) begin() error {
	if j.state.isNew() {
		return nil
	}
	*j.state = jobState{Part: Part{From: j.part.From, To: j.part.To, View: j.part.View}}
	return j.save()
}

// A name is a container of an endpoint.
type name struct{ db, container string }

func (n name) String() string { return n.db + "/" + n.container }

// A pair is both endpoints, of one dialect.
type pair interface {
	// list gives the containers of the source that its endpoint names.
	list(context.Context) ([]name, error)
	// same reports whether the container with this name is one and the same at both endpoints.
	same(context.Context, name) (bool, error)
	// missing reports whether the target does not have the container.
	missing(context.Context, *job) (bool, error)
	// prepare makes the container at the target, or checks the one that is there.
	prepare(context.Context, *job) error
	// items copies the documents, and calls acknowledge whenever the state of the job has moved on.
	items(ctx context.Context, j *job, acknowledge func() error) error
	// compare adds differences to the part.
	compare(context.Context, *job) error
	close()
}

// Run copies. What it returns beside an error is what was done before.
func Run(ctx context.Context, o Options) (result Result, err error) {
	if err := o.Check(); err != nil {
		return result, err
	}
	result.DryRun = o.DryRun
	p, err := o.open()
	if err != nil {
		return result, err
	}
	defer p.close()
	found, err := p.list(ctx)
	if err != nil {
		return result, fmt.Errorf("%s: %w", o.From.Name(), plainError(err))
	}
	if err := o.checkSame(ctx, p, found); err != nil {
		return result, err
	}
	c, err := o.load()
	if err != nil {
		return result, err
	}
	for _, from := range found {
		if !o.chosen(from) {
			continue
		}
		j := &job{from: from, to: o.To.renamed(from), state: c.job(from), save: c.save}
		j.part = &j.state.Part
		j.part.From, j.part.To = j.from.String(), j.to.String()
		result.Containers = append(result.Containers, j.part)
		if err := o.one(ctx, p, j, c); err != nil {
			return result, fmt.Errorf("%s: %w", j.part.From, plainError(err))
		}
	}
	if len(result.Containers) == 0 {
		return result, ErrNothing
	}
	return result, c.drop()
}

// ErrNothing is the error if there is no container to copy.
var ErrNothing = errors.New("there is no such container to copy")

func (o *Options) one(ctx context.Context, p pair, j *job, c *checkpoint) error {
	if j.state.Done { // by an interrupted run; the container may be dropped since
		missing, err := p.missing(ctx, j)
		if err == nil && missing {
			err = j.begin()
		}
		if err != nil {
			return err
		}
	}
	if !j.state.Done {
		if err := p.prepare(ctx, j); err != nil {
			return err
		}
		if err := c.save(); err != nil {
			return err
		}
		if !j.part.View {
			err := p.items(ctx, j, func() error {
				o.progress(j.part, 0)
				return c.save()
			})
			if err != nil {
				return err
			}
		}
		j.state.Done = true
		if err := c.save(); err != nil {
			return err
		}
	}
	j.part.Checked, j.part.Compared, j.part.Different, j.part.Differences = false, 0, 0, nil
	if !o.Compare || j.part.View || o.DryRun && j.part.Created { // which has no target
		return nil
	}
	j.part.Checked = true
	return p.compare(ctx, j)
}

func (o *Options) progress(p *Part, total int64) {
	if o.Progress != nil {
		o.Progress(p.From, p.Read, total)
	}
}

// Check says what is wrong with the options, and sets defaults. It sends nothing.
func (o *Options) Check() error {
	if o.Lives == "" {
		o.Lives = KeepLives
	}
	if o.Clients == 0 {
		o.Clients = 16
	}
	if o.Batch == 0 {
		o.Batch = 500
	}
	switch {
	case o.Lives != KeepLives && o.Lives != RestartLives:
		return fmt.Errorf("lives: %q is neither keep nor restart", o.Lives)
	case o.Clients < 1 || o.Clients > MaxClients:
		return fmt.Errorf("clients: %d is not from 1 to %d", o.Clients, MaxClients)
	case o.From.Mongo != o.To.Mongo:
		return ErrDialects
	case o.To.DB != "" && o.From.DB == "", o.To.Container != "" && o.From.Container == "":
		return errors.New("the target names more than the source: name a database, or a container, on both sides")
	case o.From.same(o.To):
		return errors.New("the source and the target are the same")
	}
	for _, pattern := range append(append([]string(nil), o.Include...), o.Exclude...) {
		if _, err := path.Match(pattern, ""); err != nil {
			return fmt.Errorf("the pattern %q: %w", pattern, err)
		}
	}
	return nil
}

func (o *Options) chosen(n name) bool {
	return (len(o.Include) == 0 || matches(o.Include, n)) && !matches(o.Exclude, n)
}

func matches(patterns []string, n name) bool {
	for _, pattern := range patterns {
		whole, _ := path.Match(pattern, n.String())
		short, _ := path.Match(pattern, n.container)
		if whole || short {
			return true
		}
	}
	return false
}

func (o *Options) open() (pair, error) {
	if o.From.Mongo {
		return openMongo(o)
	}
	return openNoSQL(o)
}
