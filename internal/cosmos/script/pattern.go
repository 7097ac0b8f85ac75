package script

import (
	"reflect"
	"time"

	"github.com/dlclark/regexp2/v2"
	"github.com/dop251/goja"

	patterns "github.com/mayflydb/mayfly/internal/cosmos/pattern"
)

// maxMatch ends a match of a regular expression that backtracks for too long. The runtime treats such a match as
// failed, so maxMatch is longer than any script may run: a script that reaches it is ended before it can use the
// result. It is a variable so that tests can change it.
var maxMatch = 15 * time.Second

// bind is the name of a function that limits a regular expression and returns it. Scripts cannot spell that name.
const bind = "\x00bind"

// bindPatterns limits every regular expression where it is created: by a literal, which restrict passes through bind,
// by the class RegExp, by compile, and by string functions that accept a pattern as a string.
func (r *run) bindPatterns(global *goja.Object) {
	f := r.put(nil, "pattern", func(call goja.FunctionCall) goja.Value { return r.bound(call.Argument(0)) })
	if err := global.DefineDataProperty(bind, f, goja.FLAG_FALSE, goja.FLAG_FALSE, goja.FLAG_FALSE); err != nil {
		panic(err)
	}
	class := r.object(global, "RegExp")
	r.after(class, func(_ goja.FunctionCall, made goja.Value) { r.bound(made) })
	at := goConstructor(class)
	construct := *at
	*at = func(args []goja.Value, target *goja.Object) *goja.Object {
		made := construct(args, target)
		r.bound(made)
		return made
	}
	r.after(r.object(class, "prototype.compile"), func(call goja.FunctionCall, _ goja.Value) { r.bound(call.This) })
	for name, flags := range map[string]string{"match": "", "matchAll": "g", "search": ""} {
		r.wrap(r.object(global, "String.prototype"), name, func(call *goja.FunctionCall) {
			if _, ok := call.Argument(0).(*goja.Object); ok {
				return
			}
			call.Arguments = []goja.Value{(*at)([]goja.Value{call.Argument(0), r.rt.ToValue(flags)}, class)}
		})
	}
}

// after calls then with the call and the result of a built-in function.
func (r *run) after(o *goja.Object, then func(call goja.FunctionCall, result goja.Value)) {
	at := goFunction(o)
	f := *at
	*at = func(call goja.FunctionCall) goja.Value {
		result := f(call)
		then(call, result)
		return result
	}
}

// A patternKey identifies a compiled pattern.
type patternKey struct {
	source  string
	options regexp2.RegexOptions
}

// maxPatterns is how many compiled patterns a run caches.
const maxPatterns = 1_000

// bound gives v, if it is a regular expression, a backtracking matcher with a time limit. It replaces the matcher
// that the runtime has created or would create later. The runtime has no setting for the limit: its matchers have the
// package's default, which is global to the process. The runtime keeps matchers in
// regexpObject.pattern.regexp2Wrapper.rx, and a test checks that the field exists.
func (r *run) bound(v goja.Value) goja.Value {
	o, ok := v.(*goja.Object)
	if !ok || o.ClassName() != "RegExp" {
		return v
	}
	pattern := field(o, "pattern", nil)
	if !pattern.IsValid() {
		return v // RegExp.prototype
	}
	pattern = pattern.Elem()
	rx, err := r.matcher(pattern)
	if err != nil {
		panic(r.rt.NewTypeError("Invalid regular expression"))
	}
	at := writable(pattern.FieldByName("regexp2Wrapper"))
	wrapper := reflect.New(at.Type().Elem())
	writable(wrapper.Elem().FieldByName("rx")).Set(reflect.ValueOf(rx))
	at.Set(wrapper)
	return v
}

// matcher compiles a pattern with the runtime's options. It caches the result for the run.
func (r *run) matcher(pattern reflect.Value) (*regexp2.Regexp, error) {
	key := patternKey{pattern.FieldByName("src").String(), regexp2.ECMAScript}
	for name, option := range map[string]regexp2.RegexOptions{
		"multiline": regexp2.Multiline, "dotAll": regexp2.Singleline, "ignoreCase": regexp2.IgnoreCase,
		"unicode": regexp2.Unicode,
	} {
		if pattern.FieldByName(name).Bool() {
			key.options |= option
		}
	}
	if rx := r.patterns[key]; rx != nil {
		return rx, nil
	}
	rx, err := patterns.Compile(key.source, key.options, maxMatch)
	if err != nil {
		return nil, err
	}
	if r.patterns == nil || len(r.patterns) == maxPatterns {
		r.patterns = map[patternKey]*regexp2.Regexp{}
	}
	r.patterns[key] = rx
	return rx, nil
}

// writable makes a field of the runtime settable by reflection.
func writable(f reflect.Value) reflect.Value {
	return reflect.NewAt(f.Type(), f.Addr().UnsafePointer()).Elem()
}
