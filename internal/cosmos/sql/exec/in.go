package exec

import (
	"strings"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/cosmos/sql/function"
	"github.com/mayflydb/mayfly/internal/doc"
)

// fewConstants is up to how many constants IN compares one by one.
const fewConstants = 6

// membership is x IN (list): undefined if x is undefined, else whether an element equals x. Elements that are
// undefined or NaN equal nothing.
func (c *compiler) membership(x eval, list []node) test {
	var constants []doc.Value
	var others []eval
	for _, n := range list {
		if c.spend(len(n.value.Data)); c.err != nil {
			break
		}
		if !n.constant {
			others = append(others, n.eval())
		} else if n.value.Type != 0 && !function.HasNaN(n.value) {
			constants = append(constants, n.value)
		}
	}
	known := c.constantSet(constants)
	return func(f *frame) tri {
		v := x(f)
		if v.Type == 0 || !f.spend(len(v.Data)) {
			return unknown
		}
		if known.has(v) {
			return yes
		}
		for _, other := range others {
			o := other(f)
			if !f.spendBoth(v, o) {
				return unknown
			}
			if equal(v, o) == yes {
				return yes
			}
		}
		return no
	}
}

// A constantSet is a set of constants with fast lookup.
type constantSet struct {
	texts map[string]struct{}
	ints  map[int64]struct{}
	rest  []doc.Value
	keys  map[string]struct{} // keys of rest, if it is long
}

func (c *compiler) constantSet(values []doc.Value) *constantSet {
	s := &constantSet{}
	if len(values) <= fewConstants {
		s.rest = values
		return s
	}
	s.texts, s.ints = map[string]struct{}{}, map[int64]struct{}{}
	for _, v := range values {
		if t, ok := doc.AsString(v); ok {
			if _, ok := s.texts[t]; !ok {
				s.texts[strings.Clone(t)] = struct{}{}
				c.keep(len(t))
			}
		} else if i, ok := doc.AsInt(v); ok {
			s.ints[i] = struct{}{}
		} else {
			s.rest = append(s.rest, v)
		}
	}
	if len(s.rest) > fewConstants {
		s.keys = map[string]struct{}{}
		var key []byte
		for _, v := range s.rest {
			if c.spend(len(v.Data)); c.err != nil {
				break
			}
			key = appendKey(key[:0], v)
			if _, ok := s.keys[string(key)]; !ok {
				s.keys[string(key)] = struct{}{}
				c.keep(len(key))
			}
		}
	}
	return s
}

func (s *constantSet) has(v doc.Value) bool {
	if s.texts != nil {
		if v.Type == bsoncore.TypeString {
			t, _ := doc.AsString(v)
			_, ok := s.texts[t]
			return ok
		}
		if i, ok := doc.AsInt(v); ok {
			_, ok := s.ints[i]
			return ok
		}
	}
	if s.keys != nil {
		var space [128]byte
		_, ok := s.keys[string(appendKey(space[:0], v))]
		return ok
	}
	for _, r := range s.rest {
		if doc.Equal(v, r) {
			return true
		}
	}
	return false
}
