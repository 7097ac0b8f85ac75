package rest

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/fault"
)

// Limits on a partition key in a header or in an operation of a bulk request.
const (
	maxPartitionText   = 64 << 10 // enough for three strings that consist of escapes
	maxPartitionParts  = 3
	maxPartitionString = catalog.MaxPartitionString
)

// systemKeyPath is the partition key path of containers that were created without one.
const systemKeyPath = "/_partitionKey"

var (
	errFewComponents = fault.New(fault.PartitionMismatch,
		"The partition key supplied in x-ms-partitionkey header has fewer "+
			"components than defined in the the collection. Send one value for each path of the container's partition "+
			"key "+
			"in the header x-ms-documentdb-partitionkey, such as [\"a\"].")
	errManyComponents = fault.New(fault.PartitionMismatch,
		"The partition key supplied in x-ms-partitionkey header has more "+
			"components than defined in the the collection. Send one value for each path of the container's partition "+
			"key "+
			"in the header x-ms-documentdb-partitionkey, such as [\"a\"].")
)

// pointPartition is the partition of a request on one item: one value for each path of the container's partition key.
// Containers without a partition key of their own need no header, and accept `[]` for "no value".
func pointPartition(e *exchange, st *catalog.State) ([]doc.Value, error) {
	return wholePartition(e.given(hPartitionKey), st)
}

// onePartition is pointPartition for a request that the partition's range serves. The id of a range in the header means
// nothing for such a request: the partition key says where it goes.
func (e *exchange) onePartition(st *catalog.State) ([]doc.Value, error) {
	partition, err := pointPartition(e, st)
	if err == nil {
		e.serve(st.RangeOf(partition))
	}
	return partition, err
}

// wholePartition is pointPartition for a key as text, "" if there is none.
func wholePartition(text string, st *catalog.State) ([]doc.Value, error) {
	var parts []doc.Value
	if text != "" {
		var err error
		if parts, err = parsePartitionKey(text); err != nil {
			return nil, err
		}
	}
	if isMongo(st) {
		return mongoPartition(parts)
	}
	paths := st.Partition.Paths
	switch {
	case len(parts) == len(paths):
		return parts, nil
	case len(parts) > len(paths):
		return nil, errManyComponents
	case len(parts) == 0 && hasSystemKey(st):
		return []doc.Value{{}}, nil
	}
	return nil, errFewComponents
}

// feedPartition is the partition, or the prefix of a hierarchical key, that limits a feed. limited is false for a
// feed of the whole container.
func feedPartition(e *exchange, st *catalog.State) (parts []doc.Value, limited bool, err error) {
	text := e.given(hPartitionKey)
	if text == "" {
		return nil, false, nil
	}
	if parts, err = parsePartitionKey(text); err != nil {
		return nil, false, err
	}
	if isMongo(st) {
		_, err := mongoPartition(parts)
		return nil, false, err
	}
	paths := st.Partition.Paths
	switch {
	case len(parts) > len(paths):
		return nil, false, errManyComponents
	case len(parts) < len(paths) && !st.Partition.Multi && len(parts) > 0:
		return nil, false, errFewComponents
	}
	return parts, len(parts) > 0, nil
}

func hasSystemKey(st *catalog.State) bool { return hasSystemPath(st.Partition) }

func hasSystemPath(key catalog.PartitionKey) bool {
	return len(key.Paths) == 1 && key.Paths[0] == systemKeyPath
}

// parsePartitionKey parses a JSON array of at most three scalars. `{}` stands for "no value" (the zero Value).
// Strings may also have the escapes of a Go string literal, because azcosmos writes them: `\a \v \x7f \U0001f600`.
func parsePartitionKey(text string) ([]doc.Value, error) {
	if len(text) > maxPartitionText {
		return nil, fault.New(fault.Invalid, "The partition key has %d characters, more than the limit of %d.",
			len(text), maxPartitionText)
	}
	p := partitionParser{rest: text}
	parts, ok := p.array()
	if !ok {
		return nil, fault.New(fault.Invalid,
			"Partition key %s is invalid. It is a JSON array of at most %d strings, numbers, "+
				"booleans, nulls, or {} for no value, such as [\"a\",1].", clip(text), maxPartitionParts)
	}
	for _, part := range parts {
		if s, ok := doc.AsString(part); ok && len(s) > maxPartitionString {
			return nil, fault.New(fault.Invalid,
				"A string of the partition key has %d bytes, more than the limit of %d.", len(s), maxPartitionString)
		}
	}
	return parts, nil
}

// A partitionParser consumes rest from its beginning.
type partitionParser struct{ rest string }

