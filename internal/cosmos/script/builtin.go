package script

import (
	"reflect"
	"sync"

	"github.com/dop251/goja"
)

// maxBuiltIn is how deep calls of built-in functions may be nested.
const maxBuiltIn = 2_000

// watchBuiltIns makes every built-in function count its nested calls and check whether the script must end. The
// runtime does both for JavaScript code only. Without the count, built-in functions that call each other endlessly,
// such as {toString: String.prototype.trim} converted to a string, would overflow the Go stack, which ends the
// process. Without the check, an iterator such as {next: Object} would never end.
//
// It replaces the implementations and not the function objects, because the runtime recognizes some of those by
// identity.
func (r *run) watchBuiltIns() {
	found := []*goja.Object{r.rt.GlobalObject(), r.iterators()}
	for _, at := range waysToBuiltIns() {
		o := at.follow(r, found[at.from])
		if f := goFunction(o); f != nil && *f != nil {
			*f = r.watched(*f)
		}
		found = append(found, o)
	}
}

// watched wraps f with the count and the check.
func (r *run) watched(f func(goja.FunctionCall) goja.Value) func(goja.FunctionCall) goja.Value {
	return func(call goja.FunctionCall) goja.Value {
		r.checkStop()
		if r.inside >= maxBuiltIn {
			r.throwRange("Maximum call stack size exceeded")
		}
		r.inside++
		defer func() { r.inside-- }()
		return f(call)
	}
}

// checkStop ends the script if it was told to stop. A script cannot catch that.
func (r *run) checkStop() {
	if why := r.why.Load(); why != nil {
		r.rt.Interrupt(*why)
		r.must(r.nothing(goja.Undefined())) // the runtime checks for the interrupt at its next step
	}
}

var nothingSource = lazy(`() => {}`)

// A way leads from one object of a realm to another.
type way struct {
	from   int          // index of the object in the order of discovery
	name   string       // the member's name,
	symbol *goja.Symbol // or its symbol,
	proto  bool         // or the prototype
	part   string       // "value", or "get" or "set" of an accessor
}

func (w way) follow(r *run, o *goja.Object) *goja.Object {
	var v goja.Value
	switch {
	case w.proto:
		return o.Prototype()
	case w.part != "value":
		v = r.part(o, w)
	case w.symbol != nil:
		v = o.GetSymbol(w.symbol)
	default:
		v = o.Get(w.name)
	}
	made, _ := v.(*goja.Object)
	return made
}

// part is one part of a member's property descriptor, or nil.
func (r *run) part(o *goja.Object, w way) goja.Value {
	var key goja.Value = w.symbol
	if w.symbol == nil {
		key = r.rt.ToValue(w.name)
	}
	d, ok := r.must(r.descriptor(goja.Undefined(), o, key)).(*goja.Object)
	if !ok {
		return nil
	}
	return d.Get(w.part)
}

// waysToBuiltIns lead to all objects of an unmodified realm. All realms are the same, so the search runs only once:
// reading property descriptors is slow.
var waysToBuiltIns = sync.OnceValue(func() []way {
	r := newRealm()
	s := search{r: r, seen: map[*goja.Object]bool{}}
	s.add(way{}, r.rt.GlobalObject())
	s.add(way{}, r.iterators())
	s.ways = nil
	for i := 0; i < len(s.found); i++ {
		s.expand(i)
	}
	return s.ways
})

type search struct {
	r     *run
	seen  map[*goja.Object]bool
	found []*goja.Object
	ways  []way
}

func (s *search) add(w way, o *goja.Object) {
	if o != nil && !s.seen[o] {
		s.seen[o] = true
		s.found, s.ways = append(s.found, o), append(s.ways, w)
	}
}

func (s *search) expand(from int) {
	o := s.found[from]
	s.add(way{from: from, proto: true}, o.Prototype())
	for _, part := range [...]string{"value", "get", "set"} {
		for _, name := range o.GetOwnPropertyNames() {
			s.member(o, way{from: from, name: name, part: part})
		}
		for _, symbol := range o.Symbols() {
			s.member(o, way{from: from, symbol: symbol, part: part})
		}
	}
}

func (s *search) member(o *goja.Object, w way) {
	if v, ok := s.r.part(o, w).(*goja.Object); ok {
		s.add(w, v)
	}
}

var iteratorsSource = lazy(`[
	function* () {}, async function () {}, (function* () {})(), (function () { return arguments })(),
	[][Symbol.iterator](), new Map()[Symbol.iterator](), new Set()[Symbol.iterator](), ""[Symbol.iterator](),
	"".matchAll(/a/g),
]`)

// iterators are objects that no name leads to.
func (r *run) iterators() *goja.Object {
	return r.must(r.rt.RunProgram(iteratorsSource())).ToObject(r.rt)
}

// goFunction is the field in which the runtime keeps the implementation of a built-in function, or nil for other
// objects. The runtime has no API for it, so a test checks that the field exists.
func goFunction(o *goja.Object) *func(goja.FunctionCall) goja.Value {
	if f := field(o, "f", reflect.TypeFor[func(goja.FunctionCall) goja.Value]()); f.IsValid() {
		return (*func(goja.FunctionCall) goja.Value)(f.Addr().UnsafePointer())
	}
	return nil
}

// goConstructor is the field in which the runtime keeps the constructor of a built-in class, or nil for other
// objects.
func goConstructor(o *goja.Object) *func([]goja.Value, *goja.Object) *goja.Object {
	if f := field(o, "construct", reflect.TypeFor[func([]goja.Value, *goja.Object) *goja.Object]()); f.IsValid() {
		return (*func([]goja.Value, *goja.Object) *goja.Object)(f.Addr().UnsafePointer())
	}
	return nil
}

type fieldKey struct {
	of   reflect.Type
	name string
}

var fields sync.Map // fieldKey to []int, nil if there is no such field

// field is a field of the runtime's representation of an object. If want is not nil, the field must have that type.
func field(o *goja.Object, name string, want reflect.Type) reflect.Value {
	self := reflect.ValueOf(o).Elem().FieldByName("self").Elem().Elem()
	key := fieldKey{self.Type(), name}
	path, known := fields.Load(key)
	if !known {
		index := []int(nil)
		if f, ok := key.of.FieldByName(name); ok && (want == nil || f.Type == want) {
			index = f.Index
		}
		path, _ = fields.LoadOrStore(key, index)
	}
	if index := path.([]int); index != nil {
		return self.FieldByIndex(index)
	}
	return reflect.Value{}
}
