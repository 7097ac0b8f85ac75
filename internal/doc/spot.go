package doc

import (
	"encoding/binary"
	"strconv"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"
)

// A spot is the place in the bytes of a document that a pointer leads to.
type spot struct {
	around []int // the offsets of the objects and arrays that contain it, outermost first
	end    int   // of the elements of the innermost one

	array bool   // the innermost one is an array
	name  string // of the member, or
	index int    // of the element

	found    bool // if not, from and to are where it would be inserted: the end
	from, to int  // the bytes of the element
	value    Value
}

// find follows a pointer. All but its last step must exist. verb begins the message
// of the service if they do not.
func find(d Doc, at Pointer, verb string) (spot, error) {
	if len(at) == 0 {
		return spot{}, refuse("The path of a patch may not be empty.")
	}
	s := spot{value: Object(d), around: make([]int, 0, len(at))}
	var start int
	for i, name := range at {
		if i > 0 && !s.found || !isContainer(s.value.Type) {
			return spot{}, refuse("%s Operation can only create a child object of an existing node(array or object) "+
				"and cannot create path recursively, no path found beyond: '%s'. Add the parent first.",
				verb, at[max(i-1, 0)])
		}
		if err := s.step(d, start, name, i == len(at)-1); err != nil {
			return spot{}, err
		}
		start = s.to - len(s.value.Data)
	}
	return s, nil
}

func isContainer(t bsoncore.Type) bool {
	return t == bsoncore.TypeEmbeddedDocument || t == bsoncore.TypeArray
}

// step enters the object or array at offset start, and searches it for name.
func (s *spot) step(d Doc, start int, name string, last bool) error {
	inside := body(d[start:])
	if inside == nil {
		return refuse("The document to patch is damaged.")
	}
	*s = spot{
		around: append(s.around, start),
		array:  s.value.Type == bsoncore.TypeArray,
		name:   name,
		from:   start + 4,
		end:    start + 4 + len(inside),
	}
	wanted, ok := parseIndex(name)
	if s.array && !ok {
		return refuse("Index(%s) to operate on is no index of an array. That is a whole number, or - for the end.",
			name)
	}
	if err := s.search(d, wanted); err != nil {
		return err
	}
	if s.array && !s.found && (!last || name != endOfArray && wanted > s.index) {
		return s.outOfBounds()
	}
	return nil
}

// search looks for the member called s.name, or for the element with the wanted index.
func (s *spot) search(d Doc, wanted int) error {
	for s.from < s.end {
		e, ok := next(d[s.from:s.end])
		if !ok {
			return refuse("The document to patch is damaged.")
		}
		if s.array && s.index == wanted || !s.array && string(e.name) == s.name {
			s.to, s.value, s.found = s.from+e.size, e.value(), true
			return nil
		}
		s.from += e.size
		s.index++
	}
	s.to = s.end
	return nil
}

func (s *spot) outOfBounds() error {
	return refuse("Index(%s) to operate on is out of array bounds. The array has %d elements.", s.name, s.index)
}

const endOfArray = "-"

// parseIndex reads an index in the form of RFC 6901: without sign and leading zeros.
// The end of an array is -1.
func parseIndex(name string) (int, bool) {
	if name == endOfArray {
		return -1, true
	}
	return ElementIndex(name)
}

// absent is the error of an edit that needs an existing value, if there is none.
func (s *spot) absent(at Pointer, verb, remedy string) error {
	if s.array {
		return s.outOfBounds()
	}
	return refuse("Node(%s) to be %s is absent. %s", at, verb, remedy)
}

// replace replaces the value of the element.
func (s *spot) replace(d Doc, v Value) Doc {
	name := d[s.from+1 : s.to-len(s.value.Data)] // with its NUL
	e := make([]byte, 0, 1+len(name)+len(v.Data))
	e = append(append(append(e, byte(v.Type)), name...), v.Data...)
	return s.splice(d, s.to, e)
}

// insert puts a new element before the spot, or a new member at the end.
func (s *spot) insert(d Doc, v Value) Doc {
	if !s.array {
		return s.splice(d, s.to, appendElement(nil, s.name, v))
	}
	tail := appendElement(nil, strconv.Itoa(s.index), v)
	return s.splice(d, s.end, appendElements(tail, d[s.from:s.end], s.index+1))
}

// remove removes the element, and renumbers later elements of an array.
func (s *spot) remove(d Doc) Doc {
	if !s.array {
		return s.splice(d, s.to, nil)
	}
	return s.splice(d, s.end, appendElements(nil, d[s.to:s.end], s.index))
}

func appendElement(dst []byte, name string, v Value) []byte {
	dst = append(append(dst, byte(v.Type)), name...)
	return append(append(dst, 0), v.Data...)
}

// appendElements copies elements of an array, numbering them from index.
func appendElements(dst, elements []byte, index int) []byte {
	for len(elements) > 0 {
		e, ok := next(elements)
		if !ok {
			break
		}
		dst = strconv.AppendInt(append(dst, byte(e.kind)), int64(index), 10)
		dst = append(append(dst, 0), e.data...)
		elements = elements[e.size:]
		index++
	}
	return dst
}

// splice replaces the bytes from the start of the spot to end by b, and corrects the
// lengths of all objects and arrays that contain it.
func (s *spot) splice(d Doc, end int, b []byte) Doc {
	grown := len(b) - (end - s.from)
	out := make(Doc, 0, len(d)+grown)
	out = append(append(append(out, d[:s.from]...), b...), d[end:]...)
	for _, start := range s.around {
		size := int32(binary.LittleEndian.Uint32(out[start:]))
		binary.LittleEndian.PutUint32(out[start:], uint32(size+int32(grown)))
	}
	return out
}
