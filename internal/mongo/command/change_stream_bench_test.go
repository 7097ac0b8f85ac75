package command_test

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// BenchmarkChangeStream reads a thousand events of inserts in one batch.
func BenchmarkChangeStream(b *testing.B) {
	const n = 1000
	d := newReplica(b)
	c := d.Database("test").Collection("c")
	s, err := c.Watch(b.Context(), bson.A{})
	must(b, err)
	token := s.ResumeToken()
	must(b, s.Close(b.Context()))
	var list []any
	for i := range n {
		list = append(list, pairs("_id", i, "name", "a document of some length, as many are"))
	}
	_, err = c.InsertMany(b.Context(), list)
	must(b, err)
	cmd := bson.D{{Key: "aggregate", Value: "c"}, {Key: "pipeline", Value: bson.A{
		eq("$changeStream", eq("resumeAfter", token)), eq("$match", eq("operationType", "insert")),
	}}, {Key: "cursor", Value: eq("batchSize", n)}, {Key: "$db", Value: "test"}}
	p := d.peer()
	b.ReportAllocs()
	for b.Loop() {
		answer := p.ask(cmd)
		cursor := answer.Lookup("cursor", "id").Int64()
		if _, err := answer.LookupErr("cursor", "firstBatch", "999"); err != nil {
			b.Fatal(answer)
		}
		p.ask(pairs("killCursors", "c", "cursors", bson.A{cursor}, "$db", "test"))
	}
}
