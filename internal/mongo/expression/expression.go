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

// A Scope is the environment in which an expression is evaluated. It belongs to one goroutine.
type Scope struct {
	Root    doc.Value   // $$ROOT
	Current doc.Value   // $$CURRENT, in which "$a" is looked up
	Vars    []doc.Value // user variables by the slot that Names gave them

	Now         time.Time // $$NOW, of the whole command
	ClusterTime doc.Value // $$CLUSTER_TIME, missing when stand-alone
	Random      func() float64

	// Meter counts the cost of evaluations; its error, a *code.Error, ends them. Nil counts nothing. Scopes of one
	// command share it.
	Meter *work.Meter

	arena []byte      // memory of results; see Reset
	stack []doc.Value // arguments of the operators that are being evaluated
	spare []*builder  // builders, the first open of them in use
	open  int
	built int // bytes of all builders
	held  int // bytes reported to Meter

	folding bool    // computing a constant, which must be small
	members members // see newMembers
}

// MaxResultBytes limits each value that an evaluation makes: the largest document, and room for what surrounds it.
const MaxResultBytes = 16<<20 + 16<<10

// Reset prepares the scope for another document. Values from earlier evaluations are no longer valid.
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

// Work is the scope's meter, nil for a nil scope.
func (s *Scope) Work() *work.Meter {
	if s == nil {
		return nil
	}
	return s.Meter
}

// Names assigns slots to variables. A child sees its parent's names.
type Names struct {
	slots map[string]int // a few of them
	outer *Names         // the other names, nil for none
	count int            // of all
	all   *together

	stable bool // only operators of the Stable API are allowed
}

// together is shared by all Names of a command.
type together struct {
	next      int                 // slots
	meter     work.Meter          // of what it costs to compile
	operators map[string]operator // see the variable of the same name
}

// Limits of variables: how many are visible at one place, and how many names a child copies from its parent.
const (
	MaxVariables = 10_000
	maxCopied    = 32
)

// NewNames makes Names without user variables.
func NewNames() *Names {
	return &Names{slots: map[string]int{}, all: &together{operators: operators}}
}

// NewStableNames is NewNames for commands with apiStrict: only version 1 of MongoDB's Stable API compiles.
// https://www.mongodb.com/docs/v7.0/reference/stable-api/
func NewStableNames() *Names {
	n := NewNames()
	n.stable = true
	return n
}

// StopBy sets the function that is called about once per millisecond of compiling with these names. Its error ends the
// compilation.
func (n *Names) StopBy(stop func() error) { n.all.meter.Stop = stop }

// Work is the meter for the cost of compiling with these names, nil when there is none.
func (n *Names) Work() *work.Meter {
	if n == nil {
		return nil
	}
	return &n.all.meter
}

// Stable reports whether only the Stable API is allowed.
func (n *Names) Stable() bool { return n.stable }

// With returns these names and one more, which may hide an outer one.
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

// Full fails with BadValue if there are MaxVariables names, the limit.
func (n *Names) Full() error {
	if n.count < MaxVariables {
		return nil
	}
	return code.New(code.BadValue, "more than %d variables are visible at one place", MaxVariables)
}

// Slot is the slot of a variable. It is not ok if there is no such variable.
func (n *Names) Slot(name string) (slot int, ok bool) {
	for ; n != nil; n = n.outer {
		if slot, ok = n.slots[name]; ok {
			return slot, true
		}
	}
	return 0, false
}

// Slots is the length of Vars that a Scope needs for all expressions compiled with these names.
func (n *Names) Slots() int { return n.all.next }

// eval returns a value; the zero Value is missing. Results may live in the scope's arena.
type eval func(s *Scope) (doc.Value, error)

// An Expression is compiled, immutable and safe for concurrent use with a Scope for each goroutine.
type Expression struct {
	run      eval
	constant bool
	value    doc.Value // if constant
	fixed    bool      // made of constants, variables and the time
	path     string    // "a.b" when it is a plain field path of $$CURRENT, else ""
}

// Evaluate returns the expression's value, the zero Value if it is missing. The value is valid until the scope's Reset.
// Errors are *code.Error.
func (x *Expression) Evaluate(s *Scope) (doc.Value, error) {
	open, stack := s.open, len(s.stack)
	v, err := x.run(s)
	s.open, s.stack = open, s.stack[:stack]
	return v, err
}

// Constant returns the value of a constant expression.
func (x *Expression) Constant() (v doc.Value, ok bool) { return x.value, x.constant }

// Fixed reports whether the value is the same for all documents, though it may need variables and the time.
func (x *Expression) Fixed() bool { return x.constant || x.fixed }

// FieldPath is the dotted path of an expression that is "$a.b", "" for others.
func (x *Expression) FieldPath() string { return x.path }

// maxDepth limits the nesting of expressions.
const maxDepth = 100

// Compile compiles an expression, which is any BSON value. names may be nil. Errors are *code.Error: an unknown
// operator is InvalidPipelineOperator "Unrecognized expression '$x'".
func Compile(v doc.Value, names *Names) (*Expression, error) {
	if names == nil {
		names = NewNames()
	}
	return compile(v, names, 0)
}

// Truthy reports whether MongoDB takes a value for true: all but false, null, undefined, missing values and numbers
// equal to 0.
func Truthy(v doc.Value) bool { return truthy(v) }

// An operator compiles the argument of one $operator. depth is the depth of its arguments, which it passes on to
// compile unchanged.
type operator func(arg doc.Value, names *Names, depth int) (*Expression, error)

// CheckStable refuses an operator that is not in the Stable API if nothing else is allowed.
func (n *Names) CheckStable(operator string) error {
	if n.stable && unstable[operator] {
		return code.Unstable(operator)
	}
	return nil
}
