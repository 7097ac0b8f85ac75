package doc

import (
	"math"
	"slices"
	"strings"
)

// The edits of a patch follow the table "Supported operations" on Cosmos DB's page about partial document update.
// They do not change d, and return the new document. Errors are of type *Error; their first sentence is that of the
// service, without its beginning "For Operation(n): ".

// Add puts v at a path: it creates or replaces a member, or inserts an element of an
// array before the one with that index. An index equal to the length, or "-",
// appends. The object or array that contains the place must exist.
func Add(d Doc, at Pointer, v Value) (Doc, error) {
	s, err := find(d, at, "Add")
	if err == nil {
		err = checkNew(at, v)
	}
	switch {
	case err != nil:
		return nil, err
	case s.found && !s.array:
		return s.replace(d, v), nil
	}
	return s.insert(d, v), nil
}

// Set is Add, except that it replaces an existing element of an array.
func Set(d Doc, at Pointer, v Value) (Doc, error) {
	s, err := find(d, at, "Given")
	if err == nil {
		err = checkNew(at, v)
	}
	switch {
	case err != nil:
		return nil, err
	case s.found:
		return s.replace(d, v), nil
	}
	return s.insert(d, v), nil
}

// Replace replaces an existing value by v.
func Replace(d Doc, at Pointer, v Value) (Doc, error) {
	s, err := find(d, at, "Given")
	if err == nil {
		err = checkNew(at, v)
	}
	if err == nil && !s.found {
		err = s.absent(at, "replaced", "Use set to create it.")
	}
	if err != nil {
		return nil, err
	}
	return s.replace(d, v), nil
}

// Remove removes an existing value. Later elements of an array move forward.
func Remove(d Doc, at Pointer) (Doc, error) {
	s, err := find(d, at, "Given")
	if err == nil && !s.found {
		err = s.absent(at, "removed", "Note: it may also have been removed earlier in the transaction.")
	}
	if err != nil {
		return nil, err
	}
	return s.remove(d), nil
}

// Increment adds by to a number, or creates the number if it does not exist.
// Integers stay integers as long as 64 bits can hold them.
func Increment(d Doc, at Pointer, by Value) (Doc, error) {
	s, err := find(d, at, "Given")
	if err != nil {
		return nil, err
	}
	addend, ok := readNumber(by)
	if !ok {
		return nil, refuse("The value to increment Node(%s) by is not a number.", at)
	}
	if !s.found {
		if err := checkNew(at, by); err != nil {
			return nil, err
		}
		return s.insert(d, by), nil
	}
	n, ok := readNumber(s.value)
	if !ok {
		return nil, refuse("Node(%s) is not a number. Increment works on whole numbers and floats.", at)
	}
	sum := n.add(addend)
	if math.IsInf(sum.float(), 0) || math.IsNaN(sum.float()) {
		return nil, refuse("Node(%s) would be beyond the range of a number.", at)
	}
	return s.replace(d, sum.value()), nil
}

// Move removes an existing value at from and adds it at to, which must not be inside
// of it. An index in to counts after the removal.
func Move(d Doc, from, to Pointer) (Doc, error) {
	if to.within(from) {
		return nil, refuse("Node(%s) cannot be moved to Node(%s), inside of itself.", from, to)
	}
	s, err := find(d, from, "Given")
	if err == nil && !s.found {
		err = s.absent(from, "moved", "Name a path that exists in from.")
	}
	if err != nil {
		return nil, err
	}
	if slices.Equal(from, to) {
		return d, nil
	}
	return Add(s.remove(d), to, s.value)
}

// checkNew makes sure that a document stays one that FromJSON could read.
func checkNew(at Pointer, v Value) error {
	if IsUndefined(v) {
		return refuse("Node(%s) is given no value.", at)
	}
	if len(at)+depth(v, MaxDepth-len(at)) > MaxDepth {
		return refuse("Node(%s) would make the document deeper than the limit of %d.", at, MaxDepth)
	}
	if strings.IndexByte(at[len(at)-1], 0) >= 0 {
		return refuse("The name of a member may not hold a NUL.")
	}
	return nil
}

// depth is the depth of nested objects and arrays, v included. It looks no deeper
// than limit, and returns limit+1 for deeper values.
func depth(v Value, limit int) int {
	if !isContainer(v.Type) {
		return 0
	}
	if limit <= 0 {
		return 1
	}
	deepest := 0
	for b := body(v.Data); len(b) > 0; {
		e, ok := next(b)
		if !ok {
			break
		}
		deepest = max(deepest, depth(e.value(), limit-1))
		b = b[e.size:]
	}
	return deepest + 1
}
