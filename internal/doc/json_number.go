package doc

import (
	"strconv"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"
)

// number reads a number. Like the service, it keeps integers in the range of int64
// or uint64 exact; -0 is 0.
func (p *parser) number() (bsoncore.Type, error) {
	start := p.at
	negative := p.peek() == '-'
	if negative {
		p.at++
	}
	u, digits := p.digits()
	switch {
	case digits == 0:
		return 0, p.fail("A digit was expected")
	case digits > 1 && p.text[p.at-digits] == '0':
		p.at = start
		return 0, p.fail("A number may not begin with a needless zero, as it does")
	}
	if c := p.peek(); c == '.' || c == 'e' || c == 'E' {
		return p.float(start)
	}
	if digits == 20 { // the value may have overflowed
		var err error
		if u, err = strconv.ParseUint(view(p.text[p.at-20:p.at]), 10, 64); err != nil {
			digits++
		}
	}
	switch {
	case digits > 20, negative && u > two63:
		return p.float(start)
	case negative:
		return p.Int(-int64(u)), nil
	}
	return p.Uint(u), nil
}

// digits reads decimal digits. The value is correct for at most 19 of them.
func (p *parser) digits() (value uint64, count int) {
	start := p.at
	for p.at < len(p.text) {
		d := p.text[p.at] - '0'
		if d > 9 {
			break
		}
		value = value*10 + uint64(d)
		p.at++
	}
	return value, p.at - start
}

// float reads the rest of a number after its integer part, and writes it as a double.
func (p *parser) float(start int) (bsoncore.Type, error) {
	if p.peek() == '.' {
		p.at++
		if _, n := p.digits(); n == 0 {
			return 0, p.fail("A digit was expected")
		}
	}
	if c := p.peek(); c == 'e' || c == 'E' {
		p.at++
		if c := p.peek(); c == '+' || c == '-' {
			p.at++
		}
		if _, n := p.digits(); n == 0 {
			return 0, p.fail("A digit was expected")
		}
	}
	f, err := strconv.ParseFloat(view(p.text[start:p.at]), 64)
	if err != nil {
		p.at = start
		return 0, p.fail("A number beyond the range of a double stands")
	}
	return p.Float(f), nil
}
