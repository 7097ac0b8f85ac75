package rest

import (
	"context"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/cosmos/script"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/fault"
)

// A functionSet is the user-defined functions of a container as one query uses
// them. It is used by one goroutine.
type functionSet struct {
	ctx    context.Context
	cancel context.CancelFunc // nil when ctx is somebody else's
	door   *Door
	owner  catalog.Owner
	ready  map[string]*script.Function
}

// functionTime is how long the user-defined functions of one page of a query may
// take together with all that comes between their calls.
const functionTime = 2 * queryTime

// function finds a user-defined function for the query of the request.
func (e *exchange) function(name string) (func(args []doc.Value) (doc.Value, error), error) {
	if e.functions == nil {
		ctx, cancel := context.WithTimeout(e.Request.Context(), functionTime)
		e.functions = e.door.functionsOf(ctx, e.container)
		e.functions.cancel = cancel
	}
	return e.functions.find(name)
}

// functionsOf are the functions of a container, whose calls end with ctx.
func (d *Door) functionsOf(ctx context.Context, c *catalog.Container) *functionSet {
	return &functionSet{ctx: ctx, door: d, owner: catalog.Owner{Database: c.Database.ID, Container: c.ID}}
}

// find is a function by its name, nil if there is none. Names count in their case.
func (s *functionSet) find(name string) (func(args []doc.Value) (doc.Value, error), error) {
	if f := s.ready[name]; f != nil {
		return s.call(f), nil
	}
	r, err := s.door.catalog.Resource(catalog.Function, s.owner, name)
	if fault.KindOf(err) == fault.NotFound {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	p, err := s.door.scripts.compiled(s.ctx, r)
	if err != nil {
		return nil, err
	}
	f, err := p.Function(s.ctx, script.Host{Now: s.door.clock.Now})
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

// close ends the functions; none is called any more. It may be called on nil.
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
