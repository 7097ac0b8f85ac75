package pipeline

import (
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/work"
)

// A firstValue is $first.
// https://www.mongodb.com/docs/v7.0/reference/operator/aggregation/first/
type firstValue struct {
	kept
	some bool
}

func (f *firstValue) add(m *work.Meter, v doc.Value, _ doc.Doc) (int, error) {
	if f.some {
		return 0, nil
	}
	f.some = true
	return f.set(v), nil
}

func (f *firstValue) value(m *work.Meter) doc.Value { return f.get() }

// A lastValue is $last.
// https://www.mongodb.com/docs/v7.0/reference/operator/aggregation/last/
type lastValue struct{ kept }

func (l *lastValue) add(m *work.Meter, v doc.Value, _ doc.Doc) (int, error) { return l.set(v), nil }
func (l *lastValue) value(m *work.Meter) doc.Value                          { return l.get() }

// An extreme is $max or, with sign -1, $min. It ignores null and missing values.
// https://www.mongodb.com/docs/v7.0/reference/operator/aggregation/max/
type extreme struct {
	kept
	sign int
}

func (e *extreme) add(m *work.Meter, v doc.Value, _ doc.Doc) (int, error) {
	if nullish(v) || e.kind != 0 && m.Compare(v, e.get())*e.sign <= 0 {
		return 0, nil
	}
	return e.set(v), nil
}

func (e *extreme) value(m *work.Meter) doc.Value { return e.get() }
