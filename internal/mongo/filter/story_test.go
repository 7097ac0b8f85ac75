package filter

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/expression"
	"github.com/mayflydb/mayfly/internal/storytest"
)

// TestStories runs the cases of testdata. A block of documents alone is for the cases after it; a case is a verb with
// an argument in Extended JSON and documents of its own, if it has any. Documents are counted from 1. The verbs:
//
//	find    a query: which documents match
//	locate  a query: which match, and what `$` stands for
//	tree    a query: what it asks of paths
func TestStories(t *testing.T) {
	storytest.Run(t, "testdata/*.txt", storytest.Blocks, func() storytest.Answer {
		var common []doc.Doc
		return func(t *testing.T, given string) (string, bool) {
			verb, arg, documents := readStory(t, given)
			if verb == "" {
				common = documents
				return "", false
			}
			if len(documents) == 0 {
				documents = common
			}
			return tell(t, verb, arg, documents), true
		}
	})
}

func readStory(t *testing.T, given string) (verb string, arg doc.Doc, documents []doc.Doc) {
	for line := range strings.Lines(given) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "{") {
			documents = append(documents, fromJSON(t, line))
			continue
		}
		var text string
		verb, text, _ = strings.Cut(line, " ")
		arg = fromJSON(t, `{"arg":`+text+`}`)
	}
	return verb, arg, documents
}

func fromJSON(t testing.TB, text string) doc.Doc {
	t.Helper()
	var raw bson.Raw
	if err := bson.UnmarshalExtJSON([]byte(text), false, &raw); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return doc.Doc(raw)
}

func tell(t *testing.T, verb string, arg doc.Doc, documents []doc.Doc) string {
	t.Helper()
	v := doc.Lookup(arg, "arg")
	query, _ := doc.AsDoc(v)
	o := Options{Names: expression.NewNames()}
	switch verb {
	case "find", "locate", "tree":
		f, err := Compile(query, o)
		if err != nil {
			return failure(err)
		}
		if verb == "tree" {
			return strings.TrimSuffix(treeText(f.Tree(), ""), "\n")
		}
		return among(documents, func(d doc.Doc) (bool, string, error) {
			ok, w, err := f.Locate(d, scopeOf(d))
			if verb == "locate" && w.Found {
				return ok, fmt.Sprintf("(%s %d)", w.Path, w.Element), err
			}
			return ok, "", err
		})
	}
	t.Fatalf("no verb %q", verb)
	return ""
}

func scopeOf(d doc.Doc) *expression.Scope {
	s := &expression.Scope{Now: time.Unix(1700000000, 0), Random: func() float64 { return 0.25 }}
	s.Reset(doc.Object(d))
	return s
}

func among(documents []doc.Doc, accepts func(doc.Doc) (bool, string, error)) string {
	var found []string
	for i, d := range documents {
		ok, more, err := accepts(d)
		if err != nil {
			return failure(err)
		}
		if ok {
			found = append(found, fmt.Sprintf("%d%s", i+1, more))
		}
	}
	if len(found) == 0 {
		return "none"
	}
	return strings.Join(found, " ")
}

func failure(err error) string {
	e := code.Of(err)
	if e == nil {
		return "no code: " + err.Error()
	}
	return fmt.Sprintf("%d %s: %s", e.Code, e.Code.Name(), e.Message)
}

var kindNames = []string{"Always", "And", "Or", "Nor", "Not", "Equal", "NotEqual", "Less", "LessEqual", "Greater",
	"GreaterEqual", "In",
	"NotIn", "Exists", "Missing", "Type", "Regex", "ElemMatch", "All", "Size", "Expr", "Other"}

func treeText(n *Node, indent string) string {
	line := indent + kindNames[n.Kind]
	if n.Path != "" {
		line += " " + n.Path
	}
	if n.Value.Type != 0 {
		line += " " + n.Value.String()
	}
	for _, v := range n.Values {
		line += " " + v.String()
	}
	for _, p := range n.Patterns {
		line += fmt.Sprintf(" prefix=%q exact=%v", p.Prefix, p.Exact)
	}
	line += "\n"
	for _, c := range n.Children {
		line += treeText(c, indent+"  ")
	}
	return line
}
