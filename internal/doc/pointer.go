package doc

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// MaxPointerBytes limits the text of a Pointer.
const MaxPointerBytes = 4096

// A Pointer is a JSON pointer of a patch: the names, or the indexes in arrays, that
// lead to a place in a document. The index "-" is the end of an array.
type Pointer []string

// ParsePointer parses a pointer such as /a/b~1c/0 (RFC 6901). It must not be empty,
// because a patch cannot replace the whole document. Errors are of type *Error.
func ParsePointer(text string) (Pointer, error) {
	switch {
	case len(text) > MaxPointerBytes:
		return nil, refuse("The path of a patch may have at most %d bytes.", MaxPointerBytes)
	case !utf8.ValidString(text) || strings.IndexByte(text, 0) >= 0:
		return nil, refuse("The path of a patch must be valid UTF-8 without a NUL.")
	case !strings.HasPrefix(text, "/"):
		return nil, refuse("The path of a patch must begin with a slash.")
	}
	pointer := Pointer(strings.Split(text[1:], "/"))
	if len(pointer) > MaxDepth {
		return nil, refuse("The path of a patch may have at most %d names.", MaxDepth)
	}
	at := 1
	for i, name := range pointer {
		if in := badTilde(name); in >= 0 {
			return nil, failAt(at+in, "A tilde is written ~0 and a slash in a name ~1, but a bare tilde stands")
		}
		pointer[i] = unescapeName.Replace(name)
		at += len(name) + 1
	}
	return pointer, nil
}

var (
	unescapeName = strings.NewReplacer("~0", "~", "~1", "/")
	escapeName   = strings.NewReplacer("~", "~0", "/", "~1")
)

// badTilde finds a tilde that escapes nothing, -1 if there is none.
func badTilde(name string) int {
	for i := 0; i < len(name); i++ {
		if name[i] == '~' && (i+1 == len(name) || name[i+1] != '0' && name[i+1] != '1') {
			return i
		}
	}
	return -1
}

// String is the pointer as text, which ParsePointer parses to p.
func (p Pointer) String() string {
	var b strings.Builder
	for _, name := range p {
		b.WriteByte('/')
		b.WriteString(escapeName.Replace(name))
	}
	return b.String()
}

// within reports whether p leads to a place inside the one that q leads to.
func (p Pointer) within(q Pointer) bool {
	return len(p) > len(q) && slices.Equal(p[:len(q)], q)
}
