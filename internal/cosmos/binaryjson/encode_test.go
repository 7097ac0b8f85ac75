package binaryjson

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"strings"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
)

// An encoder writes values in the binary form. It chooses randomly among the forms of a value.
type encoder struct {
	out    []byte
	random *rand.Rand
	texts  map[string]int // where text stands already
}

func encode(v doc.Value, seed uint64) []byte {
	e := encoder{out: []byte{preamble}, random: rand.New(rand.NewPCG(seed, 0)), texts: map[string]int{}}
	e.value(v)
	return e.out
}

func (e *encoder) coin() bool { return e.random.IntN(2) == 0 }

func (e *encoder) value(v doc.Value) {
	switch v.Type {
	case bsoncore.TypeNull:
		e.out = append(e.out, null)
	case bsoncore.TypeBoolean:
		e.out = append(e.out, no)
		if b, _ := doc.AsBool(v); b {
			e.out[len(e.out)-1] = yes
		}
	case bsoncore.TypeString:
		text, _ := doc.AsString(v)
		e.text(text)
	case bsoncore.TypeInt64, bsoncore.TypeDecimal128, bsoncore.TypeDouble:
		e.number(v)
	case bsoncore.TypeArray:
		if !e.coin() || !e.numbers(v) {
			e.array(v)
		}
	default:
		e.object(v)
	}
}

// number writes a number in a form that can hold it.
func (e *encoder) number(v doc.Value) {
	for {
		marker := byte(e.random.IntN(uint32V+1-numberUint64)) + numberUint64
		if b, ok := e.bare(marker, v); ok {
			e.out = append(append(e.out, marker), b...)
			return
		}
		if i, ok := v.Int64OK(); ok && i >= 0 && i < system && e.coin() {
			e.out = append(e.out, byte(i))
			return
		}
	}
}

// bare is the encoding of a number after its marker, if that type can represent it.
func (e *encoder) bare(marker byte, v doc.Value) ([]byte, bool) {
	if f, ok := v.DoubleOK(); ok {
		switch {
		case marker == numberDouble, marker == float64Value:
			return binary.LittleEndian.AppendUint64(nil, math.Float64bits(f)), true
		case marker == float32Value && float64(float32(f)) == f:
			return binary.LittleEndian.AppendUint32(nil, math.Float32bits(float32(f))), true
		}
		return nil, false
	}
	if v.Type == bsoncore.TypeDecimal128 {
		return v.Data[:8], marker == numberUint64
	}
	i, _ := v.Int64OK()
	size := numberSizes[marker]
	if size == 0 || marker == numberDouble || marker == float32Value || marker == float64Value {
		return nil, false
	}
	bits := 8 * int(size)
	fits := i>>(bits-1) == 0 || i>>(bits-1) == -1
	if marker == numberUint64 || marker == numberUint8 || marker == uint8V || marker == uint32V {
		fits = i >= 0 && (bits == 64 || i>>bits == 0)
	}
	return binary.LittleEndian.AppendUint64(nil, uint64(i))[:size], fits
}

// numbers writes an array of numbers of one type, if possible.
func (e *encoder) numbers(v doc.Value) bool {
	for _, marker := range e.random.Perm(256) {
		var out []byte
		count, all := 0, true
		for element := range doc.Elements(v) {
			b, ok := e.bare(byte(marker), element)
			count, all = count+1, all && ok && element.IsNumber()
			out = append(out, b...)
		}
		switch {
		case !isUniform(byte(marker)), !all:
		case count < 256 && e.coin():
			e.out = append(append(e.out, arrNum1, byte(marker), byte(count)), out...)
			return true
		case count < 65536:
			e.out = append(append(e.out, arrNum2, byte(marker), byte(count), byte(count>>8)), out...)
			return true
		}
	}
	return false
}

// nest writes an object or array with at most twice the bytes of its BSON.
func (e *encoder) nest(forms byte, size, count int, elements func()) {
	if count < 2 && e.coin() {
		e.out = append(e.out, forms+byte(count))
		elements()
		return
	}
	power := 0
	for power < 2 && (size*2>>(8<<power) > 0 || e.coin()) {
		power++
	}
	width, counted := 1<<power, e.coin()
	marker := forms + 2 + byte(power)
	head := make([]byte, 4, 8)
	if counted {
		marker += 3
		binary.LittleEndian.PutUint32(head[:4], uint32(count))
		head = append(make([]byte, width), head[:width]...)
	}
	e.out = append(e.out, marker)
	at := len(e.out)
	if !counted {
		head = head[:width]
	}
	e.out = append(e.out, head...)
	start := len(e.out)
	elements()
	var length [4]byte
	binary.LittleEndian.PutUint32(length[:], uint32(len(e.out)-start))
	copy(e.out[at:at+width], length[:width])
}

