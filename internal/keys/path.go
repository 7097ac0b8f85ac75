package keys

import "crypto/sha256"

// MaxPathBytes is the length up to which a path is in a key itself. A longer one is hashed.
const MaxPathBytes = 255

// How escaped bytes end inside a path.
const (
	endPath    = 0x00 // nothing before it: the path is over
	endName    = 0x01
	endElement = 0x02 // nothing before it: every element of an array
	endHashed  = 0x03 // nothing before it: SHA-256 of a long path follows
)

// AppendMemberStep appends one step of a path, to the member called name. Walks over
// documents build a path step by step and hand it to AppendSteps.
func AppendMemberStep(steps []byte, name string) []byte { return appendName(steps, name) }

// AppendElementStep appends the step to every element of an array.
func AppendElementStep(steps []byte) []byte { return append(steps, 0, endElement) }

// AppendSteps appends the path that consists of steps, in the form of index entries. Different
// paths give different bytes (long ones but for a collision of SHA-256), and no path is a
// prefix of another: the form of /a is no prefix of that of /a/b.
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
