package pipeline

import "github.com/mayflydb/mayfly/internal/doc"

// A firstValue is $first.
// https://www.mongodb.com/docs/v7.0/reference/operator/aggregation/first/
type firstValue struct {
	kept
	some bool
}

func (f *firstValue) add(v doc.Value, _ doc.Doc) (int, error) {
	if f.some {
		return 0, nil
	}
	f.some = true
	return f.set(v), nil
}

func (f *firstValue) value() doc.Value { return f.get() }

// A lastValue is $last.
// https://www.mongodb.com/docs/v7.0/reference/operator/aggregation/last/
type lastValue struct{ kept }

func (l *lastValue) add(v doc.Value, _ doc.Doc) (int, error) { return l.set(v), nil }
func (l *lastValue) value() doc.Value                        { return l.get() }

// An extreme is $max or, with sign -1, $min: null and missing values aside.
// https://www.mongodb.com/docs/v7.0/reference/operator/aggregation/max/
type extreme struct {
	kept
	sign int
}

func (e *extreme) add(v doc.Value, _ doc.Doc) (int, error) {
	if nullish(v) || e.kind != 0 && doc.CompareBSON(v, e.get())*e.sign <= 0 {
		return 0, nil
	}
	return e.set(v), nil
}

func (e *extreme) value() doc.Value { return e.get() }
