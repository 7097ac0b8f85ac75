package script

import (
	"context"
	_ "embed"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/dlclark/regexp2/v2"
	"github.com/dop251/goja"
)

//go:embed prelude.js
var preludeSource string

// preludeName is the file name of the prelude in stack traces.
const preludeName = "mayfly:prelude"

var prelude = lazy(preludeSource)

// lazy compiles a part of the prelude when it is first asked for, so that a process without scripts starts without
// it.
func lazy(source string) func() *goja.Program {
	return sync.OnceValue(func() *goja.Program { return goja.MustCompile(preludeName, source, true) })
}

// The kinds of run, as the prelude names them.
const (
	procedure   = "procedure"
	preTrigger  = "pre"
	postTrigger = "post"
	function    = "function"
)

// A run is one execution of a script, in its own JavaScript realm.
type run struct {
	rt   *goja.Runtime
	ctx  context.Context
	host Host

	// Built-in objects that the script may replace, in their original state.
	rangeError *goja.Object
	descriptor goja.Callable // Object.getOwnPropertyDescriptor
	nothing    goja.Callable // an empty function

	depth    int // recursion of built-in functions through elements
	joining  map[*goja.Object]bool
	inside   int // nested calls of built-in functions
	rejected []*goja.Promise
	patterns map[patternKey]*regexp2.Regexp // compiled, see bound

	why atomic.Pointer[error] // why the script must stop, nil while it may run

	gate   sync.Mutex // held while the script calls the host
	closed bool       // the script has ended or was abandoned
	log    []byte
}

func newRun(ctx context.Context, host Host) *run {
	r := newRealm()
	r.ctx, r.host = ctx, host
	if host.Now != nil {
		r.rt.SetTimeSource(goja.Now(host.Now))
	}
	r.rt.SetPromiseRejectionTracker(r.track)
	r.watchBuiltIns()
	return r
}

// newRealm creates the realm of a script, protected but not watched.
func newRealm() *run {
	r := &run{rt: goja.New()}
	r.rt.SetMaxCallStackSize(maxStack)
	r.rangeError = r.rt.Get("RangeError").ToObject(r.rt)
	r.descriptor, _ = goja.AssertFunction(r.object(r.rt.GlobalObject(), "Object.getOwnPropertyDescriptor"))
	r.joining = map[*goja.Object]bool{}
	r.nothing, _ = goja.AssertFunction(r.must(r.rt.RunProgram(nothingSource())))
	r.protect()
	return r
}

// do calls f, which runs the script, until it ends or its time is up.
func (r *run) do(f func() error) error {
	unwatch := watchMemory(r.host, r.stop)
	defer unwatch()
	err := runs.guarded(r.ctx, func() { r.stop(ended(r.ctx.Err())) }, func() error {
		return r.guard(f)
	})
	r.gate.Lock()
	defer r.gate.Unlock()
	r.closed = true
	return err
}

// guard calls f, which runs code of the script, and converts its errors and panics to those that the callers of this
// package see.
func (r *run) guard(f func() error) error {
	return reason(recovered(func() error { return r.failure(recovered(f)) }))
}

// logged is the output of console.log.
func (r *run) logged() string {
	r.gate.Lock()
	defer r.gate.Unlock()
	return string(r.log)
}

// A world is the result of the prelude.
type world struct{ step, body goja.Callable }

// begin runs the prelude.
func (r *run) begin(kind string, raw *goja.Object) (w world, err error) {
	made, err := r.rt.RunProgram(prelude())
	if err != nil {
		return w, err
	}
	start, _ := goja.AssertFunction(made)
	made, err = start(goja.Undefined(), raw, r.rt.ToValue(kind))
	if err != nil {
		return w, err
	}
	object := made.ToObject(r.rt)
	w.step, _ = goja.AssertFunction(object.Get("step"))
	w.body, _ = goja.AssertFunction(object.Get("body"))
	return w, nil
}

// main returns the function that the script defines.
func (p *Program) main(r *run) (goja.Callable, error) {
	value, err := r.rt.RunProgram(p.code)
	if err != nil {
		return nil, err
	}
	if p.entry != "" {
		value = r.rt.Get(p.entry)
	}
	f, ok := goja.AssertFunction(value)
	if !ok {
		return nil, thrown("compiling", "SyntaxError: the script is not a function", "", 0)
	}
	return f, nil
}

// play calls the function of the script. Then it calls the callbacks of its operations on the collection, and of the
// operations that these start, until none is left.
func (r *run) play(p *Program, w world, args []goja.Value) error {
	main, err := p.main(r)
	if err != nil {
		return err
	}
	if _, err := main(goja.Undefined(), args...); err != nil {
		return err
	}
	for {
		more, err := w.step(goja.Undefined())
		if err != nil {
			return err
		}
		if !more.ToBoolean() {
			return r.unhandled()
		}
	}
}

