package catalog

import (
	"cmp"
	"slices"
)

// ordered is a map that lists its values by rising key: order of creation,
// since keys are counters.
type ordered[K cmp.Ordered, V any] struct {
	values map[K]V
}

func (o *ordered[K, V]) set(key K, value V) {
	if o.values == nil {
		o.values = map[K]V{}
	}
	o.values[key] = value
}

func (o *ordered[K, V]) get(key K) (V, bool) {
	v, ok := o.values[key]
	return v, ok
}

func (o *ordered[K, V]) delete(key K) { delete(o.values, key) }

// list returns the values that keep accepts.
func (o *ordered[K, V]) list(keep func(V) bool) []V {
	var found []K
	for key, value := range o.values {
		if keep(value) {
			found = append(found, key)
		}
	}
	slices.Sort(found)
	list := make([]V, len(found))
	for i, key := range found {
		list[i] = o.values[key]
	}
	return list
}
