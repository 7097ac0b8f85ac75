// Package expression has the aggregation expressions of MongoDB: "$field" paths,
// literals and operators such as {$add: [1, "$a"]}, compiled once and evaluated
// over raw BSON. An operator's parsing, checks and work sit together in the file of
// its family. It never changes a document and never reads a clock.
// https://www.mongodb.com/docs/v7.0/reference/operator/aggregation/
package expression

import (
	"time"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/work"
)

// A Scope is what an expression is evaluated in. It belongs to one goroutine.
type Scope struct {
	Root    doc.Value   // $$ROOT
	Current doc.Value   // $$CURRENT, what "$a" looks into
	Vars    []doc.Value // user variables by the slot that Names gave them

	Now         time.Time // $$NOW, of the whole command
	ClusterTime doc.Value // $$CLUSTER_TIME, missing when stand-alone
	Random      func() float64

	// Meter counts what evaluations cost; the error that it gives, a *code.Error, ends
	// them. Nil never does. Scopes of one command share it.
	Meter *work.Meter

	arena []byte      // what results are made of; see Reset
	stack []doc.Value // arguments of the operators at work
	spare []*builder  // builders, the first open of them in use
	open  int
	built int // bytes of all builders
	held  int // bytes that Meter was told of

	folding bool    // a constant is made, which must be small
	members members // see newMembers
}

// MaxResultBytes bounds each value that an evaluation makes: the size of a document with
// room for what surrounds it.
const MaxResultBytes = 16<<20 + 16<<10

// Reset makes the scope ready for another document. Values that earlier
// evaluations gave are no longer valid.
func (s *Scope) Reset(root doc.Value) {
	s.Root, s.Current = root, root
	s.arena, s.open = s.arena[:0], 0
	if cap(s.arena) > keptArenaBytes {
		s.arena = nil
	}
	if s.stack = s.stack[:0]; cap(s.stack) > keptStack {
		s.stack = nil
	}
	_ = s.hold() // less than before, or as much
}

// Work is the scope's meter, nil when there is no scope.
func (s *Scope) Work() *work.Meter {
	if s == nil {
		return nil
	}
	return s.Meter
}

// Names gives slots to variables. A child sees its parent's names.
type Names struct {
	slots map[string]int // a few of them
	outer *Names         // the others, nil for none
	count int            // of all
	all   *together

	stable bool // only the Stable API's operators are there
}

// together is what all names of a command share.
type together struct {
	next      int                 // slots
	meter     work.Meter          // of what it costs to compile
	operators map[string]operator // see the variable of the same name
}

// Limits of variables: how many can be seen at one place, and how many names a child
// copies from its parent at most.
const (
	MaxVariables = 10_000
	maxCopied    = 32
)

// NewNames begins with no user variables.
func NewNames() *Names {
	return &Names{slots: map[string]int{}, all: &together{operators: operators}}
}

// NewStableNames begins with no user variables too. What is compiled with these names may have nothing
// but version 1 of MongoDB's Stable API.
// https://www.mongodb.com/docs/v7.0/reference/stable-api/
func NewStableNames() *Names {
	n := NewNames()
	n.stable = true
	return n
}

// StopBy has stop asked about once in a millisecond while something is compiled with these names, which ends with
// its error.
func (n *Names) StopBy(stop func() error) { n.all.meter.Stop = stop }

// Work is the meter of what it costs to compile with these names, nil when there is none.
func (n *Names) Work() *work.Meter {
	if n == nil {
		return nil
	}
	return &n.all.meter
}

// Stable reports whether there may be nothing but the Stable API.
func (n *Names) Stable() bool { return n.stable }

// With is these names and one more, which may hide an outer one.
func (n *Names) With(name string) (inner *Names, slot int) {
	slot = n.all.next
	n.all.next++
	inner = &Names{outer: n, count: n.count + 1, all: n.all, stable: n.stable}
	if len(n.slots) >= maxCopied {
		inner.slots = map[string]int{name: slot}
		return inner, slot
	}
	inner.outer, inner.slots = n.outer, make(map[string]int, len(n.slots)+1)
	for k, v := range n.slots {
		inner.slots[k] = v
	}
	inner.slots[name] = slot
	return inner, slot
}

// Full fails with BadValue when there are MaxVariables names, so that none may be added.
func (n *Names) Full() error {
	if n.count < MaxVariables {
		return nil
	}
	return code.New(code.BadValue, "more than %d variables at one place", MaxVariables)
}

// Slot is where a variable is, false when there is none of that name.
func (n *Names) Slot(name string) (slot int, ok bool) {
	for ; n != nil; n = n.outer {
		if slot, ok = n.slots[name]; ok {
			return slot, true
		}
	}
	return 0, false
}

// Slots is how many a Scope needs in Vars for everything compiled with these names.
func (n *Names) Slots() int { return n.all.next }

// eval gives a value; the zero Value is missing. Results may live in the scope's arena.
type eval func(s *Scope) (doc.Value, error)

// An Expression is compiled. It is immutable and safe for concurrent use with a Scope each.
type Expression struct {
	run      eval
	constant bool
	value    doc.Value // when constant
	path     string    // "a.b" when it is a plain field path of $$CURRENT, else ""
}

// Evaluate gives the expression's value, the zero Value when it is missing. The value
// is valid until the scope's Reset. Errors are *code.Error.
func (x *Expression) Evaluate(s *Scope) (doc.Value, error) {
	open, stack := s.open, len(s.stack)
	v, err := x.run(s)
	s.open, s.stack = open, s.stack[:stack]
	return v, err
}

// Constant is the value of an expression that depends on nothing.
func (x *Expression) Constant() (v doc.Value, ok bool) { return x.value, x.constant }

// FieldPath is the dotted path of an expression that is "$a.b", "" for others.
func (x *Expression) FieldPath() string { return x.path }

// maxDepth bounds how deep expressions nest.
const maxDepth = 100

// Compile reads an expression: any BSON value. Errors are *code.Error: an unknown operator is
// InvalidPipelineOperator "Unrecognized expression '$x'".
func Compile(v doc.Value, names *Names) (*Expression, error) {
	if names == nil {
		names = NewNames()
	}
	return compile(v, names, 0)
}

// Truthy is how MongoDB reads a value as a condition: false, null, undefined, missing and
// numbers equal to 0 are false.
func Truthy(v doc.Value) bool { return truthy(v) }

// An operator compiles the argument of one $operator. It hands depth on to compile as it
// is: the depth of its arguments.
type operator func(arg doc.Value, names *Names, depth int) (*Expression, error)

// CheckStable refuses an operator that is not in the Stable API if nothing else is allowed.
func (n *Names) CheckStable(operator string) error {
	if n.stable && unstable[operator] {
		return code.Unstable(operator)
	}
	return nil
}
