package pipeline

import (
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/expression"
	"github.com/mayflydb/mayfly/internal/mongo/work"
)

// A group is $group. Groups are yielded in the order of their first documents. A document of an existing group
// allocates nothing.
// https://www.mongodb.com/docs/v7.0/reference/operator/aggregation/group/
type group struct {
	stage  string
	key    func(s *expression.Scope) (doc.Value, error)
	fields []*statement
	counts func(n int64) doc.Doc // the only group, if the stage only counts documents; else nil
	path   string                // of the key, if it is a field and all fields count documents; else ""
}

func (s *group) name() string { return s.stage }

// A groupState is one group: its key and an accumulator for each field.
type groupState struct {
	key          doc.Value
	accumulators []accumulator
}

func (s *group) rows(r *run, in Rows) Rows {
	return func(yield func(doc.Doc, error) bool) {
		groups, err := s.collect(r, in)
		if err != nil {
			yield(nil, err)
			return
		}
		var buf []byte
		for _, g := range groups {
			buf, err = s.appendGroup(r.meter, buf[:0], g.key, g.accumulators)
			if err != nil {
				yield(nil, err)
				return
			}
			if !yield(buf, nil) {
				return
			}
		}
	}
}

func (s *group) collect(r *run, in Rows) ([]*groupState, error) {
	var groups []*groupState
	byKey := map[string]*groupState{}
	held := r.budget(s.stage)
	scope := r.scope()
	var canonical []byte
	for d, err := range in {
		if err != nil {
			return nil, err
		}
		scope.Reset(doc.Object(d))
		key, err := s.key(scope)
		if err != nil {
			return nil, err
		}
		key = orNull(key)
		canonical = doc.AppendCanonicalBSON(canonical[:0], key)
		if err := r.meter.Spend(work.Operator + work.Scanned(len(canonical))); err != nil {
			return nil, err
		}
		g := byKey[string(canonical)]
		if g == nil {
			if g, err = s.newGroup(key, scope, d); err != nil {
				return nil, err
			}
			byKey[string(canonical)] = g
			groups = append(groups, g)
			if err := held.take(len(canonical) + len(key.Data) + 200 + 100*len(s.fields)); err != nil {
				return nil, err
			}
		}
		grown, err := addTo(s.fields, g.accumulators, scope, d)
		if err != nil {
			return nil, err
		}
		if err := held.take(grown); err != nil {
			return nil, err
		}
	}
	return groups, nil
}

// addTo adds a document to the accumulators of a group.
func addTo(fields []*statement, accumulators []accumulator, scope *expression.Scope, d doc.Doc) (grown int, err error) {
	for i, f := range fields {
		n, err := f.add(accumulators[i], scope, d)
		if err != nil {
			return 0, err
		}
		grown += n
	}
	return grown, nil
}

// newGroup makes a group without documents. It leaves the scope as it was.
func (s *group) newGroup(key doc.Value, scope *expression.Scope, d doc.Doc) (*groupState, error) {
	g := &groupState{key: doc.Clone(key)}
	var err error
	g.accumulators, err = begin(s.fields, g.key, scope, d)
	return g, err
}

// begin makes the accumulators of a group. Their arguments named n may refer to the group's key.
func begin(fields []*statement, key doc.Value, scope *expression.Scope, d doc.Doc) ([]accumulator, error) {
	accumulators := make([]accumulator, len(fields))
	of := doc.Object(objectOrEmpty(key))
	for i, f := range fields {
		if f.n != nil {
			scope.Root, scope.Current = of, of
		}
		var err error
		accumulators[i], err = f.begin(scope)
		scope.Root, scope.Current = doc.Object(d), doc.Object(d)
		if err != nil {
			return nil, err
		}
	}
	return accumulators, nil
}

func (s *group) appendGroup(m *work.Meter, dst []byte, key doc.Value, accumulators []accumulator) ([]byte, error) {
	dst, at := beginDoc(dst)
	dst = doc.AppendElement(dst, "_id", key)
	dst, err := appendFields(m, dst, s.fields, accumulators)
	return endDoc(dst, at), err
}

func appendFields(m *work.Meter, dst []byte, fields []*statement, accumulators []accumulator) ([]byte, error) {
	for i, f := range fields {
		dst = doc.AppendElement(dst, f.name, orNull(accumulators[i].value(m)))
		if err := m.Spend(work.Operator); err != nil {
			return dst, err
		}
	}
	return dst, m.Err()
}

func parseGroup(c *compiler, arg doc.Value) (stage, error) {
	if !isObject(arg) {
		return nil, code.New(15947, "a group's fields must be specified in an object")
	}
	s := &group{stage: "$group"}
	for name, v := range doc.Members(arg.Data) {
		if name != "_id" {
			f, err := parseStatement(name, v, c.names)
			if err != nil {
				return nil, err
			}
			s.fields = append(s.fields, f)
			continue
		}
		if s.key != nil {
			return nil, code.New(15948, "a group's _id may only be specified once")
		}
		x, err := parseGroupKey(v, c.names)
		if err != nil {
			return nil, err
		}
		s.key, s.path = x.Evaluate, x.FieldPath()
	}
	if s.key == nil {
		return nil, code.New(15955, "a group specification must include an _id")
	}
	if s.counts = countingGroup(arg); !onlyCounts(arg) {
		s.path = ""
	}
	return s, nil
}

func parseGroupKey(v doc.Value, names *expression.Names) (*expression.Expression, error) {
	if isObject(v) && !isExpression(v) {
		for _, m := range doc.Members(v.Data) {
			if doc.IsNumberBSON(m) || m.Type == bsoncore.TypeBoolean {
				return nil, code.New(17390, "$group does not support inclusion-style expressions")
			}
		}
	}
	return expression.Compile(v, names)
}
