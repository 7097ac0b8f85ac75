package script

import (
	"reflect"
	"sync"

	"github.com/dop251/goja"
)

// maxBuiltIn is how many calls of built-in functions may be inside of each other.
const maxBuiltIn = 2_000

// watchBuiltIns makes every built-in function of the script's world count the calls that it
// is inside of, and look whether the script is to end. The runtime does so for JavaScript only.
// Where built-in functions call each other, as the text of {toString: String.prototype.trim}
// does for ever, the Go stack would be full, which ends the process; and an iterator that is
// {next: Object} would never come to an end.
//
// It replaces what the functions do and not the functions, since the runtime knows some
// of them by identity.
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

// watched is f, watched.
func (r *run) watched(f func(goja.FunctionCall) goja.Value) func(goja.FunctionCall) goja.Value {
	return func(call goja.FunctionCall) goja.Value {
		r.mayGoOn()
		if r.inside >= maxBuiltIn {
			r.throwRange("Maximum call stack size exceeded")
		}
		r.inside++
		defer func() { r.inside-- }()
		return f(call)
	}
}

// mayGoOn ends the script if it was told to stop. Nothing can catch that.
func (r *run) mayGoOn() {
	if why := r.why.Load(); why != nil {
		r.rt.Interrupt(*why)
		r.must(r.nothing(goja.Undefined())) // the runtime looks at its next step
	}
}

var nothingSource = goja.MustCompile(preludeName, `() => {}`, true)

// A way leads from one object of a world to another.
type way struct {
	from   int          // place of the object in the order in which they are found
	name   string       // of a member,
	symbol *goja.Symbol // or this,
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

// part is a part of the descriptor of a member, nil if there is none.
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

// waysToBuiltIns lead to all objects of a world that no script has changed. All
// worlds are the same, so they are looked for once: to ask for a descriptor takes long.
var waysToBuiltIns = sync.OnceValue(func() []way {
	r := newWorld()
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

var iteratorsSource = goja.MustCompile(preludeName, `[
	function* () {}, async function () {}, (function* () {})(), (function () { return arguments })(),
	[][Symbol.iterator](), new Map()[Symbol.iterator](), new Set()[Symbol.iterator](), ""[Symbol.iterator](), "".matchAll(/a/g),
]`, true)

// iterators is a list of what no name leads to.
func (r *run) iterators() *goja.Object {
	return r.must(r.rt.RunProgram(iteratorsSource)).ToObject(r.rt)
}

// goFunction is where a built-in function keeps what it does; nil for all else.
// The runtime has no other way to it, so a test makes sure that it is found.
func goFunction(o *goja.Object) *func(goja.FunctionCall) goja.Value {
	if f := field(o, "f", reflect.TypeFor[func(goja.FunctionCall) goja.Value]()); f.IsValid() {
		return (*func(goja.FunctionCall) goja.Value)(f.Addr().UnsafePointer())
	}
	return nil
}

// goConstructor is where a built-in class keeps what its new does; nil for all else.
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

var fields sync.Map // of fieldKey: []int, nil if there is no such field

// field is a field of what the runtime has behind an object, if it is of the type want or want is nil.
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
