package doc

import (
	"iter"
	"math"
	"strconv"
	"sync"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"
)

// ParseOptions say what FromJSON does with the root object.
type ParseOptions struct {
	MaxBytes int                    // of text; 0 stands for the constant MaxBytes
	Skip     func(name []byte) bool // root members to leave out, such as system members that a client sent; nil keeps all
}

func (o ParseOptions) check(text []byte) error {
	limit := o.MaxBytes
	if limit == 0 {
		limit = MaxBytes
	}
	if len(text) > limit {
		return &Error{Offset: limit, TooLarge: true,
			Message: "The JSON text has " + strconv.Itoa(len(text)) + " bytes, more than the limit of " + strconv.Itoa(limit) + "."}
	}
	return nil
}

// FromJSON appends to dst the document that text is, and returns the document
// alone: it lies behind len(dst), in dst's memory when that has room.
//
// The text must be one JSON object as RFC 8259 has it, in valid UTF-8, nested at
// most MaxDepth deep. The order of members is kept; of members with the same name
// only the last stays. A name may not hold a NUL, a string may. A \u escape that
// is half of a surrogate pair becomes U+FFFD. Whole numbers that int64 or uint64
// can hold are kept exactly, all others become doubles; a number that no double
// can hold is refused. Errors are of type *Error.
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

// ArrayFromJSON yields the elements of the JSON array that text is, each read
// when it is asked for and each in memory of its own. An error is yielded once,
// as the last thing. Elements may be nested MaxDepth deep. Of opts, only
// MaxBytes counts.
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

// errStopped says that the loop over an array was left.
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

// A parser turns JSON text into BSON bytes in one pass. Its methods begin at
// the first byte of what they read and end behind the last.
type parser struct {
	Builder
	text  []byte
	at    int
	depth int
	skip  func(name []byte) bool
}

// parsers are kept for the memory of seen, so that reading a document allocates
// nothing but its bytes.
var parsers = sync.Pool{New: func() any { return &parser{Builder: Builder{seen: make([]member, 0, 2*fewNames)}} }}

func (p *parser) free() {
	if cap(p.seen) <= keptNames {
		*p = parser{Builder: Builder{seen: p.seen[:0]}}
		parsers.Put(p)
	}
}

// peek is the byte at hand, 0 at the end of the text.
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

// fail tells what was expected where the parser stands.
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

// comma reads the comma before the next member or element, or else the list ought to close here.
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
		return Nest{}, p.fail("Objects and arrays may be nested " + strconv.Itoa(MaxDepth) + " deep and no deeper, as they are")
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
