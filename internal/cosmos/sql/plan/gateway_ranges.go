package plan

import (
	"cmp"
	"slices"
	"strings"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/cosmos/sql/function"
	"github.com/mayflydb/mayfly/internal/cosmos/sql/syntax"
	"github.com/mayflydb/mayfly/internal/doc"
)

const (
	// maxGatewayKeys is how many partition keys a filter may select before the plan queries all ranges. The service
	// allows 16,000 values in IN.
	maxGatewayKeys = 16_000
	// maxGatewayPairs limits the work for one AND.
	maxGatewayPairs = 1 << 16
)

// A gatewayKey is a filter's condition on the parts of a partition key.
type gatewayKey []gatewayPart

// A gatewayPart is the condition on one part: any value, or a single value.
type gatewayPart struct {
	set   bool
	value doc.Value // undefined stands for everything that cannot be part of a key
}

// gatewayKeys are the partition keys for which a condition may be true: all, or those in the list.
type gatewayKeys struct {
	all  bool
	list []gatewayKey
}

var gatewayAll = gatewayKeys{all: true}

func gatewayNone() gatewayKeys { return gatewayKeys{} }

// ranges returns the ranges of the query, sorted and without overlap, and whether they are a single partition key or
// empty.
func (g *gatewayPlanner) ranges() (ranges []GatewayRange, one bool) {
	whole := []GatewayRange{{Min: "", Max: "FF", MinInclusive: true}}
	keys := g.keys()
	if keys.all {
		return whole, false
	}
	if len(keys.list) == 0 {
		// No document matches; the first range answers.
		return []GatewayRange{{MinInclusive: true, MaxInclusive: true}}, true
	}
	for _, key := range keys.list {
		r, ok := g.keyRange(key)
		if !ok {
			return whole, false
		}
		ranges = append(ranges, r)
	}
	ranges = gatewayDisjoint(ranges)
	return ranges, len(ranges) == 1 && ranges[0].point()
}

// keyRange is the range of a key, or of all keys with a prefix of a hierarchical key.
func (g *gatewayPlanner) keyRange(key gatewayKey) (r GatewayRange, ok bool) {
	var values []doc.Value
	for _, part := range key {
		if !part.set {
			break
		}
		values = append(values, part.value)
	}
	if len(values) == 0 || len(values) < len(key) && !g.Hierarchical {
		return r, false
	}
	epk := g.EPK(values)
	if len(values) < len(key) {
		return GatewayRange{Min: epk, Max: epk + "FF", MinInclusive: true}, true
	}
	return GatewayRange{Min: epk, Max: epk, MinInclusive: true, MaxInclusive: true}, true
}

// gatewayDisjoint sorts ranges and drops those within others. They are points and prefixes, so two ranges are either
// nested or disjoint.
func gatewayDisjoint(ranges []GatewayRange) []GatewayRange {
	slices.SortFunc(ranges, func(a, b GatewayRange) int {
		return cmp.Or(strings.Compare(a.Min, b.Min), strings.Compare(b.Max, a.Max))
	})
	kept := ranges[:1]
	for _, r := range ranges[1:] {
		last := kept[len(kept)-1]
		if r != last && r.Min >= last.Max {
			kept = append(kept, r)
		}
	}
	return kept
}

// keys are the partition keys for which the query can have rows.
func (g *gatewayPlanner) keys() gatewayKeys {
	q := g.q
	if len(q.From) == 0 {
		return gatewayNone()
	}
	f := &q.From[0]
	if q.Where == nil || f.Query != nil || f.In {
		return gatewayAll
	}
	s := gatewayScope{gatewayPlanner: g, root: f.Name()}
	for _, step := range f.Path {
		l, ok := step.(*syntax.Literal)
		if !ok || l.Kind != syntax.String {
			return gatewayAll
		}
		s.prefix = append(s.prefix, l.Text)
	}
	return s.holds(q.Where, true)
}

// A gatewayScope finds partition key values in conditions in which root is the name of a document, or of the value at
// prefix in it.
type gatewayScope struct {
	*gatewayPlanner
	root   string
	prefix []string
}

