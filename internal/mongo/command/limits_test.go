package command_test

import (
	"fmt"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/mayflydb/mayfly/internal/doc"
)

// What a client asks for is bounded in count, memory and time, also while it is compiled.
func TestCommandsHaveLimits(t *testing.T) {
	d := newServer(t, nil)
	l := d.line()
	var documents, roles bson.A
	for i := range 200 {
		documents = append(documents, bson.D{{Key: "_id", Value: i}})
	}
	for i := range 1001 {
		roles = append(roles, bson.D{{Key: "role", Value: "read"}, {Key: "db", Value: fmt.Sprint("d", i)}})
	}
	var variables bson.D
	for i := range 10_001 {
		variables = append(variables, bson.E{Key: fmt.Sprint("v", i), Value: i})
	}
	range1e6 := bson.D{{Key: "$range", Value: bson.A{0, 1_000_000}}}
	larger := eq("$filter", pairs("input", range1e6, "cond", eq("$gt", bson.A{"$$this", "$_id"})))
	long := eq("$sum", eq("$map", pairs("input", range1e6, "in", eq("$size", larger))))
	l.say(bson.D{{Key: "insert", Value: "c"}, {Key: "documents", Value: documents}, {Key: "$db", Value: "test"}})
	for _, x := range []struct {
		name    string
		code    int64
		command bson.D
	}{
		{"roles", 2, bson.D{{Key: "createUser", Value: "u"}, {Key: "pwd", Value: "p"}, {Key: "roles", Value: roles}}},
		{"variables", 2, bson.D{{Key: "find", Value: "c"}, {Key: "let", Value: variables}}},
		{"time of a variable", 50, pairs("find", "c", "let", eq("x", long), "maxTimeMS", 50)},
		{"time of a filter", 50,
			pairs("find", "c", "filter", eq("$expr", eq("$eq", bson.A{long, "x"})), "maxTimeMS", 50)},
	} {
		begun := time.Now()
		answer := l.say(append(x.command, bson.E{Key: "$db", Value: "test"}))
		if got, _ := doc.AsInt64Exact(doc.Lookup(answer, "code")); got != x.code {
			t.Errorf("%s: %.300s", x.name, bson.Raw(answer).String())
		}
		if took := time.Since(begun); took > 20*time.Second {
			t.Errorf("%s: took %v", x.name, took)
		}
	}
}