func (p *partitionParser) array() (parts []doc.Value, ok bool) {
	if !p.take('[') {
		return nil, false
	}
	parts = []doc.Value{}
	for !p.take(']') {
		if len(parts) == maxPartitionParts || len(parts) > 0 && !p.take(',') {
			return nil, false
		}
		part, ok := p.part()
		if !ok {
			return nil, false
		}
		parts = append(parts, part)
	}
	p.space()
	return parts, p.rest == ""
}

func (p *partitionParser) space() { p.rest = strings.TrimLeft(p.rest, " \t\r\n") }

// take consumes the character c, with the white space before it. It reports whether c came next.
func (p *partitionParser) take(c byte) bool {
	p.space()
	if p.rest == "" || p.rest[0] != c {
		return false
	}
	p.rest = p.rest[1:]
	return true
}

func (p *partitionParser) part() (doc.Value, bool) {
	switch {
	case p.take('"'):
		return p.text()
	case p.take('{'):
		return doc.Value{}, p.take('}')
	case p.word("null"):
		return doc.Null(), true
	case p.word("true"):
		return doc.Bool(true), true
	case p.word("false"):
		return doc.Bool(false), true
	}
	return p.number()
}

func (p *partitionParser) word(w string) (ok bool) {
	p.rest, ok = strings.CutPrefix(p.rest, w)
	return ok
}

func (p *partitionParser) number() (doc.Value, bool) {
	n := strings.IndexAny(p.rest, ",] \t\r\n")
	if n <= 0 {
		return doc.Value{}, false
	}
	text := p.rest[:n]
	if strings.Trim(text, "+-.0123456789eE") != "" {
		return doc.Value{}, false // no hexadecimal, no underscores, no names
	}
	p.rest = p.rest[n:]
	if i, err := strconv.ParseInt(text, 10, 64); err == nil {
		return doc.Int(i), true
	}
	f, err := strconv.ParseFloat(text, 64)
	return doc.Float(f), err == nil && !math.IsInf(f, 0)
}

// text parses a string whose opening quote has been consumed.
func (p *partitionParser) text() (doc.Value, bool) {
	s, ok := p.quoted(`"\\`)
	return doc.String(s), ok
}

// quoted parses up to the closing quote. stops has the quote and the backslash.
func (p *partitionParser) quoted(stops string) (string, bool) {
	n := strings.IndexAny(p.rest, stops)
	if n >= 0 && p.rest[n] == stops[0] {
		s := p.rest[:n]
		p.rest = p.rest[n+1:]
		return strings.ToValidUTF8(s, "\uFFFD"), true
	}
	var s []byte
	for ; n >= 0; n = strings.IndexAny(p.rest, stops) {
		s = append(s, p.rest[:n]...)
		end := p.rest[n] == stops[0]
		p.rest = p.rest[n+1:]
		if end {
			return strings.ToValidUTF8(string(s), "\uFFFD"), true
		}
		r, ok := p.escape()
		if !ok {
			return "", false
		}
		s = utf8.AppendRune(s, r)
	}
	return "", false
}

// escape parses the characters after a backslash.
func (p *partitionParser) escape() (rune, bool) {
	if p.rest == "" {
		return 0, false
	}
	c := p.rest[0]
	p.rest = p.rest[1:]
	switch c {
	case '"', '\\', '/', '\'':
		return rune(c), true
	case 'a':
		return '\a', true
	case 'b':
		return '\b', true
	case 'f':
		return '\f', true
	case 'n':
		return '\n', true
	case 'r':
		return '\r', true
	case 't':
		return '\t', true
	case 'v':
		return '\v', true
	case 'x':
		return p.lone(2)
	case 'u':
		return p.unit()
	case 'U':
		return p.hex(8)
	}
	return 0, false
}

// lone parses the escape of a byte that was not valid UTF-8 when Go quoted the string, unless it is ASCII.
func (p *partitionParser) lone(digits int) (rune, bool) {
	r, ok := p.hex(digits)
	if r >= utf8.RuneSelf {
		r = utf8.RuneError
	}
	return r, ok
}

// unit parses a UTF-16 code unit, and the low surrogate after a high one. Half a pair becomes U+FFFD.
func (p *partitionParser) unit() (rune, bool) {
	r, ok := p.hex(4)
	if !ok || r < 0xD800 || r > 0xDBFF {
		return r, ok
	}
	before := p.rest
	if p.word(`\u`) {
		if low, ok := p.hex(4); ok && low >= 0xDC00 && low <= 0xDFFF {
			return 0x10000 + (r-0xD800)<<10 + (low - 0xDC00), true
		}
		p.rest = before
	}
	return utf8.RuneError, true
}

func (p *partitionParser) hex(digits int) (rune, bool) {
	if len(p.rest) < digits {
		return 0, false
	}
	n, err := strconv.ParseUint(p.rest[:digits], 16, 32)
	if err != nil {
		return 0, false
	}
	p.rest = p.rest[digits:]
	if n > utf8.MaxRune {
		return utf8.RuneError, true
	}
	return rune(n), true
}
