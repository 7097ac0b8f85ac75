package expression

import (
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/work"
)

// The array operators; array_*.go has more of them.
// https://www.mongodb.com/docs/v7.0/reference/operator/aggregation/#array-expression-operators

// length counts the elements of an array.
func (s *Scope) length(array doc.Value) (n int, err error) {
	for range doc.Elements(array) {
		n++
		if err := s.spend(work.Element); err != nil {
			return 0, err
		}
	}
	return n, nil
}

// element is the element at an index, which counts from the end if it is negative. It is missing if there is none.
func (s *Scope) element(array doc.Value, index int) (doc.Value, error) {
	if index < 0 {
		n, err := s.length(array)
		if index += n; index < 0 || err != nil {
			return doc.Value{}, err
		}
	}
	for e := range doc.Elements(array) {
		if index == 0 {
			return e, nil
		}
		index--
		if err := s.spend(work.Element); err != nil {
			return doc.Value{}, err
		}
	}
	return doc.Value{}, nil
}

// collect pushes the elements of an array on the stack; drop removes them. They stay valid if more values are pushed
// above them.
func (s *Scope) collect(array doc.Value) ([]doc.Value, error) {
	base := len(s.stack)
	for e := range doc.Elements(array) {
		s.stack = append(s.stack, e)
		if err := s.spend(2 * work.Element); err != nil {
			return nil, err
		}
	}
	return s.stack[base:], s.hold()
}

func (s *Scope) drop(n int) { s.stack = s.stack[:len(s.stack)-n] }

// arrayOf makes an array of values.
func (s *Scope) arrayOf(values []doc.Value) (doc.Value, error) {
	b := s.array()
	for _, v := range values {
		if err := b.add(v); err != nil {
			return doc.Value{}, err
		}
	}
	return b.done()
}

func arrayElemAt(s *Scope, array, index doc.Value) (doc.Value, error) {
	switch {
	case nullish(array) || nullish(index):
		return null, nil
	case !doc.IsArray(array):
		return doc.Value{}, code.New(28689, "$arrayElemAt's first argument must be an array, but is %s",
			code.TypeName(array))
	case !doc.IsNumberBSON(index):
		return doc.Value{}, code.New(28690, "$arrayElemAt's second argument must be a numeric value, but is %s",
			code.TypeName(index))
	}
	i, ok := whole32(index)
	if !ok {
		return doc.Value{}, code.New(28691,
			"$arrayElemAt's second argument must be representable as a 32-bit integer: %s", code.Show(index))
	}
	return s.element(array, int(i))
}

// end is the first or the last element.
func end(name string, index int) func(*Scope, doc.Value) (doc.Value, error) {
	return func(s *Scope, array doc.Value) (doc.Value, error) {
		switch {
		case nullish(array):
			return null, nil
		case !doc.IsArray(array):
			return doc.Value{}, code.New(28689, "%s's argument must be an array, but is %s", name, code.TypeName(array))
		}
		return s.element(array, index)
	}
}

func concatArrays(s *Scope, args []doc.Value) (doc.Value, error) {
	for _, v := range args {
		if nullish(v) {
			return null, nil
		}
		if !doc.IsArray(v) {
			return doc.Value{}, code.New(28664, "$concatArrays only supports arrays, not %s", code.TypeName(v))
		}
	}
	b := s.array()
	for _, v := range args {
		for e := range doc.Elements(v) {
			if err := b.add(e); err != nil {
				return doc.Value{}, err
			}
		}
	}
	return b.done()
}

func in(s *Scope, v, array doc.Value) (doc.Value, error) {
	if !doc.IsArray(array) {
		return doc.Value{}, code.New(40081, "$in requires an array as a second argument, found: %s",
			code.TypeName(array))
	}
	for e := range doc.Elements(array) {
		if s.Meter.Equal(e, v) {
			return trueValue, s.Meter.Err()
		}
	}
	return falseValue, s.Meter.Err()
}

func indexOfArray(s *Scope, args []doc.Value) (doc.Value, error) {
	if nullish(args[0]) {
		return null, nil
	}
	if !doc.IsArray(args[0]) {
		return doc.Value{}, code.New(40090, "$indexOfArray requires an array as a first argument, found: %s",
			code.TypeName(args[0]))
	}
	bounds := [2]int32{0, 1<<31 - 1}
	for i, v := range args[2:] {
		var err error
		if bounds[i], err = bound("$indexOfArray", [...]string{"starting", "ending"}[i], v); err != nil {
			return doc.Value{}, err
		}
	}
	i := int32(0)
	for e := range doc.Elements(args[0]) {
		if i >= bounds[1] {
			break
		}
		if i >= bounds[0] && s.Meter.Equal(e, args[1]) {
			return s.int32(i), s.Meter.Err()
		}
		i++
		if err := s.spend(work.Element); err != nil {
			return doc.Value{}, err
		}
	}
	return s.int32(-1), s.Meter.Err()
}

