package script

import (
	"fmt"
	"strings"

	"github.com/dop251/goja"
)

// protect removes the globals with which a script could reach beyond its limits, and limits the built-in functions
// that can run endlessly, or fill the memory, in one call: the runtime checks for an interrupt only between steps.
func (r *run) protect() {
	global := r.rt.GlobalObject()
	for _, name := range [...]string{
		"GoError", "Proxy", "BigInt", "ArrayBuffer", "DataView",
		"Uint8Array", "Uint8ClampedArray", "Int8Array", "Uint16Array", "Int16Array", "Uint32Array", "Int32Array",
		"Float32Array", "Float64Array", "BigInt64Array", "BigUint64Array",
	} {
		if err := global.Delete(name); err != nil {
			panic(err) // cannot happen: every global can be deleted
		}
	}
	r.forbidCode(global)
	r.protectOperators(global)
	r.protectCalls(global)
	r.protectArrays(global)
	r.protectStrings(global)
	r.bindPatterns(global)
	r.protectPatterns(global)
	r.protectMembers(global)
	r.protectJSON(global)
}

// throwRange throws a RangeError into the script.
func (r *run) throwRange(format string, args ...any) {
	o, err := r.rt.New(r.rangeError, r.rt.ToValue(fmt.Sprintf(format, args...)))
	if err != nil {
		panic(err)
	}
	panic(o)
}

// object finds a built-in object by its path.
func (r *run) object(o *goja.Object, path string) *goja.Object {
	for name := range strings.SplitSeq(path, ".") {
		o = o.Get(name).ToObject(r.rt)
	}
	return o
}

