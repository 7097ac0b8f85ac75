package doc

import (
	"encoding/binary"
	"slices"
)

// With returns d with the root member name set to v: in the place of a member with
// that name, else at the end. The name must not contain a NUL. d does not change;
// nil counts as an empty document.
func With(d Doc, name string, v Value) Doc {
	if len(d) == 0 {
		d = Empty
	}
	s := spot{value: Object(d)}
	if err := s.step(d, 0, name, true); err != nil {
		return d // damaged: documents of this package never are
	}
	if s.found {
		return s.replace(d, v)
	}
	return s.splice(d, s.to, appendElement(nil, name, v))
}

// Without returns d without the root members of these names. d does not change; it
// is returned if it has none of them.
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
