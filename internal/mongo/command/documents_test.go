package command_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/mayflydb/mayfly/internal/doc"
)

// eq is {key: value}.
func eq(key string, value any) bson.D { return bson.D{{Key: key, Value: value}} }

// pairs is a document of a name, its value, the next name, its value and so on.
func pairs(list ...any) bson.D {
	var d bson.D
	for pair := range slices.Chunk(list, 2) {
		d = append(d, bson.E{Key: pair[0].(string), Value: pair[1]})
	}
	return d
}

// with is a document with more members.
func with(cmd, more bson.D) bson.D { return append(append(bson.D{}, cmd...), more...) }

// bareName finds the names in a document that is written as JSON with bare names and single quotes.
var bareName = regexp.MustCompile(`([{,]\s*)([$\w.]+):`)

// document reads a document from JSON with bare names and single quotes: a command, a filter, a stage of a pipeline.
func document(t testing.TB, text string) bson.D {
	t.Helper()
	quoted := bareName.ReplaceAllString(strings.ReplaceAll(text, "'", `"`), `$1"$2":`)
	var d bson.D
	if err := bson.UnmarshalExtJSON([]byte(quoted), false, &d); err != nil {
		t.Fatalf("%s: %v", quoted, err)
	}
	return d
}

// parsed reads a document as document does.
func parsed(t testing.TB, text string) bson.Raw {
	t.Helper()
	raw, err := bson.Marshal(document(t, text))
	must(t, err)
	return raw
}

// parsedAll reads documents that are the elements of an array without its brackets.
func parsedAll(t testing.TB, text string) []bson.Raw {
	t.Helper()
	var list []bson.Raw
	for v := range doc.Elements(doc.Lookup(doc.Doc(parsed(t, "{a: ["+text+"]}")), "a")) {
		list = append(list, bson.Raw(v.Data))
	}
	return list
}

// send sends a command, as text, and gives its error.
func send(t testing.TB, db *mongo.Database, cmd string) error {
	t.Helper()
	return db.RunCommand(t.Context(), parsed(t, cmd)).Err()
}
