package filter

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/expression"
	"github.com/mayflydb/mayfly/internal/mongo/work"
)

// in is {$in: [value, /regex/]}.
// https://www.mongodb.com/docs/v7.0/reference/operator/query/in/
func in(c *compiler, name string, arg doc.Value, at spot) (condition, error) {
	l, err := readList(name, arg, c.meter)
	if err != nil {
		return condition{}, err
	}
	return onPath(at.path, Both, l.test, &Node{Kind: In, Values: l.values, Patterns: l.described()}), nil
}

// notIn is {$nin: [value, /regex/]}.
func notIn(c *compiler, name string, arg doc.Value, at spot) (condition, error) {
	l, err := readList(name, arg, c.meter)
	if err != nil {
		return condition{}, err
	}
	node := &Node{Kind: NotIn, Path: at.path.text, Values: l.values, Patterns: l.described()}
	return negated(onPath(at.path, Both, l.test, &Node{Kind: In}), node), nil
}

// A list is the argument of $in.
type list struct {
	values   []doc.Value // sorted, without repetitions
	patterns []*regularExpression
	null     bool
}

func readList(name string, arg doc.Value, m *work.Meter) (*list, error) {
	if arg.Type != bsoncore.TypeArray {
		return nil, code.New(code.BadValue, "%s needs an array", name)
	}
	l := &list{}
	for e := range doc.Elements(arg) {
		if err := l.add(e, m); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(l.values, m.Compare)
	l.values = slices.CompactFunc(l.values, m.Equal)
	return l, m.Err()
}

func (l *list) add(v doc.Value, m *work.Meter) error {
	switch {
	case isOperators(v, false):
		return code.New(code.BadValue, "cannot nest $ under $in")
	case v.Type == bsoncore.TypeUndefined:
		return code.New(code.BadValue, "InMatchExpression equality cannot be undefined")
	case v.Type == bsoncore.TypeRegex:
		p, err := regularExpressionOf(v, m)
		l.patterns = append(l.patterns, p)
		return err
	}
	l.null = l.null || v.Type == bsoncore.TypeNull
	l.values = append(l.values, v)
	return m.Spend(2 * work.Element)
}

func (l *list) test(v doc.Value, s *expression.Scope, _ *Where) (bool, error) {
	if l.null && isNullish(v) {
		return true, nil
	}
	m := s.Work()
	if _, found := slices.BinarySearchFunc(l.values, v, m.Compare); found || m.Err() != nil {
		return true, m.Err()
	}
	for _, p := range l.patterns {
		if ok, err := p.accepts(v, m); ok || err != nil {
			return ok, err
		}
	}
	return false, nil
}

func (l *list) described() []Pattern {
	var list []Pattern
	for _, p := range l.patterns {
		list = append(list, p.described())
	}
	return list
}
