package keys

import (
	"crypto/sha256"

	"github.com/mayflydb/mayfly/internal/doc"
)

// EachElement is the token of AppendPath that stands for every element of an array,
// `[]` in an indexing policy. No member name is equal to it, since names have no NUL.
const EachElement = "\x00[]"

// MaxPathBytes is how long a path may be in a key before its hash stands for it.
const MaxPathBytes = 255

// How escaped bytes end inside a path.
const (
	endPath    = 0x00 // nothing before it: the path is over
	endName    = 0x01
	endElement = 0x02 // nothing before it: EachElement
	endHashed  = 0x03 // nothing before it: SHA-256 of a long path follows
)

// AppendPath appends a path as index entries have it. Different paths give different
// bytes (long ones but for a collision of SHA-256), and none is a prefix of another:
// not even that of /a of that of /a/b.
func AppendPath(dst []byte, tokens []string) []byte {
	var room [64]byte
	steps := room[:0]
	for _, t := range tokens {
		if t == EachElement {
			steps = AppendElementStep(steps)
		} else {
			steps = AppendMemberStep(steps, t)
		}
	}
	return AppendSteps(dst, steps)
}

// AppendMemberStep appends one step of a path, to the member called name. Walks over
// documents build a path step by step and hand it to AppendSteps.
func AppendMemberStep(steps []byte, name string) []byte { return appendName(steps, name) }

// AppendElementStep appends the step to every element of an array.
func AppendElementStep(steps []byte) []byte { return append(steps, 0, endElement) }

// AppendSteps appends the path that consists of steps, as AppendPath does.
func AppendSteps(dst, steps []byte) []byte {
	start := len(dst)
	dst = append(append(dst, steps...), 0, endPath)
	if len(dst)-start > MaxPathBytes {
		sum := sha256.Sum256(dst[start:])
		dst = append(append(dst[:start], 0, endHashed), sum[:]...)
	}
	return dst
}

// appendName is appendEscaped for a string, without copying it first.
func appendName(dst []byte, name string) []byte {
	for i := range len(name) {
		dst = append(dst, name[i])
		if name[i] == 0 {
			dst = append(dst, escapedNUL)
		}
	}
	return append(dst, 0, endName)
}

// DecodePath reads the path at the start of b and gives the bytes after it. hashed
// reports that the path was too long, so that its tokens are lost.
func DecodePath(b []byte) (tokens []string, hashed bool, rest []byte, err error) {
	for first := true; ; first = false {
		name, end, rest, err := unescape(nil, b, 0)
		b = rest
		switch {
		case err != nil:
			return nil, false, nil, ErrCorrupt
		case end == endName:
			tokens = append(tokens, string(name))
		case len(name) > 0:
			return nil, false, nil, ErrCorrupt
		case end == endElement:
			tokens = append(tokens, EachElement)
		case end == endPath:
			return tokens, false, b, nil
		case end == endHashed && first && len(b) >= sha256.Size:
			return nil, true, b[sha256.Size:], nil
		default:
			return nil, false, nil, ErrCorrupt
		}
	}
}

// DecodeEntry takes the key of an index entry apart. path is what AppendPath wrote.
// truncated is as DecodeValue reports it.
func DecodeEntry(key []byte) (generation uint16, path []byte, v doc.Value, truncated bool, number uint64, err error) {
	fail := func() (uint16, []byte, doc.Value, bool, uint64, error) {
		return 0, nil, doc.Value{}, false, 0, ErrCorrupt
	}
	_, kind, b, err := Split(key)
	if err != nil || kind != KindEntry || len(b) < 2 {
		return fail()
	}
	generation, b = uint16(b[0])<<8|uint16(b[1]), b[2:]
	_, _, rest, err := DecodePath(b)
	if err != nil {
		return fail()
	}
	path = b[:len(b)-len(rest)]
	v, truncated, rest, err = DecodeValue(rest, false)
	if err != nil || len(rest) != 8 {
		return fail()
	}
	number, err = Number(key)
	return generation, path, v, truncated, number, err
}
