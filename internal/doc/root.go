package doc

import (
	"encoding/binary"
	"slices"
)

// With is d with the root member name set to v: in the place of the one there
// was, else as the last. The name holds no NUL. d stays as it is; nil is an empty document.
func With(d Doc, name string, v Value) Doc {
	if len(d) == 0 {
		d = Empty
	}
	s := spot{value: Object(d)}
	if err := s.step(d, 0, name, true); err != nil {
		return d // damaged, which no document of this package is
	}
	if s.found {
		return s.replace(d, v)
	}
	return s.splice(d, s.to, appendElement(nil, name, v))
}

// Without is d without the root members of these names. d stays as it is, and
// is the answer when it has none of them.
func Without(d Doc, names ...string) Doc {
	if !hasAny(d, names) {
		return d
	}
	out := make(Doc, 4, len(d))
	for b := body(d); len(b) > 0; {
		e, ok := next(b)
		if !ok {
			break
		}
		if !slices.Contains(names, view(e.name)) {
			out = append(out, b[:e.size]...)
		}
		b = b[e.size:]
	}
	out = append(out, 0)
	binary.LittleEndian.PutUint32(out, uint32(len(out)))
	return out
}

func hasAny(d Doc, names []string) bool {
	for name := range Members(d) {
		if slices.Contains(names, name) {
			return true
		}
	}
	return false
}
