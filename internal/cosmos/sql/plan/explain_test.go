package plan

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/cosmos/sql/function"
	"github.com/mayflydb/mayfly/internal/cosmos/sql/syntax"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/storytest"
)

// TestExplain plans the queries of testdata/explain. A case is lines that say what is there, the query, and the plan;
// what the index-utilization header tells is added. Lines without a query hold for the rest of the file.
func TestExplain(t *testing.T) {
	storytest.Run(t, "testdata/explain/*.txt", storytest.Blocks, func() storytest.Answer {
		common := newSetting()
		return func(t *testing.T, given string) (string, bool) {
			s := common.clone()
			query := s.read(t, given)
			if query == "" {
				common = s
				return "", false
			}
			return s.explain(query), true
		}
	})
}

// A setting is the context in which a query is planned.
type setting struct {
	env        Environment
	excluded   []access.Path
	parameters map[string]doc.Value
	resume     string
	feed       bool // of a kind of resource that has no indexing policy
}

func newSetting() *setting { return &setting{parameters: map[string]doc.Value{}} }

func (s *setting) clone() *setting {
	c := *s
	c.parameters = map[string]doc.Value{}
	for k, v := range s.parameters {
		c.parameters[k] = v
	}
	c.excluded = slices.Clone(s.excluded)
	c.env.Schema.Composite = slices.Clone(s.env.Schema.Composite)
	return &c
}

// read parses directives from the lines before a query, and returns the query.
func (s *setting) read(t *testing.T, given string) string {
	lines := strings.Split(given, "\n")
	for i, line := range lines {
		word, rest, _ := strings.Cut(line, " ")
		switch {
		case line == "":
		case word == "partition":
			s.env.Schema.Partition, s.env.Schema.Hierarchical = nil, strings.Contains(rest, ",")
			for _, p := range strings.Split(rest, ",") {
				s.env.Schema.Partition = append(s.env.Schema.Partition, pathIn(t, strings.TrimSpace(p)))
			}
		case word == "exclude":
			s.excluded = append(s.excluded, pathIn(t, rest))
		case word == "composite":
			s.env.Schema.Composite = append(s.env.Schema.Composite, columnsIn(t, rest))
		case word == "base":
			s.env.Base = access.Partition(elements(valueIn(t, rest)))
		case word == "span":
			s.env.Base = &access.Span{Low: []byte{0x10}, High: []byte{0x20}}
		case line == "no policy":
			s.feed = true
		case line == "no index":
			s.env.NoIndex = true
		case word == "resume":
			s.resume = rest
		case strings.HasPrefix(word, "@"):
			s.parameters[word] = valueIn(t, strings.TrimPrefix(rest, "= "))
		default:
			return strings.Join(lines[i:], "\n")
		}
	}
	return ""
}

func elements(v doc.Value) (list []doc.Value) {
	for e := range doc.Elements(v) {
		list = append(list, e)
	}
	return list
}

