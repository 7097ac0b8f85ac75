package expression

import (
	"strings"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
)

// compileArray compiles [a, b, ...]: an array of the values, null for missing ones.
func compileArray(v doc.Value, names *Names, depth int) (*Expression, error) {
	var elements []*Expression
	for e := range doc.Elements(v) {
		x, err := compile(e, names, depth+1)
		if err != nil {
			return nil, err
		}
		elements = append(elements, x)
	}
	return fold(&Expression{run: func(s *Scope) (doc.Value, error) {
		b := s.array()
		for _, x := range elements {
			mark := s.mark()
			v, err := x.run(s)
			if err != nil {
				return v, err
			}
			if err := b.add(v); err != nil {
				return doc.Value{}, err
			}
			s.release(mark)
		}
		return b.done()
	}}, elements...), nil
}

// compileMembers compiles {name: a, ...}: an object of the values, without missing ones.
func compileMembers(v doc.Value, names *Names, depth int) (*Expression, error) {
	var keys []string
	var members []*Expression
	seen := map[string]bool{}
	for name, member := range doc.Members(v.Data) {
		if err := CheckName(name); err != nil {
			return nil, err
		}
		name = strings.Clone(name)
		if seen[name] {
			return nil, code.New(16406, "duplicate field name specified in object literal: %s", code.Show(v))
		}
		seen[name] = true
		x, err := compile(member, names, depth+1)
		if err != nil {
			return nil, err
		}
		keys, members = append(keys, name), append(members, x)
	}
	return fold(&Expression{run: func(s *Scope) (doc.Value, error) {
		b := s.object()
		for i, x := range members {
			mark := s.mark()
			v, err := x.run(s)
			if err != nil {
				return v, err
			}
			if err := b.set(keys[i], v); err != nil {
				return doc.Value{}, err
			}
			s.release(mark)
		}
		return b.done()
	}}, members...), nil
}