// bound parses the index at which a search starts or ends.
func bound(name, which string, v doc.Value) (int32, error) {
	i, ok := whole32(v)
	switch {
	case !ok:
		return 0, code.New(40096, "%s requires an integral %s index, found a value of type: %s, with value: %s", name,
			which, code.TypeName(v), code.Show(v))
	case i < 0:
		return 0, code.New(40097, "%s requires a nonnegative %s index, found: %d", name, which, i)
	}
	return i, nil
}

// leastElement is the least number of bytes that an int32 takes in an array: type, digits, NUL, value.
const leastElement = 7

// makeRange is the array of the integers from the first argument up to, not including, the second.
func makeRange(s *Scope, args []doc.Value) (doc.Value, error) {
	bounds := [3]int64{2: 1}
	for i, v := range args {
		what := [...]string{"starting", "ending", "step"}[i]
		if !doc.IsNumberBSON(v) {
			return doc.Value{}, code.New(34443+code.Code(2*i),
				"$range requires a numeric %s value, found value of type: %s", what, code.TypeName(v))
		}
		n, ok := whole32(v)
		if !ok {
			return doc.Value{}, code.New(34444+code.Code(2*i),
				"$range requires %s %s value that can be represented as a 32-bit integer, found value: %s",
				[...]string{"a", "an", "a"}[i], what, code.Show(v))
		}
		bounds[i] = int64(n)
	}
	from, to, step := bounds[0], bounds[1], bounds[2]
	if step == 0 {
		return doc.Value{}, code.New(34449, "$range requires a non-zero step value")
	}
	if n := (to - from) / step * leastElement; n > MaxResultBytes {
		return doc.Value{}, code.New(code.QueryExceededMemoryLimitNoDiskUseAllowed,
			"$range would use too much memory (%d bytes) and cannot spill to disk. Memory limit: %d bytes", n,
			MaxResultBytes)
	}
	b := s.array()
	for ; step > 0 && from < to || step < 0 && from > to; from += step {
		mark := s.mark()
		if err := b.add(s.int32(int32(from))); err != nil {
			return doc.Value{}, err
		}
		s.release(mark)
	}
	return b.done()
}

func reverseArray(s *Scope, array doc.Value) (doc.Value, error) {
	switch {
	case nullish(array):
		return null, nil
	case !doc.IsArray(array):
		return doc.Value{}, code.New(34435, "The argument to $reverseArray must be an array, but was of type: %s",
			code.TypeName(array))
	}
	list, err := s.collect(array)
	if err != nil {
		return doc.Value{}, err
	}
	b := s.array()
	for i := len(list) - 1; i >= 0; i-- {
		if err := b.add(list[i]); err != nil {
			return doc.Value{}, err
		}
	}
	s.drop(len(list))
	return b.done()
}

func size(s *Scope, array doc.Value) (doc.Value, error) {
	if !doc.IsArray(array) {
		return doc.Value{}, code.New(17124, "The argument to $size must be an array, but was of type: %s",
			code.TypeName(array))
	}
	n, err := s.length(array)
	return s.int32(int32(n)), err
}

// slice takes [array, n] or [array, position, n].
func slice(s *Scope, args []doc.Value) (doc.Value, error) {
	for _, v := range args {
		if nullish(v) {
			return null, nil
		}
	}
	array := args[0]
	if !doc.IsArray(array) {
		return doc.Value{}, code.New(28724, "First argument to $slice must be an array, but is of type: %s",
			code.TypeName(array))
	}
	from, count, err := sliceBounds(args[1:])
	if err != nil {
		return doc.Value{}, err
	}
	all, err := s.length(array)
	if err != nil {
		return doc.Value{}, err
	}
	n := int64(all)
	if len(args) == 2 {
		from, count = min(from, 0), max(from, -from)
	}
	if from < 0 {
		from = max(from+n, 0)
	}
	b := s.array()
	i := int64(0)
	for e := range doc.Elements(array) {
		if i >= from && i < from+count {
			if err := b.add(e); err != nil {
				return doc.Value{}, err
			}
		}
		i++
		if err := s.spend(work.Element); err != nil {
			return doc.Value{}, err
		}
	}
	return b.done()
}

func sliceBounds(args []doc.Value) (first, count int64, err error) {
	var bounds [2]int32
	for i, v := range args {
		what, ok := [...]string{"Second", "Third"}[i], false
		if !doc.IsNumberBSON(v) {
			return 0, 0, code.New(28725+code.Code(2*i),
				"%s argument to $slice must be a numeric value, but is of type: %s", what, code.TypeName(v))
		}
		if bounds[i], ok = whole32(v); !ok {
			return 0, 0, code.New(28726+code.Code(2*i),
				"%s argument to $slice can't be represented as a 32-bit integer: %s", what, code.Show(v))
		}
	}
	if len(args) == 2 && bounds[1] <= 0 {
		return 0, 0, code.New(28729, "Third argument to $slice must be positive: %d", bounds[1])
	}
	return int64(bounds[0]), int64(bounds[1]), nil
}

func isArray(_ *Scope, v doc.Value) (doc.Value, error) { return boolean(doc.IsArray(v)), nil }