// result is the response body that the script has set, or nil.
func (r *run) result(w world) ([]byte, error) {
	v, err := w.body(goja.Undefined())
	if err != nil || goja.IsUndefined(v) {
		return nil, err
	}
	text := v.String()
	if len(text) > MaxResult {
		return nil, errResult
	}
	return []byte(text), nil
}

// track collects rejected promises without a handler.
func (r *run) track(p *goja.Promise, operation goja.PromiseRejectionOperation) {
	if operation == goja.PromiseRejectionReject {
		r.rejected = append(r.rejected, p)
		return
	}
	for i, other := range r.rejected {
		if other == p {
			r.rejected = append(r.rejected[:i], r.rejected[i+1:]...)
			return
		}
	}
}

// unhandled is the error of a rejected promise that still has no handler at the end of the script. It counts as an
// uncaught exception.
func (r *run) unhandled() error {
	if len(r.rejected) == 0 {
		return nil
	}
	return r.exception(r.rejected[0].Result(), nil)
}

// failure converts an error of the runtime to one that callers of this package see.
func (r *run) failure(err error) error {
	if err = reason(err); err == nil {
		return nil
	}
	if deep, ok := errors.AsType[*goja.StackOverflowError](err); ok {
		return thrown("executing", "RangeError: Maximum call stack size exceeded", trace(deep.Stack()), 0)
	}
	if ex, ok := errors.AsType[*goja.Exception](err); ok {
		return r.exception(ex.Value(), ex.Stack())
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return ended(err)
	}
	return err
}

// reason is the error with which a script was told to stop, or else err itself.
func reason(err error) error {
	if stopped, ok := errors.AsType[*goja.InterruptedError](err); ok {
		if why, ok := stopped.Value().(error); ok {
			return why
		}
	}
	return err
}

// stop ends the script with an error. It is safe for concurrent use.
func (r *run) stop(err error) {
	r.why.CompareAndSwap(nil, &err)
	r.rt.Interrupt(err)
}

// A Result is the outcome of a stored procedure.
type Result struct {
	Body []byte // JSON, nil if the script has set no body
	Log  string // also when the script fails
}

// RunProcedure runs a stored procedure with parameters, a JSON array. Errors are an *Exception, errors of the
// Collection that end the script, fault.Timeout if ctx ends first, fault.TooLarge for memory and results, and
// fault.Unavailable if too many scripts hang. After any error the caller must roll back the script's operations on
// its Collection.
func (p *Program) RunProcedure(ctx context.Context, parameters []byte, host Host) (Result, error) {
	r := newRun(ctx, host)
	var body []byte
	err := r.do(func() error {
		raw := r.raw()
		r.set(raw, "request", string(parameters))
		args, err := r.arguments(parameters)
		if err != nil {
			return err
		}
		w, err := r.begin(procedure, raw)
		if err != nil {
			return err
		}
		if err := r.play(p, w, args); err != nil {
			return err
		}
		body, err = r.result(w)
		return err
	})
	if err != nil {
		return Result{Log: r.logged()}, err
	}
	return Result{Body: body, Log: r.logged()}, nil
}

// arguments parses the parameters of a procedure.
func (r *run) arguments(text []byte) ([]goja.Value, error) {
	parse, _ := goja.AssertFunction(r.rt.Get("JSON").ToObject(r.rt).Get("parse"))
	v, err := parse(goja.Undefined(), r.rt.ToValue(string(text)))
	if err != nil {
		return nil, errArgument
	}
	list, ok := v.(*goja.Object)
	if !ok || list.ClassName() != "Array" {
		return nil, errArgument
	}
	var args []goja.Value
	r.rt.ForOf(list, func(v goja.Value) bool {
		args = append(args, v)
		return len(args) <= maxApply
	})
	if len(args) > maxApply {
		return nil, errArgument
	}
	return args, nil
}

// RunTrigger runs a trigger. If response is nil it is a pre-trigger, which may change request.Body, else a
// post-trigger, which may change the response, as JSON. Errors are those of RunProcedure.
func (p *Program) RunTrigger(ctx context.Context, request *Request, response *[]byte, host Host) (log string,
	err error) {
	r := newRun(ctx, host)
	var body []byte
	err = r.do(func() error {
		raw, kind := r.raw(), preTrigger
		r.set(raw, "operation", request.Operation)
		if request.Body != nil {
			r.set(raw, "request", string(request.Body))
		}
		if response != nil {
			kind = postTrigger
			if *response != nil {
				r.set(raw, "response", string(*response))
			}
		}
		w, err := r.begin(kind, raw)
		if err == nil {
			err = r.play(p, w, nil)
		}
		if err == nil {
			body, err = r.result(w)
		}
		return err
	})
	switch {
	case err != nil || body == nil:
	case response != nil:
		*response = body
	default:
		request.Body = body
	}
	return r.logged(), err
}