func valueIn(t *testing.T, text string) doc.Value {
	v, err := doc.ValueFromJSON([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

func pathIn(t *testing.T, text string) access.Path {
	p, err := doc.ParsePath(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	path := access.Path{}
	for _, token := range p {
		path = append(path, access.Step{Name: token.Name, Element: token.Kind == doc.TokenElement})
	}
	return path
}

func columnsIn(t *testing.T, text string) (columns []access.Column) {
	for _, one := range strings.Split(text, ",") {
		path, direction, _ := strings.Cut(strings.TrimSpace(one), " ")
		columns = append(columns, access.Column{Path: pathIn(t, path), Descending: direction == "DESC"})
	}
	return columns
}

// constant is a small replacement for exec.Constants.
func (s *setting) constant(e syntax.Expr) (doc.Value, bool) {
	switch x := e.(type) {
	case *syntax.Literal:
		return literal(x), true
	case *syntax.Parameter:
		return s.parameters[x.Name], true
	case *syntax.Unary:
		v, ok := s.constant(x.X)
		if f, is := doc.AsFloat(v); ok && is && x.Op == syntax.Minus {
			return doc.Float(-f), true
		}
	case *syntax.Array:
		b := bsoncore.NewArrayBuilder()
		for _, item := range x.Items {
			v, ok := s.constant(item)
			if !ok {
				return doc.Value{}, false
			}
			b.AppendValue(v)
		}
		return bsoncore.Value{Type: bsoncore.TypeArray, Data: b.Build()}, true
	case *syntax.Object:
		b := bsoncore.NewDocumentBuilder()
		for _, m := range x.Members {
			v, ok := s.constant(m.X)
			if !ok {
				return doc.Value{}, false
			}
			b.AppendValue(m.Name, v)
		}
		return bsoncore.Value{Type: bsoncore.TypeEmbeddedDocument, Data: b.Build()}, true
	case *syntax.Call:
		f, ok := function.Lookup(x.Name)
		if !ok || x.UDF || f.Volatile {
			return doc.Value{}, false
		}
		args := make([]doc.Value, len(x.Args))
		for i, arg := range x.Args {
			if args[i], ok = s.constant(arg); !ok {
				return doc.Value{}, false
			}
		}
		return f.Run(&function.Call{}, args), true
	}
	return doc.Value{}, false
}

func literal(l *syntax.Literal) doc.Value {
	switch l.Kind {
	case syntax.Null:
		return doc.Null()
	case syntax.False, syntax.True:
		return doc.Bool(l.Kind == syntax.True)
	case syntax.String:
		return doc.String(l.Text)
	case syntax.Number:
		if l.Whole {
			return doc.Int(l.Int)
		}
		return doc.Float(l.Float)
	}
	return doc.Value{}
}

func (s *setting) environment() Environment {
	env := s.env
	env.Constant = s.constant
	env.Test = func(e syntax.Expr, want bool) access.Test {
		return func(v doc.Value) (passes, certain bool) {
			if v.Type != bsoncore.TypeString {
				panic("not a string")
			}
			return (&truth{s, v}).of(e, nil) == truthOf(want), true
		}
	}
	env.Schema.Indexed = func(p access.Path) bool {
		return !slices.ContainsFunc(s.excluded, func(x access.Path) bool {
			return len(x) <= len(p) && slices.Equal(x, p[:len(x)])
		})
	}
	if s.feed {
		env.Schema.Indexed = nil
	}
	switch {
	case s.resume == "creation":
		env.Resume = &Order{}
	case s.resume == "partition":
		env.Resume = &Order{Kind: ByPartition}
	case s.resume != "":
		env.Resume = &Order{Kind: ByValue}
		for _, word := range strings.Fields(s.resume) {
			switch word {
			case "implied":
				env.Resume.Implied = true
			case "ties":
				env.Resume.Ties = true
			default:
				q, err := syntax.Parse("SELECT VALUE " + word)
				if err != nil {
					panic(err)
				}
				env.Resume.Keys = append(env.Resume.Keys, syntax.SortKey{Expr: q.Select.Value})
			}
		}
	}
	return env
}

func (s *setting) explain(query string) string {
	q, err := syntax.Parse(query)
	if err != nil {
		return complaint(err)
	}
	before := syntax.Print(q)
	p, err := Build(q, s.environment())
	if err != nil {
		return complaint(err)
	}
	if syntax.Print(q) != before {
		return "the query was changed\n"
	}
	text := p.Explain()
	for _, path := range p.Indexes.UsedSingle {
		text += "used " + path + "\n"
	}
	for _, paths := range p.Indexes.UsedComposite {
		text += "used " + strings.Join(paths, ", ") + "\n"
	}
	for _, path := range p.Indexes.WantedSingle {
		text += "wanted " + path + "\n"
	}
	for _, paths := range p.Indexes.WantedComposite {
		text += "wanted " + strings.Join(paths, ", ") + "\n"
	}
	return text
}

func complaint(err error) string {
	var wrong *syntax.Error
	if !errors.As(err, &wrong) || fault.KindOf(err) != fault.Invalid {
		return "another error: " + err.Error() + "\n"
	}
	text := ""
	for _, m := range wrong.Mistakes {
		text += fmt.Sprintf("error %s %d-%d %s\n", m.Code, m.Span.Start, m.Span.End, m.Message)
	}
	return text
}
