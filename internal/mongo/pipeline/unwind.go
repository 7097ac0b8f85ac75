package pipeline

import (
	"strings"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/work"
)

// An unwind is $unwind: a document for each element of an array. A value that is not an array counts as an array of
// one.
// https://www.mongodb.com/docs/v7.0/reference/operator/aggregation/unwind/
type unwind struct {
	path     path
	index    path // includeArrayIndex, nil for none
	preserve bool // documents without an element are kept
}

func (s *unwind) name() string { return "$unwind" }

func (s *unwind) rows(r *run, in Rows) Rows {
	return func(yield func(doc.Doc, error) bool) {
		var buf, indexed []byte
		give := func(d doc.Doc, index int64) bool {
			if s.index != nil {
				indexed = s.index.appendSet(indexed[:0], d, indexValue(index))
				d = indexed
			}
			return yield(d, nil)
		}
		for d, err := range in {
			if err != nil {
				yield(nil, err)
				return
			}
			v := s.path.in(d)
			if !doc.IsArray(v) {
				if nullish(v) && !s.preserve {
					continue
				}
				if !give(d, -1) {
					return
				}
				continue
			}
			i := int64(0)
			for e := range doc.Elements(v) {
				if err := r.meter.Spend(work.Operator + work.Scanned(len(d)-len(v.Data)+len(e.Data))); err != nil {
					yield(nil, err)
					return
				}
				buf = s.path.appendSet(buf[:0], d, e)
				if !give(buf, i) {
					return
				}
				i++
			}
			if i == 0 && s.preserve {
				buf = s.path.appendSet(buf[:0], d, doc.Value{})
				if !give(buf, -1) {
					return
				}
			}
		}
	}
}

// indexValue is the index of an element, or null if it is not in an array.
func indexValue(i int64) doc.Value {
	if i < 0 {
		return null
	}
	return doc.Int(i)
}

func parseUnwind(c *compiler, arg doc.Value) (stage, error) {
	s := &unwind{}
	var prefixed string
	switch arg.Type {
	case bsoncore.TypeString:
		prefixed, _ = doc.AsString(arg)
	case bsoncore.TypeEmbeddedDocument:
		var err error
		if prefixed, err = s.options(arg.Data); err != nil {
			return nil, err
		}
	default:
		return nil, code.New(15981, "expected either a string or an object as specification for $unwind stage, got %s",
			code.TypeName(arg))
	}
	if prefixed == "" {
		return nil, code.New(28812, "no path specified to $unwind stage")
	}
	if !strings.HasPrefix(prefixed, "$") {
		return nil, code.New(28818, "path option to $unwind stage should be prefixed with a '$': %s", prefixed)
	}
	var err error
	s.path, err = parsePath(prefixed[1:])
	return s, err
}

func (s *unwind) options(spec doc.Doc) (prefixed string, err error) {
	for name, v := range doc.Members(spec) {
		text, isText := doc.AsString(v)
		switch name {
		case "path":
			if !isText {
				return "", code.New(28808, "expected a string as the path for $unwind stage, got %s", code.TypeName(v))
			}
			prefixed = text
		case "preserveNullAndEmptyArrays":
			if v.Type != bsoncore.TypeBoolean {
				return "", code.New(28809,
					"expected a boolean for the preserveNullAndEmptyArrays option to $unwind stage, got %s",
					code.TypeName(v))
			}
			s.preserve, _ = doc.AsBool(v)
		case "includeArrayIndex":
			switch {
			case !isText || text == "":
				return "", code.New(28810,
					"expected a non-empty string for the includeArrayIndex  option to $unwind stage, got %s",
					code.TypeName(v))
			case text[0] == '$':
				return "", code.New(28822,
					"includeArrayIndex option to $unwind stage should not be prefixed with a '$': %s", text)
			}
			if s.index, err = parsePath(text); err != nil {
				return "", err
			}
		default:
			return "", code.New(28811, "unrecognized option to $unwind stage: %s", name)
		}
	}
	return prefixed, nil
}
