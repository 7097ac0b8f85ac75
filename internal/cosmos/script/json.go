package script

import (
	"strconv"
	"strings"

	"github.com/dop251/goja"

	"github.com/mayflydb/mayfly/internal/doc"
)

// A writer writes a value as JSON.stringify does (ECMA-262, 25.5.2). Unlike the runtime's own implementation it
// limits nesting and size, because a value can be nested a million levels deep, or be an array that has only a
// length. It panics with exceptions of the script, so it must be called by built-in functions or within Try.
type writer struct {
	r        *run
	out      []byte
	limit    int
	replace  goja.Callable // the replacer function, or nil
	only     []string      // members to write, nil for all
	gap      string
	line     string         // a line break and the current indent
	within   []*goja.Object // the objects that enclose the current value, outermost first
	overflow bool           // the limit was exceeded, and nothing more is written
}

// json is v as JSON. ok is false if v has no JSON form.
func (r *run) json(v goja.Value) (text string, ok bool) {
	w := writer{r: r, limit: maxString}
	ok = w.value(nil, "", v)
	w.check()
	return string(w.out), ok
}

// fits reports whether v is short enough for the body of an answer.
func (r *run) fits(v goja.Value) bool {
	w := writer{r: r, limit: MaxResult}
	w.value(nil, "", v)
	w.full()
	return !w.overflow
}

// stringify is the global function JSON.stringify.
func (r *run) stringify(call goja.FunctionCall) goja.Value {
	w := writer{r: r, limit: maxString, gap: r.gap(call.Argument(2))}
	if f, ok := goja.AssertFunction(call.Argument(1)); ok {
		w.replace = f
	} else if o, ok := call.Argument(1).(*goja.Object); ok && o.ClassName() == "Array" {
		w.only = []string{}
		for i := range r.length(o) {
			w.only = append(w.only, o.Get(strconv.Itoa(i)).String())
		}
	}
	if w.gap != "" {
		w.line = "\n"
	}
	ok := w.value(nil, "", call.Argument(0))
	w.check()
	if !ok {
		return goja.Undefined()
	}
	return r.rt.ToValue(string(w.out))
}

// gap is the indent from the third argument of JSON.stringify.
func (r *run) gap(v goja.Value) string {
	if o, ok := v.(*goja.Object); ok {
		v = r.unwrap(o)
	}
	switch {
	case goja.IsString(v):
		text := v.String()
		return text[:min(10, len(text))]
	case goja.IsNumber(v):
		return strings.Repeat(" ", int(min(10, max(0, v.ToInteger()))))
	}
	return ""
}

// check throws if the text has become too long.
func (w *writer) check() {
	if w.full(); w.overflow {
		w.r.throwRange("Invalid string length")
	}
}

// full reports that the writer must stop. Endless code of the script is interrupted elsewhere; this loop over members
// would not be.
func (w *writer) full() bool {
	w.overflow = w.overflow || len(w.out) > w.limit
	return w.overflow || w.r.ctx.Err() != nil
}

// value writes the member key of holder. It reports whether v has a JSON form.
func (w *writer) value(holder *goja.Object, key string, v goja.Value) bool {
	if w.full() {
		return true
	}
	if o, ok := v.(*goja.Object); ok {
		if f, ok := goja.AssertFunction(o.Get("toJSON")); ok {
			v = w.r.must(f(o, w.r.rt.ToValue(key)))
		}
	}
	if w.replace != nil {
		if holder == nil {
			holder = w.r.rt.NewObject()
			w.r.set(holder, key, v)
		}
		v = w.r.must(w.replace(holder, w.r.rt.ToValue(key), v))
	}
	if o, ok := v.(*goja.Object); ok {
		v = w.r.unwrap(o)
	}
	return w.plain(v)
}

func (w *writer) plain(v goja.Value) bool {
	o, isObject := v.(*goja.Object)
	switch {
	case v == nil || goja.IsUndefined(v):
		return false
	case goja.IsNull(v):
		w.out = append(w.out, "null"...)
	case isObject:
		return w.object(o)
	case goja.IsString(v):
		w.out = doc.AppendJSONString(w.out, v.String())
	case goja.IsNumber(v):
		w.number(v)
	case isSymbol(v):
		return false
	default:
		w.out = append(w.out, v.String()...) // true, false
	}
	return true
}

func isSymbol(v goja.Value) bool {
	_, is := v.(*goja.Symbol)
	return is
}

func (w *writer) number(v goja.Value) {
	if f := v.ToFloat(); f != f || f-f != 0 {
		w.out = append(w.out, "null"...)
		return
	}
	w.out = append(w.out, v.String()...)
}

func (w *writer) object(o *goja.Object) bool {
	if _, isFunction := goja.AssertFunction(o); isFunction {
		return false
	}
	if w.within = append(w.within, o); len(w.within) > maxNesting {
		w.tooDeep()
	}
	outer := w.line
	w.line += w.gap
	if o.ClassName() == "Array" {
		w.array(o, outer)
	} else {
		w.members(o, outer)
	}
	w.line = outer
	w.within = w.within[:len(w.within)-1]
	return true
}

// tooDeep throws the error for a value that is nested too deep, or contains itself.
func (w *writer) tooDeep() {
	seen := map[*goja.Object]bool{}
	for _, o := range w.within {
		if seen[o] {
			panic(w.r.rt.NewTypeError("Converting circular structure to JSON"))
		}
		seen[o] = true
	}
	w.r.throwRange("Objects and arrays are nested too deeply (limit %d)", maxNesting)
}

func (w *writer) array(o *goja.Object, outer string) {
	w.out = append(w.out, '[')
	n := w.r.length(o)
	for i := 0; i < n && !w.full(); i++ {
		if i > 0 {
			w.out = append(w.out, ',')
		}
		w.out = append(w.out, w.line...)
		key := strconv.Itoa(i)
		if !w.value(o, key, o.Get(key)) {
			w.out = append(w.out, "null"...)
		}
	}
	if n > 0 {
		w.out = append(w.out, outer...)
	}
	w.out = append(w.out, ']')
}

func (w *writer) members(o *goja.Object, outer string) {
	names := w.only
	if names == nil {
		names = o.Keys()
	}
	w.out = append(w.out, '{')
	written := 0
	for _, name := range names {
		if w.full() {
			break
		}
		start := len(w.out)
		if written > 0 {
			w.out = append(w.out, ',')
		}
		w.out = append(w.out, w.line...)
		w.out = append(doc.AppendJSONString(w.out, name), ':')
		if w.gap != "" {
			w.out = append(w.out, ' ')
		}
		if !w.value(o, name, o.Get(name)) {
			w.out = w.out[:start]
			continue
		}
		written++
	}
	if written > 0 {
		w.out = append(w.out, outer...)
	}
	w.out = append(w.out, '}')
}

// unwrap returns the primitive value of Number, String and Boolean objects, and other objects unchanged.
func (r *run) unwrap(o *goja.Object) goja.Value {
	switch o.ClassName() {
	case "Number":
		return o.ToNumber()
	case "String":
		return o.ToString()
	case "Boolean":
		return r.rt.ToValue(o.Export())
	}
	return o
}

// must panics with the exception of a call.
func (r *run) must(v goja.Value, err error) goja.Value {
	if err != nil {
		panic(err)
	}
	return v
}
