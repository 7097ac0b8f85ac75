package pipeline

import (
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/work"
)

// A pushed is $push: all values, in order.
// https://www.mongodb.com/docs/v7.0/reference/operator/aggregation/push/
type pushed struct{ list list }

func (p *pushed) add(m *work.Meter, v doc.Value, _ doc.Doc) (int, error) {
	if v.Type == 0 {
		return 0, nil
	}
	before := cap(p.list.buf)
	p.list.add(v)
	return cap(p.list.buf) - before, nil
}

func (p *pushed) value(m *work.Meter) doc.Value {
	_ = m.Spend(work.Copied(len(p.list.buf)))
	return p.list.value()
}

// A set is $addToSet: each value once, in the order of first occurrence.
// https://www.mongodb.com/docs/v7.0/reference/operator/aggregation/addToSet/
type set struct {
	pushed
	seen map[string]struct{}
	key  []byte
}

func (s *set) add(m *work.Meter, v doc.Value, d doc.Doc) (int, error) {
	if v.Type == 0 {
		return 0, nil
	}
	s.key = doc.AppendCanonicalBSON(s.key[:0], v)
	_ = m.Spend(work.Scanned(len(s.key)))
	if _, ok := s.seen[string(s.key)]; ok {
		return 0, nil
	}
	if s.seen == nil {
		s.seen = map[string]struct{}{}
	}
	s.seen[string(s.key)] = struct{}{}
	grown, err := s.pushed.add(m, v, d)
	return grown + len(s.key) + 32, err
}

// A merged is $mergeObjects: one object with the members of all. Of two members with one name the later one stays.
// https://www.mongodb.com/docs/v7.0/reference/operator/aggregation/mergeObjects/
type merged struct{ now, next []byte }

func (a *merged) add(m *work.Meter, v doc.Value, _ doc.Doc) (int, error) {
	if nullish(v) {
		return 0, nil
	}
	if !isObject(v) {
		return 0, code.New(40400, "$mergeObjects requires object inputs, but input %s is of type %s", code.Show(v),
			code.TypeName(v))
	}
	before := cap(a.now) + cap(a.next)
	a.next = appendMerged(m, a.next[:0], a.now, v.Data)
	a.now, a.next = a.next, a.now
	return cap(a.now) + cap(a.next) - before, m.Err()
}

func (a *merged) value(m *work.Meter) doc.Value {
	_ = m.Spend(work.Copied(len(a.now)))
	if len(a.now) == 0 {
		return doc.Object(doc.Empty)
	}
	return doc.Object(a.now)
}
