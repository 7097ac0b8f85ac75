package script

import (
	"context"
	"errors"
	"math"
	"strings"

	"github.com/dop251/goja"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/fault"
)

// maxNames is the number of member names that a Function caches.
const maxNames = 10_000

// A Function is a user-defined function in one query. It is not safe for concurrent use. Its global variables live as
// long as it does.
type Function struct {
	r       *run
	call    goja.Callable
	parse   goja.Callable
	names   map[string]string
	unhook  func() bool
	unwatch func()
}

// Function prepares the script as a user-defined function. It fails with an *Exception if the script is not a
// function. ctx limits all calls together. host needs no collection.
func (p *Program) Function(ctx context.Context, host Host) (*Function, error) {
	f := &Function{r: newRun(ctx, host), names: map[string]string{}}
	f.unwatch = watchMemory(host, f.r.stop)
	f.unhook = context.AfterFunc(ctx, func() { f.r.stop(ended(ctx.Err())) })
	err := f.guard(func() (err error) {
		f.parse, _ = goja.AssertFunction(f.r.object(f.r.rt.GlobalObject(), "JSON.parse"))
		raw := f.r.rt.NewObject()
		f.r.set(raw, "log", f.r.console)
		if _, err = f.r.begin(function, raw); err == nil {
			f.call, err = p.main(f.r)
		}
		return err
	})
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// Close releases the function, which must not be called afterwards.
func (f *Function) Close() {
	f.unhook()
	f.unwatch()
}

// Call calls the function. The result does not share memory with the arguments. Errors are those of RunProcedure.
func (f *Function) Call(args []doc.Value) (result doc.Value, err error) {
	err = f.guard(func() error {
		if err := f.r.ctx.Err(); err != nil {
			return err
		}
		values := make([]goja.Value, len(args))
		for i, v := range args {
			if values[i], err = f.value(v); err != nil {
				return err
			}
		}
		v, err := f.call(goja.Undefined(), values...)
		if err == nil {
			result, err = f.result(v)
		}
		return err
	})
	return result, err
}

func (f *Function) guard(do func() error) error {
	return f.r.guard(do)
}

// value converts to a JavaScript value. Types that JSON does not have are converted by way of their JSON form.
func (f *Function) value(v doc.Value) (goja.Value, error) {
	switch v.Type {
	case 0:
		return goja.Undefined(), nil
	case bsoncore.TypeNull:
		return goja.Null(), nil
	case bsoncore.TypeBoolean:
		b, _ := doc.AsBool(v)
		return f.r.rt.ToValue(b), nil
	case bsoncore.TypeInt32, bsoncore.TypeInt64:
		n, _ := doc.AsInt(v)
		if n > -1<<53 && n < 1<<53 {
			return f.r.rt.ToValue(n), nil
		}
		return f.r.rt.ToValue(float64(n)), nil
	case bsoncore.TypeDouble:
		x, _ := doc.AsFloat(v)
		return f.r.rt.ToValue(x), nil
	case bsoncore.TypeString:
		s, _ := doc.AsString(v)
		return f.r.rt.ToValue(strings.Clone(s)), nil
	case bsoncore.TypeArray:
		return f.array(v)
	case bsoncore.TypeEmbeddedDocument:
		return f.members(v)
	}
	return f.parse(goja.Undefined(), f.r.rt.ToValue(string(doc.Query.AppendJSONValue(nil, v))))
}

func (f *Function) array(v doc.Value) (goja.Value, error) {
	var list []any
	for e := range doc.Elements(v) {
		element, err := f.value(e)
		if err != nil {
			return nil, err
		}
		list = append(list, element)
	}
	return f.r.rt.NewArray(list...), nil
}

func (f *Function) members(v doc.Value) (goja.Value, error) {
	d, _ := doc.AsDoc(v)
	o := f.r.rt.NewObject()
	for name, m := range doc.Members(d) {
		value, err := f.value(m)
		if err == nil {
			err = o.DefineDataProperty(f.name(name), value, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_TRUE)
		}
		if err != nil {
			return nil, err
		}
	}
	return o, nil
}

// name is a copy of a member name that outlives its document.
func (f *Function) name(name string) string {
	if kept, ok := f.names[name]; ok {
		return kept
	}
	kept := strings.Clone(name)
	if len(f.names) < maxNames {
		f.names[kept] = kept
	}
	return kept
}

// result converts the returned value as JSON would: functions become undefined, and numbers that are not finite
// become null.
func (f *Function) result(v goja.Value) (doc.Value, error) {
	switch {
	case v == nil || goja.IsUndefined(v) || isSymbol(v):
		return doc.Value{}, nil
	case goja.IsNull(v):
		return doc.Null(), nil
	case goja.IsString(v):
		return doc.String(v.String()), nil
	case goja.IsNumber(v):
		return finite(v), nil
	}
	if _, isObject := v.(*goja.Object); !isObject {
		return doc.Bool(v.ToBoolean()), nil
	}
	text, ok := "", false
	if thrown := f.r.rt.Try(func() { text, ok = f.r.json(v) }); thrown != nil {
		return doc.Value{}, thrown
	}
	if !ok {
		return doc.Value{}, nil
	}
	made, err := doc.ValueFromJSON([]byte(text))
	if e, isDoc := errors.AsType[*doc.Error](err); isDoc {
		kind := fault.Invalid
		if e.TooLarge {
			kind = fault.TooLarge
		}
		return doc.Value{}, fault.Wrap(kind, err,
			"The result of a user-defined function cannot be stored in a document. %s", e.Message)
	}
	return made, err
}

// finite is a number, or null if it is not finite.
func finite(v goja.Value) doc.Value {
	x := v.ToFloat()
	switch {
	case math.IsNaN(x) || math.IsInf(x, 0):
		return doc.Null()
	case x == math.Trunc(x) && math.Abs(x) < 1<<53:
		return doc.Int(int64(x))
	}
	return doc.Float(x)
}
