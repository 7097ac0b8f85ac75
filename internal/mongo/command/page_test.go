package command_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/command"
	"github.com/mayflydb/mayfly/internal/mongo/expression"
	"github.com/mayflydb/mayfly/internal/mongo/filter"
	"github.com/mayflydb/mayfly/internal/mongo/pipeline"
	"github.com/mayflydb/mayfly/internal/mongo/update"
	"github.com/mayflydb/mayfly/internal/storytest"
)

// TestPageListsWhatThereIs compares docs/mongo.md with the tables of commands, stages and operators.
func TestPageListsWhatThereIs(t *testing.T) {
	storytest.Section(t, "../../../docs/mongo.md", "<!-- tables -->\n", "<!-- end -->", tables())
}

func tables() string {
	var b strings.Builder
	b.WriteString("\n## Commands\n\n| command | does |\n|---|---|\n")
	commands := command.Commands()
	for _, name := range slices.Sorted(maps.Keys(commands)) {
		fmt.Fprintf(&b, "| `%s` | %s |\n", name, commands[name])
	}
	list := func(title string, names []string, compile func(name string) error) {
		var there, refused []string
		for _, name := range names {
			if err := compile(name); code.Is(err, code.CommandNotSupported) || code.Is(err, code.SearchNotEnabled) {
				refused = append(refused, "`"+name+"`")
			} else {
				there = append(there, "`"+name+"`")
			}
		}
		fmt.Fprintf(&b, "\n## %s\n\n%s\n", title, wrapped(there))
		if len(refused) > 0 {
			fmt.Fprintf(&b, "\nRefused by name:\n%s\n", wrapped(refused))
		}
	}
	document, field := filter.Operators()
	list("Query operators", slices.Concat(document, field), func(name string) error {
		q := bson.D{{Key: name, Value: 1}}
		if slices.Contains(field, name) {
			q = bson.D{{Key: "a", Value: q}}
		}
		_, err := filter.Compile(asDoc(q), filter.Options{})
		return err
	})
	list("Update operators", update.Operators(), func(string) error { return nil })
	stages := pipeline.Names()
	slices.Sort(stages)
	list("Stages", stages, func(name string) error {
		_, err := pipeline.Compile([]doc.Value{doc.Object(asDoc(eq(name, bson.D{})))}, pipeline.Options{})
		return err
	})
	list("Accumulators", pipeline.Accumulators(), func(string) error { return nil })
	operators := expression.Operators()
	slices.Sort(operators)
	list("Expression operators", operators, func(name string) error {
		_, err := expression.Compile(doc.Object(asDoc(bson.D{{Key: name, Value: bson.D{}}})), expression.NewNames())
		return err
	})
	b.WriteString("\n")
	return b.String()
}

func asDoc(d bson.D) doc.Doc {
	raw, err := bson.Marshal(d)
	if err != nil {
		panic(err)
	}
	return raw
}

// wrapped joins names into lines of a page.
func wrapped(names []string) string {
	var b strings.Builder
	width := 0
	names = slices.Compact(names)
	for i, name := range names {
		if width > 0 && width+len(name)+len(",") > 120 {
			b.WriteString("\n")
			width = 0
		} else if width > 0 {
			b.WriteString(" ")
		}
		b.WriteString(name)
		width += len(name) + 2
		if i < len(names)-1 {
			b.WriteString(",")
		}
	}
	return b.String()
}
