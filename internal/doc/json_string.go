package doc

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"unicode/utf16"
	"unicode/utf8"
)

// string reads a string value.
func (p *parser) string() error {
	start := len(p.out)
	p.out = append(p.out, 0, 0, 0, 0)
	if _, err := p.chars(); err != nil {
		return err
	}
	p.out = append(p.out, 0)
	binary.LittleEndian.PutUint32(p.out[start:], uint32(len(p.out)-start-4))
	return nil
}

// name reads the name of a member, and ends it with a NUL as BSON requires.
func (p *parser) name() error {
	if p.peek() != '"' {
		return p.fail("The name of a member, in double quotes, was expected")
	}
	from, start := p.at, len(p.out)
	escaped, err := p.chars()
	if err != nil {
		return err
	}
	if escaped && bytes.IndexByte(p.out[start:], 0) >= 0 {
		p.at = from
		return p.fail("The name of a member may not hold a NUL, as it does")
	}
	p.out = append(p.out, 0)
	return nil
}

// chars appends the text between two double quotes, with escapes resolved.
func (p *parser) chars() (escaped bool, err error) {
	p.at++
	for {
		n, ascii := plain(p.text[p.at:])
		chunk := p.text[p.at : p.at+n]
		if !ascii && !utf8.Valid(chunk) {
			return false, p.fail("Invalid UTF-8 stands in the string")
		}
		p.out = append(p.out, chunk...)
		p.at += n
		switch {
		case p.at == len(p.text):
			return false, p.fail("")
		case p.text[p.at] == '"':
			p.at++
			return escaped, nil
		case p.text[p.at] != '\\':
			return false, p.fail("A control character must be escaped, but is not")
		}
		escaped = true
		if err := p.escape(); err != nil {
			return false, err
		}
	}
}

// escapes maps the letter after a backslash to its meaning.
var escapes = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

func (p *parser) escape() error {
	rest := p.text[p.at:]
	if len(rest) < 2 {
		p.at = len(p.text)
		return p.fail("")
	}
	if c := escapes[rest[1]]; c != 0 {
		p.out = append(p.out, c)
		p.at += 2
		return nil
	}
	r, ok := hexRune(rest)
	if !ok {
		return p.fail("An escape that JSON does not have stands")
	}
	p.at += 6
	if utf16.IsSurrogate(r) {
		second, _ := hexRune(rest[6:])
		if r = utf16.DecodeRune(r, second); r != utf8.RuneError {
			p.at += 6
		}
	}
	p.out = utf8.AppendRune(p.out, r)
	return nil
}

// hexRune reads \uXXXX.
func hexRune(b []byte) (rune, bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	var r rune
	for _, c := range b[2:6] {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}

// The lowest and the highest bit of each of eight bytes.
const ones, highs = 0x0101010101010101, 0x8080808080808080

// plain counts the bytes at the start of b that need no escape in a JSON string:
// no quotes, backslashes or control characters. ascii reports whether they are all
// ASCII.
func plain(b []byte) (n int, ascii bool) {
	var high uint64
	for ; n+16 <= len(b); n += 16 {
		if (unusual(binary.LittleEndian.Uint64(b[n:]))|unusual(binary.LittleEndian.Uint64(b[n+8:])))&highs != 0 {
			break // the loop below finds out what it is
		}
	}
	for ; n+8 <= len(b); n += 8 {
		x := binary.LittleEndian.Uint64(b[n:])
		if hit := special(x); hit != 0 {
			first := bits.TrailingZeros64(hit) &^ 7
			high |= x & (1<<first - 1)
			return n + first/8, high&highs == 0
		}
		high |= x
	}
	if len(b) >= 4 { // the rest, in words that overlap what is checked already
		x := uint64(binary.LittleEndian.Uint32(b)) | uint64(binary.LittleEndian.Uint32(b[len(b)-4:]))<<32
		if len(b) >= 8 {
			x = binary.LittleEndian.Uint64(b[len(b)-8:])
		}
		if special(x) == 0 {
			return len(b), (high|x)&highs == 0
		}
	}
	for ; n < len(b) && b[n] >= 0x20 && b[n] != '"' && b[n] != '\\'; n++ {
		high |= uint64(b[n])
	}
	return n, high&highs == 0
}

// unusual sets the highest bit of some byte if any byte of x is special or not ASCII. Without the latter, special needs
// less.
func unusual(x uint64) uint64 {
	return x | (x - ones*0x20) | (x ^ ones*'"' - ones) | (x ^ ones*'\\' - ones)
}

// special sets the highest bit of each byte of x that is a quote, a backslash or below
// 32: subtracting 32, or 1 after an exclusive-or with the sought byte, borrows from
// that bit. The borrow can produce wrong bits only above the lowest correct one.
func special(x uint64) uint64 {
	quote, slash := x^ones*'"', x^ones*'\\'
	return ((x-ones*0x20)&^x | (quote-ones)&^quote | (slash-ones)&^slash) & highs
}
