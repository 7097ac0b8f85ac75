package binaryjson

import (
	"encoding/base64"
	"slices"
	"unicode/utf8"
)

// Short forms of strings that clients choose automatically: Base64, GUIDs, hexadecimal digits, times, and characters
// of a small range. Azure/azure-cosmos-dotnet-v3: Microsoft.Azure.Cosmos/src/Json/JsonBinaryEncoding.Strings.cs;
// azure_data_cosmos_driver 1.0.0: src/binary_json/reader.rs.

const (
	lowerDigits = "0123456789abcdef"
	upperDigits = "0123456789ABCDEF"
	timeDigits  = " 0123456789:-.TZ"
)

// buffer returns memory for n bytes of text, and counts them.
func (r *reader) buffer(n int) ([]byte, error) { return r.text[:0], r.spend(n + len(`""`)) }

// base64 reads the bytes of Base64 text: the number of groups of four characters, the number of padding characters,
// and the bytes. If the text has no padding, the bits of that number are inverted.
func (r *reader) base64(marker byte) ([]byte, error) {
	start := r.at - 1
	width, encoding := 1, base64.StdEncoding
	if marker == base64Long || marker == base64URLLong {
		width = 2
	}
	if marker >= base64URLShort {
		encoding = base64.URLEncoding
	}
	groups, err := r.size(width)
	if err != nil {
		return nil, err
	}
	padding, err := r.byte()
	if err != nil {
		return nil, err
	}
	if padding > 2 {
		padding, encoding = ^padding, encoding.WithPadding(base64.NoPadding)
	}
	size := groups*3 - int(padding)
	if padding > 2 || size < 0 {
		return nil, r.fail(start, "There is Base64 text with an invalid padding")
	}
	return r.encode(size, encoding)
}

// encode reads bytes and returns their Base64.
func (r *reader) encode(size int, encoding *base64.Encoding) ([]byte, error) {
	b, err := r.take(size)
	if err != nil {
		return nil, err
	}
	text, err := r.buffer(encoding.EncodedLen(size))
	if err != nil {
		return nil, err
	}
	r.text = encoding.AppendEncode(text, b)
	return r.text, nil
}

// dashes are the bytes of a GUID with a dash before them.
var dashes = [16]bool{4: true, 6: true, 8: true, 10: true}

// guidText reads the digits of a GUID, the lower four bits of each byte first.
func (r *reader) guidText(marker byte) ([]byte, error) {
	digits, quote := lowerDigits, ""
	switch marker {
	case guidUpper:
		digits = upperDigits
	case guidQuoted:
		quote = `"`
	}
	b, err := r.take(16)
	if err != nil {
		return nil, err
	}
	return r.digits(b, digits, quote)
}

// digits is the text of a GUID.
func (r *reader) digits(b []byte, digits, quote string) ([]byte, error) {
	text, err := r.buffer(36 + 2*len(quote))
	if err != nil {
		return nil, err
	}
	text = append(text, quote...)
	for i, c := range b {
		if dashes[i] {
			text = append(text, '-')
		}
		text = append(text, digits[c&15], digits[c>>4])
	}
	r.text = append(text, quote...)
	return r.text, nil
}

// A packing is a form of text with fewer than 8 bits per character. The first character is in the lowest bits.
type packing struct {
	bits, width int    // bits of a character, and bytes of the count of characters
	relative    bool   // relative to a character that follows the count
	table       string // the characters by their bits, if not ASCII
}

var packings = [sized - hexLower]packing{
	{bits: 4, width: 1, table: lowerDigits},
	{bits: 4, width: 1, table: upperDigits},
	{bits: 4, width: 1, table: timeDigits},
	{bits: 4, width: 1, relative: true},
	{bits: 5, width: 1, relative: true},
	{bits: 6, width: 1, relative: true},
	{bits: 7, width: 1},
	{bits: 7, width: 2},
}

// packed reads text of ASCII characters with fewer than 8 bits each.
func (r *reader) packed(marker byte) ([]byte, error) {
	start := r.at - 1
	p := &packings[marker-hexLower]
	count, err := r.size(p.width)
	if err != nil {
		return nil, err
	}
	var least byte
	if p.relative {
		if least, err = r.byte(); err != nil {
			return nil, err
		}
	}
	b, err := r.take((count*p.bits + 7) / 8)
	if err != nil {
		return nil, err
	}
	text, err := r.buffer(count)
	if err != nil {
		return nil, err
	}
	window, have := uint(0), 0
	for range count {
		if have < p.bits {
			window |= uint(b[0]) << have
			b, have = b[1:], have+8
		}
		c := window & (1<<p.bits - 1)
		window, have = window>>p.bits, have-p.bits
		if p.table != "" {
			c = uint(p.table[c])
		}
		if c += uint(least); c >= utf8.RuneSelf {
			return nil, r.fail(start, "There is invalid UTF-8 in the string")
		}
		text = append(text, byte(c))
	}
	r.text = text
	return text, nil
}

// blob reads bytes and GUIDs, which JSON does not have. Bytes become Base64. GUIDs are printed as in .NET, where the
// first three groups are numbers with their lowest byte first.
func (r *reader) blob(marker byte) ([]byte, error) {
	if marker != guid {
		size, err := r.size(1 << (marker - binary1))
		if err != nil {
			return nil, err
		}
		return r.encode(size, base64.StdEncoding)
	}
	b, err := r.take(16)
	if err != nil {
		return nil, err
	}
	return r.digits(swapped(b), lowerDigits, "")
}

// swapped is a GUID in printing order, with the first four bits of each byte lowest, as guidText expects.
func swapped(b []byte) []byte {
	out := slices.Clone(b)
	slices.Reverse(out[:4])
	slices.Reverse(out[4:6])
	slices.Reverse(out[6:8])
	for i, c := range out {
		out[i] = c<<4 | c>>4
	}
	return out
}
