package keys

import "bytes"

// Escaped bytes keep their order and contain their own end: 0x00 becomes 0x00 0xFF, and
// 0x00 followed by a smaller byte is the end.
const (
	endWhole     = 0x01
	endTruncated = 0x02
	escapedNUL   = 0xFF
)

func appendEscaped(dst, s []byte, end byte) []byte {
	for {
		i := bytes.IndexByte(s, 0)
		if i < 0 {
			break
		}
		dst = append(dst, s[:i]...)
		dst = append(dst, 0, escapedNUL)
		s = s[i+1:]
	}
	dst = append(dst, s...)
	return append(dst, 0, end)
}

// skipEscaped returns the bytes after escaped bytes, which must not be truncated.
func skipEscaped(b []byte) (rest []byte, err error) {
	for {
		i := bytes.IndexByte(b, 0)
		if i < 0 || i+1 >= len(b) {
			return nil, ErrCorrupt
		}
		end := b[i+1]
		b = b[i+2:]
		if end == endWhole {
			return b, nil
		}
		if end != escapedNUL {
			return nil, ErrCorrupt
		}
	}
}

func invert(b []byte) {
	for i := range b {
		b[i] = ^b[i]
	}
}