// put defines a built-in function as the runtime would.
func (r *run) put(o *goja.Object, name string, f func(goja.FunctionCall) goja.Value) *goja.Object {
	made := r.rt.ToValue(f).ToObject(r.rt)
	err := made.DefineDataProperty("name", r.rt.ToValue(name), goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	if err == nil && o != nil {
		err = o.DefineDataProperty(name, made, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	}
	if err != nil {
		panic(err) // cannot happen: the object has not been modified
	}
	return made
}

// wrap adds a check before built-in functions of o. The check may convert arguments to primitive values, so that it
// and the function see the same.
func (r *run) wrap(o *goja.Object, names string, check func(call *goja.FunctionCall)) {
	for name := range strings.FieldsSeq(names) {
		f, ok := o.Get(name).Export().(func(goja.FunctionCall) goja.Value)
		if !ok {
			panic("no built-in function " + name)
		}
		r.put(o, name, func(call goja.FunctionCall) goja.Value {
			check(&call)
			return f(call)
		})
	}
}

// before adds a check as wrap does, but keeps the identity of the function. The runtime handles regular expressions
// differently if their functions were replaced.
func (r *run) before(o *goja.Object, check func(call *goja.FunctionCall)) {
	at := goFunction(o)
	f := *at
	*at = func(call goja.FunctionCall) goja.Value {
		check(&call)
		return f(call)
	}
}

// protectMembers limits strings whose characters are treated as members.
func (r *run) protectMembers(global *goja.Object) {
	few := func(call *goja.FunctionCall) {
		for _, v := range call.Arguments {
			if o, ok := v.(*goja.Object); ok && o.ClassName() == "String" {
				v = o.Get("length")
				if v.ToInteger() > maxApply {
					r.throwRange("A text is too long to be an object")
				}
			} else if characters(v) > maxApply {
				r.throwRange("A text is too long to be an object")
			}
		}
	}
	for _, path := range [...]string{
		"Object.assign", "Object.entries", "Object.keys", "Object.values", "Object.getOwnPropertyNames",
		"Object.getOwnPropertyDescriptors", "Object.freeze", "Object.isFrozen", "Object.seal", "Object.isSealed",
		"Object.defineProperties", "Object.create", "Reflect.ownKeys",
	} {
		r.before(r.object(global, path), few)
	}
}

// forbidCode disables everything that compiles text, because that code would have no limits.
func (r *run) forbidCode(global *goja.Object) {
	forbidden := func(goja.FunctionCall) goja.Value {
		panic(r.rt.NewTypeError("Code cannot be created from text."))
	}
	r.put(global, "eval", forbidden)
	function := r.put(global, "Function", forbidden)
	for i, example := range r.examples() {
		proto := example.Prototype()
		err := proto.DefineDataProperty("constructor", function, goja.FLAG_FALSE, goja.FLAG_FALSE, goja.FLAG_FALSE)
		if err == nil && i == 0 {
			err = function.DefineDataProperty("prototype", proto, goja.FLAG_FALSE, goja.FLAG_FALSE, goja.FLAG_FALSE)
		}
		if err != nil {
			panic(err)
		}
	}
}

var everyKind = lazy(`[function () {}, function* () {}, async function () {}]`)

// examples are functions of every kind, a plain one first.
func (r *run) examples() (list []*goja.Object) {
	v, err := r.rt.RunProgram(everyKind())
	if err != nil {
		panic(err)
	}
	r.rt.ForOf(v, func(f goja.Value) bool {
		list = append(list, f.ToObject(r.rt))
		return true
	})
	return list
}

// protectCalls limits arguments that are passed as a list.
func (r *run) protectCalls(global *goja.Object) {
	arguments := func(v goja.Value) {
		if o, ok := v.(*goja.Object); ok && r.length(o) > maxApply {
			r.throwRange("Too many arguments in function call")
		}
	}
	r.wrap(r.object(global, "Function.prototype"), "apply",
		func(call *goja.FunctionCall) { arguments(call.Argument(1)) })
	reflect := r.object(global, "Reflect")
	r.wrap(reflect, "apply", func(call *goja.FunctionCall) { arguments(call.Argument(2)) })
	r.wrap(reflect, "construct", func(call *goja.FunctionCall) { arguments(call.Argument(1)) })
}

// protectArrays limits loops over arrays, which may be huge without using memory, and over array-like objects.
func (r *run) protectArrays(global *goja.Object) {
	array := r.object(global, "Array")
	proto := r.object(array, "prototype")
	own := func(call *goja.FunctionCall) { r.walkable(call.This) }
	r.wrap(proto, "every fill filter find findIndex findLast findLastIndex flatMap forEach includes indexOf "+
		"lastIndexOf map "+
		"reduce reduceRight reverse shift slice some sort unshift splice copyWithin toReversed toSorted toSpliced "+
		"with "+
		"keys entries values", own)
	r.wrap(proto, "concat", func(call *goja.FunctionCall) {
		r.walkable(call.This)
		for _, v := range call.Arguments {
			r.walkable(v)
		}
	})
	values := proto.Get("values")
	if err := proto.DefineDataPropertySymbol(goja.SymIterator, values, goja.FLAG_TRUE, goja.FLAG_TRUE,
		goja.FLAG_FALSE); err != nil {
		panic(err)
	}
	r.wrap(array, "from", func(call *goja.FunctionCall) { r.walkable(call.Argument(0)) })
	r.put(proto, "join", r.join)
	r.protectDepth(proto)
}

// protectDepth limits functions that recurse into elements.
func (r *run) protectDepth(proto *goja.Object) {
	flat := proto.Get("flat").Export().(func(goja.FunctionCall) goja.Value)
	r.put(proto, "flat", func(call goja.FunctionCall) goja.Value {
		r.walkable(call.This)
		if depth := call.Argument(0); !goja.IsUndefined(depth) {
			call.Arguments = []goja.Value{r.rt.ToValue(min(depth.ToInteger(), maxNesting))}
		}
		return flat(call)
	})
	locale := proto.Get("toLocaleString").Export().(func(goja.FunctionCall) goja.Value)
	r.put(proto, "toLocaleString", func(call goja.FunctionCall) goja.Value {
		r.walkable(call.This)
		defer r.deeper()()
		return locale(call)
	})
}

// deeper counts one more level of recursion of a built-in function. The caller must call back.
func (r *run) deeper() (back func()) {
	if r.depth >= maxNesting {
		r.throwRange("Arrays are nested too deep")
	}
	r.depth++
	return func() { r.depth-- }
}

// length is the number of elements of an array or an array-like object.
func (r *run) length(o *goja.Object) int {
	v := o.Get("length")
	if v == nil {
		return 0
	}
	if _, changing := v.(*goja.Object); changing {
		panic(r.rt.NewTypeError("The length of an array must be a number."))
	}
	n := v.ToFloat()
	if n > maxLength {
		r.throwRange("Arrays longer than %d elements cannot be iterated", maxLength)
	}
	return int(max(0, n))
}

// walkable rejects objects over which a loop may not end: those that are too long, and those whose length may change.
func (r *run) walkable(v goja.Value) {
	o, ok := v.(*goja.Object)
	if !ok {
		return // a string, at most
	}
	r.length(o)
	if o.ClassName() == "Array" {
		return
	}
	for at := o; at != nil; at = at.Prototype() {
		if d, ok := r.must(r.descriptor(goja.Undefined(), at, r.rt.ToValue("length"))).(*goja.Object); ok {
			if get := d.Get("get"); get != nil && !goja.IsUndefined(get) {
				panic(r.rt.NewTypeError("The length of an array-like object cannot be a getter."))
			}
			return
		}
	}
}

// join is Array.prototype.join with a limited result.
func (r *run) join(call goja.FunctionCall) goja.Value {
	o := call.This.ToObject(r.rt)
	r.walkable(o)
	defer r.deeper()()
	separator := ","
	if v := call.Argument(0); !goja.IsUndefined(v) {
		separator = v.String()
	}
	if r.joining[o] {
		return r.rt.ToValue("") // the array contains itself
	}
	r.joining[o] = true
	defer delete(r.joining, o)
	var b goja.StringBuilder
	size := 0
	for i := range r.length(o) {
		part := r.element(o, i)
		if i > 0 {
			b.WriteUTF8String(separator)
			size += len(separator)
		}
		if part != nil {
			b.WriteString(part)
			size += part.Length()
		}
		if size > maxString {
			r.throwRange("Invalid string length")
		}
	}
	return b.String()
}

// protectJSON replaces functions that recurse for each level of nesting.
func (r *run) protectJSON(global *goja.Object) {
	json := r.object(global, "JSON")
	r.put(json, "stringify", r.stringify)
	r.wrap(json, "parse", func(call *goja.FunctionCall) {
		settled(call, 1)
		if text := call.Argument(0).String(); len(text) > maxText || jsonNesting(text) > maxNesting {
			r.throwRange("The JSON text is too long or nested too deep")
		}
	})
}

// jsonNesting is the depth of brackets in a JSON text, outside of strings.
func jsonNesting(text string) (deepest int) {
	depth, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			depth++
			deepest = max(deepest, depth)
		case c == '}' || c == ']':
			depth--
		}
	}
	return deepest
}
