package expression

import (
	"strings"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/work"
)

// MaxPathNames limits the names of a path, as MongoDB limits the nesting of documents.
const MaxPathNames = 200

// SplitPath parses a dotted path, with MongoDB's errors.
func SplitPath(path string) ([]string, error) {
	if path == "" {
		return nil, code.New(40352, "FieldPath cannot be constructed with empty string")
	}
	if strings.HasSuffix(path, ".") {
		return nil, code.New(40353, "FieldPath must not end with a '.'.")
	}
	names := strings.Split(path, ".")
	if len(names) > MaxPathNames {
		return nil, code.New(code.Overflow, "FieldPath is too long")
	}
	for _, name := range names {
		if err := CheckName(name); err != nil {
			return nil, err
		}
	}
	return names, nil
}

// CheckName returns an error if a name may not be in a path or an object literal.
func CheckName(name string) error {
	switch {
	case name == "":
		return code.New(15998, "FieldPath field names may not be empty strings.")
	case name[0] == '$':
		return code.New(16410, "FieldPath field names may not start with '$'. Consider using $getField or $setField.")
	case strings.IndexByte(name, 0) >= 0:
		return code.New(16411, "FieldPath field names may not contain '\\0'.")
	case strings.IndexByte(name, '.') >= 0:
		return code.New(16412, "FieldPath field names may not contain '.'. Consider using $getField or $setField.")
	}
	return nil
}

// compileString compiles a string: "$a.b", "$$v.a", or a literal.
func compileString(v doc.Value, names *Names) (*Expression, error) {
	text, _ := doc.AsString(v)
	if text == "" || text[0] != '$' {
		return literal(v), nil
	}
	if strings.HasPrefix(text, "$$") {
		return compileVariable(strings.Clone(text[2:]), names)
	}
	if text == "$" {
		return nil, code.New(16872, "'$' by itself is not a valid FieldPath")
	}
	path := strings.Clone(text[1:])
	steps, err := SplitPath(path)
	if err != nil {
		return nil, err
	}
	if slot, ok := names.Slot("CURRENT"); ok {
		return walk(variable(slot), steps), nil
	}
	x := walk(current, steps)
	x.path = path
	return x, nil
}

func current(s *Scope) (doc.Value, error) { return s.Current, nil }

// walk is the value at a path in the value of from. An array on the way is mapped: the result is an array of the values
// in its objects. Numbers in a path are names, never indexes.
func walk(from eval, steps []string) *Expression {
	if len(steps) == 0 {
		return &Expression{run: from}
	}
	return &Expression{run: func(s *Scope) (doc.Value, error) {
		v, err := from(s)
		if err != nil {
			return v, err
		}
		return follow(s, v, steps)
	}}
}

// follow walks from v, through objects and arrays.
func follow(s *Scope, v doc.Value, steps []string) (doc.Value, error) {
	for i, name := range steps {
		switch v.Type {
		case bsoncore.TypeEmbeddedDocument:
			var err error
			if v, err = s.Meter.Lookup(v.Data, name); err != nil {
				return doc.Value{}, err
			}
		case bsoncore.TypeArray:
			return spread(s, v, steps[i:])
		default:
			return doc.Value{}, nil
		}
	}
	return v, nil
}

// spread maps a path over the objects of an array. It leaves out other elements, arrays included.
func spread(s *Scope, array doc.Value, steps []string) (doc.Value, error) {
	b := s.array()
	for e := range doc.Elements(array) {
		if err := s.spend(work.Element); err != nil {
			return doc.Value{}, err
		}
		if e.Type != bsoncore.TypeEmbeddedDocument {
			continue
		}
		mark := s.mark()
		v, err := follow(s, e, steps)
		if err != nil {
			return doc.Value{}, err
		}
		if v.Type != 0 {
			if err := b.add(v); err != nil {
				return doc.Value{}, err
			}
		}
		s.release(mark)
	}
	return b.done()
}
