package rest

import (
	"context"
	"time"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/cosmos/script"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/fault"
)

// A functionSet holds the user-defined functions of a container for one query. It is not safe for concurrent use.
type functionSet struct {
	ctx    context.Context
	cancel context.CancelFunc // nil if the caller cancels ctx
	api    *API
	owner  catalog.Owner
	now    func() time.Time
	ready  map[string]*script.Function
}

// functionTime is how long user-defined functions may run for one page of a query, including the time between their
// calls.
const functionTime = 2 * queryTime

// function finds a user-defined function for the query of the request.
func (e *exchange) function(name string) (func(args []doc.Value) (doc.Value, error), error) {
	if e.functions == nil {
		ctx, cancel := context.WithTimeout(e.Request.Context(), functionTime)
		e.functions = e.api.functionsOf(ctx, e.container, e.at)
		e.functions.cancel = cancel
	}
	return e.functions.find(name)
}

// functionsOf returns the functions of a container, for a query that begins at an instant. ctx ends their calls.
func (a *API) functionsOf(ctx context.Context, c *catalog.Container, at time.Time) *functionSet {
	return &functionSet{
		ctx: ctx, api: a, owner: catalog.Owner{Database: c.Database.ID, Container: c.ID}, now: a.timeFrom(at),
	}
}

// find returns a function by name, or nil. Names are case-sensitive.
func (s *functionSet) find(name string) (func(args []doc.Value) (doc.Value, error), error) {
	if f := s.ready[name]; f != nil {
		return s.call(f), nil
	}
	r, err := s.api.catalog.Resource(catalog.Function, s.owner, name)
	if fault.KindOf(err) == fault.NotFound {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	p, err := s.api.scripts.compiled(s.ctx, r)
	if err != nil {
		return nil, err
	}
	f, err := p.Function(s.ctx, script.Host{Now: s.now})
	if err != nil {
		return nil, scriptFault(err)
	}
	if s.ready == nil {
		s.ready = map[string]*script.Function{}
	}
	s.ready[name] = f
	return s.call(f), nil
}

func (s *functionSet) call(f *script.Function) func([]doc.Value) (doc.Value, error) {
	return func(args []doc.Value) (doc.Value, error) {
		v, err := f.Call(args)
		return v, scriptFault(err)
	}
}

// close releases the functions, which must not be called afterwards. s may be nil.
func (s *functionSet) close() {
	if s == nil {
		return
	}
	for _, f := range s.ready {
		f.Close()
	}
	s.ready = nil
	if s.cancel != nil {
		s.cancel()
	}
}
