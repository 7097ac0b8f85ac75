package script

import (
	"strconv"
	"strings"

	"github.com/dop251/goja"

	patterns "github.com/mayflydb/mayfly/internal/cosmos/pattern"
)

// protectStrings limits the strings that one call can create from shorter ones.
func (r *run) protectStrings(global *goja.Object) {
	proto := r.object(global, "String.prototype")
	r.wrap(proto, "repeat", func(call *goja.FunctionCall) {
		settled(call, 0)
		number(call)
		r.short(float64(characters(call.This)) * call.Argument(0).ToFloat())
	})
	r.wrap(proto, "padStart padEnd", func(call *goja.FunctionCall) {
		settled(call, 0)
		number(call)
		r.short(call.Argument(0).ToFloat())
	})
	r.wrap(proto, "concat", func(call *goja.FunctionCall) {
		settled(call, len(call.Arguments))
		size := characters(call.This)
		for _, v := range call.Arguments {
			size += characters(v)
		}
		r.short(float64(size))
	})
	r.wrap(proto, "replace replaceAll", r.replaceable)
	r.wrap(proto, "normalize", func(call *goja.FunctionCall) {
		settled(call, 1)
		if text := call.This.String(); len(text) != characters(call.This) {
			const longest = 18 // characters in the longest decomposition of one
			r.short(float64(characters(call.This)) * longest)
		}
	})
	r.wrap(proto, "localeCompare", func(call *goja.FunctionCall) {
		settled(call, 1)
		const most = 1 << 20
		if characters(call.This) > most || characters(call.Argument(0)) > most {
			r.throwRange("The texts are too long to be compared")
		}
	})
	r.wrap(r.object(global, "String"), "raw", func(call *goja.FunctionCall) {
		if o, ok := call.Argument(0).(*goja.Object); ok {
			if parts, ok := o.Get("raw").(*goja.Object); ok {
				r.walkable(parts)
			}
		}
	})
}

// short rejects strings of more than maxString characters.
func (r *run) short(size float64) {
	if size > maxString {
		r.throwRange("Invalid string length")
	}
}

// text is String(v).
func (r *run) text(v goja.Value) goja.String {
	if o, ok := v.(*goja.Object); ok {
		v = o.ToString() // a primitive value, not always a string
	}
	if s, ok := v.(goja.String); ok {
		return s
	}
	s, _ := r.rt.ToValue(v.String()).(goja.String)
	return s
}

// settled converts the receiver and the first arguments from objects to strings, because an object could convert to a
// different string the next time.
func settled(call *goja.FunctionCall, arguments int) {
	plain := func(v goja.Value) goja.Value {
		if o, ok := v.(*goja.Object); ok {
			return o.ToString()
		}
		return v
	}
	call.This = plain(call.This)
	list := make([]goja.Value, len(call.Arguments))
	for i, v := range call.Arguments {
		if list[i] = v; i < arguments {
			list[i] = plain(v)
		}
	}
	call.Arguments = list
}

// number converts the first argument to a number.
func number(call *goja.FunctionCall) {
	if o, ok := call.Argument(0).(*goja.Object); ok {
		call.Arguments[0] = o.ToNumber()
	}
}

// characters is the length of a string, or 0 for other values, whose text is short.
func characters(v goja.Value) int {
	if s, ok := v.(goja.String); ok {
		return s.Length()
	}
	return 0
}

// replaceable limits the result of a replacement. It counts the matches of a string, and assumes that a regular
// expression matches everywhere. Because that overestimates, it allows such results up to maxReplaced.
func (r *run) replaceable(call *goja.FunctionCall) {
	if _, isFunction := goja.AssertFunction(call.Argument(1)); isFunction {
		return // calls of the function can be interrupted
	}
	pattern := call.Argument(0)
	settled(call, 2)
	if o, ok := pattern.(*goja.Object); ok && o.ClassName() == "RegExp" {
		call.Arguments[0] = o
	}
	text := characters(call.This)
	by := r.text(call.Argument(1))
	matches, most := text+1, float64(maxReplaced)
	if pattern, ok := call.Argument(0).(goja.String); ok {
		matches, most = strings.Count(call.This.String(), pattern.String()), maxString
	}
	size := float64(matches) * float64(by.Length())
	around := 0
	if replacement := by.String(); strings.Contains(replacement, "$") {
		around = strings.Count(replacement, "$`") + strings.Count(replacement, "$'")
		size += float64(strings.Count(replacement, "$")) * float64(text)
	}
	if size+float64(around)*float64(matches)*float64(text) > most {
		r.throwRange("Invalid string length")
	}
}

// maxReplaced is the largest result of a replacement by a regular expression in the worst case.
const maxReplaced = 1 << 28

// protectPatterns limits the strings that become regular expressions, and the results of the functions of RegExp.
func (r *run) protectPatterns(global *goja.Object) {
	class := r.object(global, "RegExp")
	r.before(class, func(call *goja.FunctionCall) { r.pattern(call, 0) })
	made := goConstructor(class)
	construct := *made
	*made = func(args []goja.Value, target *goja.Object) *goja.Object {
		call := goja.FunctionCall{Arguments: args}
		r.pattern(&call, 0)
		return construct(call.Arguments, target)
	}
	proto := r.object(class, "prototype")
	r.before(r.object(proto, "compile"), func(call *goja.FunctionCall) { r.pattern(call, 0) })
	r.before(proto.GetSymbol(goja.SymReplace).ToObject(r.rt), func(call *goja.FunctionCall) {
		if _, isFunction := goja.AssertFunction(call.Argument(1)); isFunction || len(call.Arguments) < 2 {
			return
		}
		swapped := goja.FunctionCall{This: call.Arguments[0], Arguments: []goja.Value{call.This, call.Arguments[1]}}
		r.replaceable(&swapped)
		call.Arguments = []goja.Value{swapped.This, swapped.Arguments[1]}
	})
	r.wrap(r.object(global, "String.prototype"), "match matchAll search",
		func(call *goja.FunctionCall) { r.pattern(call, 0) })
}

// pattern rejects strings that are too long for a regular expression. It converts an object to a string, because the
// object could convert to a different one the next time.
func (r *run) pattern(call *goja.FunctionCall, i int) {
	const most = 64 << 10
	v := call.Argument(i)
	if o, ok := v.(*goja.Object); ok && o.ClassName() != "RegExp" {
		list := append([]goja.Value(nil), call.Arguments...)
		v = r.text(o)
		list[i], call.Arguments = v, list
	}
	if characters(v) > most {
		r.throwRange("The regular expression is too long")
	}
	if text, ok := v.(goja.String); ok && patterns.Check(text.String()) != nil {
		r.throwRange("The regular expression has too many nested repetitions")
	}
}

// element is an array element as part of a joined string, or nil for undefined and null.
func (r *run) element(o *goja.Object, i int) goja.String {
	v := o.Get(strconv.Itoa(i))
	if v == nil || goja.IsUndefined(v) || goja.IsNull(v) {
		return nil
	}
	return r.text(v)
}
