package doc

import (
	"iter"
	"math"
	"strconv"
	"sync"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"
)

// ParseOptions configure FromJSON.
type ParseOptions struct {
	MaxBytes int // of text; 0 means the constant MaxBytes

	// Skip reports whether to omit a member of the root, such as a system member that a client sent; nil keeps all.
	Skip func(name []byte) bool
}

func (o ParseOptions) check(text []byte) error {
	limit := o.MaxBytes
	if limit == 0 {
		limit = MaxBytes
	}
	if len(text) > limit {
		return &Error{Offset: limit, TooLarge: true,
			Message: "The JSON text has " + strconv.Itoa(len(text)) + " bytes, more than the limit of " +
				strconv.Itoa(limit) + "."}
	}
	return nil
}

// FromJSON reads a document from JSON text. It appends the document to dst, in the
// memory of dst if that is large enough, and returns the appended part.
//
// The text must be one JSON object (RFC 8259), in valid UTF-8, nested at most
// MaxDepth deep. Members keep their order; of members with the same name only the
// last remains. A name must not contain a NUL, a string may. A \u escape that is
// half of a surrogate pair becomes U+FFFD. Integers in the range of int64 or uint64
// are exact, all other numbers become doubles; a number beyond the range of a double
// is an error. Errors are of type *Error.
func FromJSON(dst []byte, text []byte, opts ParseOptions) (Doc, error) {
	if err := opts.check(text); err != nil {
		return nil, err
	}
	p := parsers.Get().(*parser)
	defer p.free()
	p.text, p.out, p.skip = text, dst, opts.Skip
	p.space()
	if p.peek() != '{' {
		return nil, p.fail("A JSON object was expected")
	}
	if err := p.object(); err != nil {
		return nil, err
	}
	if err := p.end(); err != nil {
		return nil, err
	}
	return p.out[len(dst):], nil
}

// ValueFromJSON is FromJSON for any JSON value: scalar, array or object.
func ValueFromJSON(text []byte) (Value, error) {
	if err := (ParseOptions{}).check(text); err != nil {
		return Value{}, err
	}
	p := parser{text: text}
	p.space()
	kind, err := p.value()
	if err == nil {
		err = p.end()
	}
	if err != nil {
		return Value{}, err
	}
	return Value{Type: kind, Data: p.out}, nil
}

// ArrayFromJSON yields the elements of a JSON array, each in memory of its own. It
// reads an element only when the loop asks for it. An error is yielded once, at the
// end. Elements may be nested MaxDepth deep. Only MaxBytes of opts is used.
func ArrayFromJSON(text []byte, opts ParseOptions) iter.Seq2[Value, error] {
	return func(yield func(Value, error) bool) {
		if err := opts.check(text); err != nil {
			yield(Value{}, err)
			return
		}
		p := parser{text: text}
		if err := p.elements(yield); err != nil && err != errStopped {
			yield(Value{}, err)
		}
	}
}

// errStopped means that the loop over an array ended early.
var errStopped = &Error{Message: "stopped"}

func (p *parser) elements(yield func(Value, error) bool) error {
	p.space()
	if p.peek() != '[' {
		return p.fail("A JSON array was expected")
	}
	p.at++
	p.space()
	for first := true; p.peek() != ']'; first = false {
		if !first {
			if err := p.comma(']'); err != nil {
				return err
			}
		}
		p.out = nil
		kind, err := p.value()
		if err != nil {
			return err
		}
		if !yield(Value{Type: kind, Data: p.out}, nil) {
			return errStopped
		}
		p.space()
	}
	p.at++
	return p.end()
}

// A parser turns JSON text into BSON in one pass. Each method begins at the first
// byte of what it reads, and ends after the last.
type parser struct {
	Builder
	text  []byte
	at    int
	depth int
	skip  func(name []byte) bool
}

// parsers keep the memory of seen, so that reading a document allocates nothing
// but its bytes.
var parsers = sync.Pool{New: func() any { return &parser{Builder: Builder{seen: make([]member, 0, 2*fewNames)}} }}