// holds are the keys of documents for which e may evaluate to want. If that cannot be determined, it returns all
// keys.
func (s *gatewayScope) holds(e syntax.Expr, want bool) gatewayKeys {
	switch x := e.(type) {
	case *syntax.Unary:
		if x.Op == syntax.Not {
			return s.holds(x.X, !want)
		}
	case *syntax.Binary:
		switch x.Op {
		case syntax.And, syntax.Or:
			a, b := s.holds(x.X, want), s.holds(x.Y, want)
			if want == (x.Op == syntax.And) {
				return s.both(a, b)
			}
			return gatewayEither(a, b)
		case syntax.Eq, syntax.Ne, syntax.Lt, syntax.Le, syntax.Gt, syntax.Ge:
			if _, ok := s.Constant(x); !ok {
				return s.comparison(x, want)
			}
		}
	case *syntax.Member, *syntax.Index:
		if at, ok := s.part(e); ok {
			return s.equal(at, doc.Bool(want))
		}
	}
	if v, ok := s.Constant(e); ok {
		if b, ok := doc.AsBool(v); ok && b == want {
			return gatewayAll
		}
		return gatewayNone()
	}
	if !want {
		return gatewayAll
	}
	switch x := e.(type) {
	case *syntax.In:
		return s.in(x)
	case *syntax.Call:
		return s.call(x)
	}
	return gatewayAll
}

// comparison is holds for comparison operators. Both operands must be defined in any case, so filters in scalar
// subqueries also restrict the keys.
func (s *gatewayScope) comparison(x *syntax.Binary, want bool) gatewayKeys {
	keys := s.both(s.defined(x.X), s.defined(x.Y))
	if !want || x.Op != syntax.Eq {
		return keys
	}
	for _, sides := range [2][2]syntax.Expr{{x.X, x.Y}, {x.Y, x.X}} {
		v, ok := s.Constant(sides[1])
		if !ok {
			continue
		}
		if at, ok := s.part(sides[0]); ok {
			if doc.IsUndefined(v) {
				return gatewayNone()
			}
			return s.both(keys, s.equal(at, v))
		}
		if call, ok := sides[0].(*syntax.Call); ok {
			return s.both(keys, s.absolute(call, v))
		}
	}
	return keys
}

// defined are the keys for which e may be defined: those for which a scalar subquery over the same document may have
// a row.
func (s *gatewayScope) defined(e syntax.Expr) gatewayKeys {
	x, ok := e.(*syntax.Subquery)
	if !ok || x.Kind != syntax.Scalar {
		return gatewayAll
	}
	q := x.Query
	if q.Where == nil || len(q.From) != 1 || len(q.GroupBy) > 0 || aggregates(q) {
		return gatewayAll
	}
	f := &q.From[0]
	if f.Root != s.root || len(f.Path) > 0 || f.In {
		return gatewayAll
	}
	inner := *s
	inner.root = f.Name()
	return inner.holds(q.Where, true)
}

// absolute are the keys for which ABS(key) = v.
func (s *gatewayScope) absolute(call *syntax.Call, v doc.Value) gatewayKeys {
	if call.UDF || !strings.EqualFold(call.Name, "ABS") || len(call.Args) != 1 {
		return gatewayAll
	}
	at, ok := s.part(call.Args[0])
	f, number := doc.AsFloat(v)
	if !ok || !number || f < 0 {
		return gatewayAll
	}
	return gatewayEither(s.equal(at, doc.Float(f)), s.equal(at, doc.Float(-f)))
}

func (s *gatewayScope) in(x *syntax.In) gatewayKeys {
	at, ok := s.part(x.X)
	if !ok || x.Not || len(x.List) > maxGatewayKeys {
		return gatewayAll
	}
	keys := gatewayKeys{list: make([]gatewayKey, 0, len(x.List))}
	for _, e := range x.List {
		v, ok := s.Constant(e)
		if !ok || !gatewayScalar(v) {
			return gatewayAll
		}
		keys.list = append(keys.list, s.key(at, v))
	}
	return keys
}

