package pipeline

import (
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
)

// A pushed is $push: all values in their order.
// https://www.mongodb.com/docs/v7.0/reference/operator/aggregation/push/
type pushed struct{ list list }

func (p *pushed) add(v doc.Value, _ doc.Doc) (int, error) {
	if v.Type == 0 {
		return 0, nil
	}
	before := cap(p.list.buf)
	p.list.add(v)
	return cap(p.list.buf) - before, nil
}

func (p *pushed) value() doc.Value { return p.list.value() }

// A set is $addToSet: all values, each once, in the order in which they came first.
// https://www.mongodb.com/docs/v7.0/reference/operator/aggregation/addToSet/
type set struct {
	pushed
	seen map[string]struct{}
	key  []byte
}

func (s *set) add(v doc.Value, d doc.Doc) (int, error) {
	if v.Type == 0 {
		return 0, nil
	}
	s.key = doc.AppendCanonicalBSON(s.key[:0], v)
	if _, ok := s.seen[string(s.key)]; ok {
		return 0, nil
	}
	if s.seen == nil {
		s.seen = map[string]struct{}{}
	}
	s.seen[string(s.key)] = struct{}{}
	grown, err := s.pushed.add(v, d)
	return grown + len(s.key) + 32, err
}

// A merged is $mergeObjects: one object with the members of all, later ones winning.
// https://www.mongodb.com/docs/v7.0/reference/operator/aggregation/mergeObjects/
type merged struct{ now, next []byte }

func (m *merged) add(v doc.Value, _ doc.Doc) (int, error) {
	if nullish(v) {
		return 0, nil
	}
	if !isObject(v) {
		return 0, code.New(40400, "$mergeObjects requires object inputs, but input %s is of type %s", show(v), typeName(v))
	}
	before := cap(m.now) + cap(m.next)
	m.next = appendMerged(m.next[:0], m.now, v.Data)
	m.now, m.next = m.next, m.now
	return cap(m.now) + cap(m.next) - before, nil
}

func (m *merged) value() doc.Value {
	if len(m.now) == 0 {
		return doc.Object(emptyDoc)
	}
	return doc.Object(m.now)
}