func (p *parser) free() {
	if cap(p.seen) <= keptNames {
		*p = parser{Builder: Builder{seen: p.seen[:0]}}
		parsers.Put(p)
	}
}

// peek is the current byte, 0 at the end of the text.
func (p *parser) peek() byte {
	if p.at < len(p.text) {
		return p.text[p.at]
	}
	return 0
}

func (p *parser) space() {
	for p.at < len(p.text) {
		switch p.text[p.at] {
		case ' ', '\t', '\n', '\r':
			p.at++
		default:
			return
		}
	}
}

// fail is the error that message describes, at the current position.
func (p *parser) fail(message string) error {
	if p.at >= len(p.text) {
		message = "The JSON text ends too early"
	}
	return failAt(p.at, "%s", message)
}

func (p *parser) end() error {
	p.space()
	if p.at < len(p.text) {
		return p.fail("Nothing may follow the JSON value, but something does")
	}
	return nil
}

// comma reads the comma before the next member or element.
func (p *parser) comma(closing byte) error {
	if p.peek() != ',' {
		return p.fail("A comma or '" + string(closing) + "' was expected")
	}
	p.at++
	p.space()
	return nil
}

func (p *parser) value() (bsoncore.Type, error) {
	switch c := p.peek(); c {
	case '"':
		return bsoncore.TypeString, p.string()
	case '{':
		return bsoncore.TypeEmbeddedDocument, p.object()
	case '[':
		return bsoncore.TypeArray, p.array()
	case 't':
		return p.Bool(true), p.literal("true")
	case 'f':
		return p.Bool(false), p.literal("false")
	case 'n':
		return bsoncore.TypeNull, p.literal("null")
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		return p.number()
	}
	return 0, p.fail("A JSON value was expected")
}

func (p *parser) literal(word string) error {
	if len(p.text)-p.at < len(word) || string(p.text[p.at:p.at+len(word)]) != word {
		return p.fail("A JSON value was expected")
	}
	p.at += len(word)
	return nil
}

func (p *parser) object() error {
	n, err := p.open()
	if err != nil {
		return err
	}
	for first := true; p.peek() != '}'; first = false {
		if !first {
			if err := p.comma('}'); err != nil {
				return err
			}
		}
		if err := p.member(&n); err != nil {
			return err
		}
		p.space()
	}
	return p.close(&n)
}

// member reads one name and value.
func (p *parser) member(n *Nest) error {
	p.begin(n)
	if err := p.name(); err != nil {
		return err
	}
	p.named(n)
	p.space()
	if p.peek() != ':' {
		return p.fail("A colon was expected")
	}
	p.at++
	p.space()
	kind, err := p.value()
	if err != nil {
		return err
	}
	if p.depth == 1 && p.skip != nil && p.skip(p.nameOf(n)) {
		p.Drop(n)
		return nil
	}
	p.Keep(n, kind)
	return nil
}

func (p *parser) array() error {
	n, err := p.open()
	if err != nil {
		return err
	}
	for first := true; p.peek() != ']'; first = false {
		if !first {
			if err := p.comma(']'); err != nil {
				return err
			}
		}
		p.Element(&n)
		kind, err := p.value()
		if err != nil {
			return err
		}
		p.Set(&n, kind)
		p.space()
	}
	return p.close(&n)
}

// open begins an object or array.
func (p *parser) open() (Nest, error) {
	if p.depth == MaxDepth {
		return Nest{}, p.fail(
			"Objects and arrays may be nested " + strconv.Itoa(MaxDepth) + " deep and no deeper, as they are",
		)
	}
	p.depth++
	p.at++
	p.space()
	return p.Open(), nil
}

func (p *parser) close(n *Nest) error {
	p.depth--
	p.at++
	if len(p.out)-n.start >= math.MaxInt32 {
		return &Error{Offset: p.at, TooLarge: true, Message: "The JSON text makes a document of more than 2 GiB."}
	}
	p.Close(n)
	return nil
}
