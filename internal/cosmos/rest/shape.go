package rest

import (
	"fmt"
	"strings"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/fault"
)

// A shape checks one value of a policy and returns it as it is stored: only with members that the service knows, in
// the service's order. at is the name of the value in errors.
type shape func(at string, v doc.Value) (doc.Value, error)

// A property is one member of an object.
type property struct {
	name     string
	shape    shape
	required bool
}

// object accepts an object with these members. A member that is null counts as absent.
func object(members ...property) shape {
	return func(at string, v doc.Value) (doc.Value, error) {
		d, ok := doc.AsDoc(v)
		if !ok {
			return doc.Value{}, invalidProperty(at, "an object")
		}
		var kept doc.Doc
		for _, m := range members {
			value := doc.Lookup(d, m.name)
			if doc.IsUndefined(value) || doc.IsNull(value) {
				if m.required {
					return doc.Value{}, invalidProperty(inside(at, m.name), "present")
				}
				continue
			}
			value, err := m.shape(inside(at, m.name), value)
			if err != nil {
				return doc.Value{}, err
			}
			kept = doc.With(kept, m.name, value)
		}
		return objectOf(kept), nil
	}
}

// objectOf is a document as a value; nil becomes an empty object.
func objectOf(d doc.Doc) doc.Value {
	if d == nil {
		d = bsoncore.BuildDocument(nil)
	}
	return doc.Object(d)
}

// list accepts an array of low to high values of one shape.
func list(low, high int, of shape) shape {
	return func(at string, v doc.Value) (doc.Value, error) {
		if !doc.IsArray(v) {
			return doc.Value{}, invalidProperty(at, "an array")
		}
		var kept []doc.Value
		for element := range doc.Elements(v) {
			if len(kept) == high {
				return doc.Value{}, invalidProperty(at, fmt.Sprintf("an array of at most %d", high))
			}
			element, err := of(fmt.Sprintf("%s[%d]", at, len(kept)), element)
			if err != nil {
				return doc.Value{}, err
			}
			kept = append(kept, element)
		}
		if len(kept) < low {
			return doc.Value{}, invalidProperty(at, fmt.Sprintf("an array of at least %d", low))
		}
		return arrayOf(kept...), nil
	}
}

func arrayOf(values ...doc.Value) doc.Value {
	return doc.Value{Type: bsoncore.TypeArray, Data: bsoncore.BuildArray(nil, values...)}
}

// maxText is the longest string in a policy, in bytes.
const maxText = 4096

// text accepts a string, which may be empty.
func text(at string, v doc.Value) (doc.Value, error) {
	if s, ok := doc.AsString(v); !ok || len(s) > maxText {
		return doc.Value{}, invalidProperty(at, "a string")
	}
	return v, nil
}

// oneOf accepts one of these words in any letter case, and stores it as spelled here.
func oneOf(words ...string) shape {
	return func(at string, v doc.Value) (doc.Value, error) {
		s, _ := doc.AsString(v)
		for _, word := range words {
			if strings.EqualFold(s, word) {
				return doc.String(word), nil
			}
		}
		return doc.Value{}, invalidProperty(at, "one of "+strings.Join(words, ", "))
	}
}

// whole accepts a whole number from low to high.
func whole(low, high int64) shape {
	return func(at string, v doc.Value) (doc.Value, error) {
		n, ok := doc.AsInt(v)
		if !ok || n < low || n > high {
			return doc.Value{}, invalidProperty(at, fmt.Sprintf("a whole number from %d to %d", low, high))
		}
		return doc.Int(n), nil
	}
}

// boolean accepts true or false.
func boolean(at string, v doc.Value) (doc.Value, error) {
	if _, ok := doc.AsBool(v); !ok {
		return doc.Value{}, invalidProperty(at, "true or false")
	}
	return v, nil
}

// anyNumber accepts any number.
func anyNumber(at string, v doc.Value) (doc.Value, error) {
	if !doc.IsNumber(v) {
		return doc.Value{}, invalidProperty(at, "a number")
	}
	return v, nil
}

// memberPath accepts a path to one property, such as /a/b.
func memberPath(at string, v doc.Value) (doc.Value, error) {
	return pathThat(at, v, "a path to one property, such as /a/b", func(p doc.Path) bool {
		for _, token := range p {
			if token.Kind != doc.TokenMember {
				return false
			}
		}
		return true
	})
}

// elementPath accepts a path to one property, which may be within array elements.
func elementPath(at string, v doc.Value) (doc.Value, error) {
	return pathThat(at, v, "a path such as /a/b or /a/[]/b", func(p doc.Path) bool {
		last := p[len(p)-1].Kind
		return last == doc.TokenMember || last == doc.TokenElement
	})
}

// indexPath accepts a path that ends in /? or /*. The root is `/*`.
func indexPath(at string, v doc.Value) (doc.Value, error) {
	if s, _ := doc.AsString(v); s == "/" {
		return doc.String("/*"), nil
	}
	return pathThat(at, v, "a path that ends in /? or /*, such as /a/?", func(p doc.Path) bool {
		last := p[len(p)-1].Kind
		return last == doc.TokenScalar || last == doc.TokenBelow
	})
}

func pathThat(at string, v doc.Value, want string, fits func(doc.Path) bool) (doc.Value, error) {
	s, ok := doc.AsString(v)
	if !ok {
		return doc.Value{}, invalidProperty(at, want)
	}
	p, err := doc.ParsePath(s)
	if err != nil || !fits(p) {
		return doc.Value{}, invalidProperty(at, want)
	}
	return v, nil
}

func inside(at, name string) string {
	if at == "" {
		return name
	}
	return at + "." + name
}

func invalidProperty(at, want string) error {
	return fault.New(fault.Invalid,
		"The request payload is invalid. Ensure to provide a valid request payload. The property '%s' must be %s.",
		at, want)
}

// texts are the strings of an array.
func texts(v doc.Value) (list []string) {
	for element := range doc.Elements(v) {
		s, _ := doc.AsString(element)
		list = append(list, s)
	}
	return list
}

// textOf is a string member of d, or "".
func textOf(d doc.Doc, name string) string {
	s, _ := doc.AsString(doc.Lookup(d, name))
	return s
}

// docOf is an object member of d, or nil.
func docOf(d doc.Doc, name string) doc.Doc {
	o, _ := doc.AsDoc(doc.Lookup(d, name))
	return o
}

// present reports whether d has the member and its value is not null.
func present(d doc.Doc, name string) bool {
	v := doc.Lookup(d, name)
	return !doc.IsUndefined(v) && !doc.IsNull(v)
}
