package binaryjson

import (
	"encoding/base64"
	"slices"
	"unicode/utf8"
)

// Text that clients write in fewer bytes than it has, as they meet it: Base64, GUIDs,
// hexadecimal digits, times, and characters that are close to each other.
// Azure/azure-cosmos-dotnet-v3: Microsoft.Azure.Cosmos/src/Json/JsonBinaryEncoding.Strings.cs;
// azure_data_cosmos_driver 1.0.0: src/binary_json/reader.rs.

const (
	lowerDigits = "0123456789abcdef"
	upperDigits = "0123456789ABCDEF"
	timeDigits  = " 0123456789:-.TZ"
)

// room is memory of the reader for n bytes of text, which count as such.
func (r *reader) room(n int) ([]byte, error) { return r.text[:0], r.spend(n + len(`""`)) }

// base64 reads the bytes whose Base64 the text is: the number of groups of four characters, how
// many of them the padding is, and the bytes. All bits of the padding are turned around when the text goes without.
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
		return nil, r.fail(start, "Base64 with another padding than that of none, one or two bytes stands")
	}
	return r.encode(size, encoding)
}

// encode reads bytes as their Base64.
func (r *reader) encode(size int, encoding *base64.Encoding) ([]byte, error) {
	b, err := r.take(size)
	if err != nil {
		return nil, err
	}
	text, err := r.room(encoding.EncodedLen(size))
	if err != nil {
		return nil, err
	}
	r.text = encoding.AppendEncode(text, b)
	return r.text, nil
}

// dashes are the bytes of a GUID that a dash stands before.
var dashes = [16]bool{4: true, 6: true, 8: true, 10: true}

// guidText reads the digits of a GUID, of each byte the lower four bits first.
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
	text, err := r.room(36 + 2*len(quote))
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

// A packing is a form of text with less than 8 bits a character, those of the first lowest.
type packing struct {
	bits, width int    // of a character; of the count of characters, in bytes
	relative    bool   // to a character that stands behind the count
	table       string // the characters, if they are not what the bits say
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

// packed reads text of ASCII characters that have less than 8 bits each.
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
	text, err := r.room(count)
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
			return nil, r.fail(start, "Invalid UTF-8 stands in the string")
		}
		text = append(text, byte(c))
	}
	r.text = text
	return text, nil
}

// blob reads bytes and GUIDs, which JSON does not have. They are text: Base64, and as
// .NET prints a GUID, whose first three groups are numbers with their lowest byte first.
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

// swapped has the groups of a GUID in the order in which they are printed, and of each byte the
// four bits that come first lowest, as guidText has them.
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