func (e *encoder) array(v doc.Value) {
	count := 0
	for range doc.Elements(v) {
		count++
	}
	e.nest(arr0, len(v.Data), count, func() {
		for element := range doc.Elements(v) {
			e.value(element)
		}
	})
}

func (e *encoder) object(v doc.Value) {
	count := 0
	for range doc.Members(v.Data) {
		count++
	}
	e.nest(obj0, len(v.Data), count, func() {
		for name, member := range doc.Members(v.Data) {
			e.text(name)
			e.value(member)
		}
	})
}

// text writes a string, as a reference or in one of its forms.
func (e *encoder) text(text string) {
	if at, ok := e.texts[text]; ok && e.coin() {
		width := 1
		for width < 4 && (at>>(8*width) > 0 || e.coin()) {
			width++
		}
		e.out = append(append(e.out, reference1+byte(width-1)), binary.LittleEndian.AppendUint32(nil,
			uint32(at))[:width]...)
		return
	}
	e.texts[text] = len(e.out)
	for {
		if b := e.form(e.random.IntN(8), text); b != nil {
			e.out = append(e.out, b...)
			return
		}
	}
}

// form is one of the forms of text, or nil if the text does not have it.
func (e *encoder) form(which int, text string) []byte {
	n := len(text)
	switch which {
	case 0:
		for i, s := range systemStrings {
			if s == text {
				return []byte{system + byte(i)}
			}
		}
	case 1:
		if n < 64 {
			return append([]byte{sized + byte(n)}, text...)
		}
	case 2:
		if n < 256 {
			return append([]byte{string1, byte(n)}, text...)
		}
	case 3:
		if n < 65536 {
			return append([]byte{string2, byte(n), byte(n >> 8)}, text...)
		}
	case 4:
		return append(binary.LittleEndian.AppendUint32([]byte{string4}, uint32(n)), text...)
	case 5:
		return e.packed(text)
	case 6:
		return encodeBase64(text)
	case 7:
		return encodeGUID(text)
	}
	return nil
}

func (e *encoder) packed(text string) []byte {
	which := e.random.IntN(len(packings))
	p := packings[which]
	if len(text)>>(8*p.width) > 0 {
		return nil
	}
	out := append([]byte{hexLower + byte(which)}, binary.LittleEndian.AppendUint16(nil, uint16(len(text)))[:p.width]...)
	least := byte(0)
	if p.relative && text != "" {
		b := []byte(text)
		least = b[0]
		for _, c := range b {
			least = min(least, c)
		}
	}
	if p.relative {
		out = append(out, least)
	}
	window, have := 0, 0
	for _, c := range []byte(text) {
		value := int(c - least)
		if p.table != "" {
			value = strings.IndexByte(p.table, c)
		}
		if c >= 0x80 || value < 0 || value>>p.bits > 0 {
			return nil
		}
		window |= value << have
		for have += p.bits; have >= 8; have -= 8 {
			out = append(out, byte(window))
			window >>= 8
		}
	}
	if have > 0 {
		out = append(out, byte(window))
	}
	return out
}

func encodeBase64(text string) []byte {
	for i, encoding := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding, base64.RawStdEncoding,
		base64.RawURLEncoding} {
		b, err := encoding.Strict().DecodeString(text)
		groups := (len(text) + 3) / 4
		if err != nil || encoding.EncodeToString(b) != text || groups > 255 {
			continue
		}
		padding := byte(3*groups - len(b))
		if i >= 2 {
			if padding = ^padding; padding == 0xFF {
				continue
			}
		}
		return append([]byte{base64Short + 2*byte(i%2), byte(groups), padding}, b...)
	}
	return nil
}

func encodeGUID(text string) []byte {
	marker, digits, inner := byte(guidLower), lowerDigits, text
	if len(text) == 38 && text[0] == '"' && text[37] == '"' {
		marker, inner = guidQuoted, text[1:37]
	} else if strings.ToUpper(text) == text {
		marker, digits = guidUpper, upperDigits
	}
	if len(inner) != 36 {
		return nil
	}
	out := []byte{marker}
	for i, half := 0, 0; i < 36; i++ {
		if i == 8 || i == 13 || i == 18 || i == 23 {
			if inner[i] != '-' {
				return nil
			}
			continue
		}
		value := bytes.IndexByte([]byte(digits), inner[i])
		if value < 0 {
			return nil
		}
		if half ^= 1; half == 1 {
			out = append(out, byte(value))
		} else {
			out[len(out)-1] |= byte(value) << 4
		}
	}
	return out
}