func (s *gatewayScope) call(x *syntax.Call) gatewayKeys {
	if x.UDF || len(x.Args) == 0 {
		return gatewayAll
	}
	name := strings.ToUpper(x.Name)
	if name == "ARRAY_CONTAINS" || name == "_TRY_ARRAY_CONTAINS" {
		return s.arrayContains(x.Args)
	}
	at, ok := s.part(x.Args[0])
	switch {
	case !ok || len(x.Args) != 1:
	case name == "IS_NULL":
		return s.equal(at, doc.Null())
	case name == "IS_BOOL":
		return gatewayEither(s.equal(at, doc.Bool(false)), s.equal(at, doc.Bool(true)))
	}
	return gatewayAll
}

// arrayContains is IN with a constant array.
func (s *gatewayScope) arrayContains(args []syntax.Expr) gatewayKeys {
	if len(args) != 2 {
		return gatewayAll
	}
	at, ok := s.part(args[1])
	if !ok {
		return gatewayAll
	}
	array, ok := s.Constant(args[0])
	if !ok || !doc.IsArray(array) {
		return gatewayAll
	}
	var keys gatewayKeys
	for v := range doc.Elements(array) {
		if !gatewayScalar(v) || len(keys.list) == maxGatewayKeys {
			return gatewayAll
		}
		keys.list = append(keys.list, s.key(at, v))
	}
	return keys
}

// part is the index of the part of the partition key that e refers to.
func (s *gatewayScope) part(e syntax.Expr) (at int, ok bool) {
	names, ok := s.path(e)
	if !ok {
		return 0, false
	}
	at = slices.IndexFunc(s.Partition, func(p access.Path) bool {
		return slices.EqualFunc(p, names, func(step access.Step, name string) bool {
			return !step.Element && step.Name == name
		})
	})
	return at, at >= 0
}

// path is the path from the document to e.
func (s *gatewayScope) path(e syntax.Expr) (names []string, ok bool) {
	switch x := e.(type) {
	case *syntax.Name:
		return slices.Clone(s.prefix), x.Name == s.root
	case *syntax.Member:
		names, ok = s.path(x.Of)
		return append(names, x.Name), ok
	case *syntax.Index:
		v, _ := s.Constant(x.Index)
		name, text := doc.AsString(v)
		if !text {
			return nil, false
		}
		names, ok = s.path(x.Of)
		return append(names, name), ok
	}
	return nil, false
}

func (s *gatewayScope) equal(at int, v doc.Value) gatewayKeys {
	return gatewayKeys{list: []gatewayKey{s.key(at, v)}}
}

func (s *gatewayScope) key(at int, v doc.Value) gatewayKey {
	key := make(gatewayKey, len(s.Partition))
	if !gatewayScalar(v) {
		v = doc.Value{}
	}
	key[at] = gatewayPart{set: true, value: v}
	return key
}

// gatewayScalar reports that a value can be part of a key.
func gatewayScalar(v doc.Value) bool {
	r := doc.RankOf(v)
	return doc.RankNull <= r && r <= doc.RankString && function.Finite(v)
}

func gatewayEither(a, b gatewayKeys) gatewayKeys {
	if a.all || b.all || len(a.list)+len(b.list) > maxGatewayKeys {
		return gatewayAll
	}
	return gatewayKeys{list: append(a.list, b.list...)} // no one else uses the space after a.list
}

// both is the intersection of a and b. If that is too much work, it returns one of them: more ranges do no harm.
func (s *gatewayScope) both(a, b gatewayKeys) gatewayKeys {
	switch {
	case a.all:
		return b
	case b.all:
		return a
	case len(a.list)*len(b.list) > maxGatewayPairs:
		if len(a.list) < len(b.list) {
			return a
		}
		return b
	}
	var keys gatewayKeys
	for _, x := range a.list {
		for _, y := range b.list {
			if key, ok := x.and(y); ok {
				keys.list = append(keys.list, key)
			}
		}
	}
	if len(keys.list) > maxGatewayKeys {
		return gatewayAll
	}
	return keys
}

func (k gatewayKey) and(other gatewayKey) (key gatewayKey, ok bool) {
	key = slices.Clone(k)
	for i, part := range other {
		switch {
		case !part.set:
		case !key[i].set:
			key[i] = part
		case !doc.Equal(key[i].value, part.value):
			return nil, false
		}
	}
	return key, true
}
