package command_test

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
)

func TestRetryableWrites(t *testing.T) {
	t.Parallel()
	d := newSuite(t)
	m := d.member(1)
	inc := eq("$inc", eq("x", 1))
	cases := []struct {
		name        string
		cmd         bson.D
		first, then string
		more        []bson.E
	}{
		{"insert", insertOf("c", eq("_id", 1), eq("_id", 2)), "n 2", "n 2, retriedStmtIds [0,1]", nil},
		{"update", updateOf("c", eq("_id", 1), inc), "n 1, nModified 1", "n 1, nModified 1, retriedStmtIds [0]", nil},
		{"upsert", pairs("update", "c", "updates", bson.A{pairs("q", eq("_id", 5), "u", inc, "upsert", true)}),
			"n 1, nModified 0", "n 1, nModified 0, retriedStmtIds [0]", nil},
		{"delete", deleteOf("c", eq("_id", 2)), "n 1", "n 1, retriedStmtIds [0]", nil},
		{"findAndModify", pairs("findAndModify", "c", "query", eq("_id", 1), "update", inc, "new", true),
			`value {"_id":1,"x":2}`, `retriedStmtId 0, value {"_id":1,"x":2}`, nil},
		{"findAndModify that removes", document(t, `{findAndModify: 'c', query: {_id: 5}, remove: true}`),
			`value {"_id":5,"x":1}`, `retriedStmtId 0, value {"_id":5,"x":1}`, nil},
		{"a number of the statement", insertOf("c", eq("_id", 6), eq("_id", 7)), "n 2", "n 2, retriedStmtIds [3,4]",
			[]bson.E{{Key: "stmtId", Value: 3}}},
		{"numbers of the statements", insertOf("c", eq("_id", 8), eq("_id", 9)), "n 2", "n 2, retriedStmtIds [7,2]",
			[]bson.E{{Key: "stmtIds", Value: bson.A{7, 2}}}},
		{"a statement that fails", insertOf("c", eq("_id", 10), eq("_id", 1), eq("_id", 11)), "n 1, writeErrors 11000",
			"n 1, retriedStmtIds [0], writeErrors 11000", nil},
		{"one that fails among others",
			with(insertOf("c", eq("_id", 12), eq("_id", 1), eq("_id", 13)), eq("ordered", false)),
			"n 2, writeErrors 11000", "n 2, retriedStmtIds [0,2], writeErrors 11000", nil},
		{"many updates", pairs("update", "c", "updates", bson.A{pairs("q", bson.D{}, "u", inc, "multi", true)}),
			"n 0, nModified 0, writeErrors 72", "n 0, nModified 0, retriedStmtIds [], writeErrors 72", nil},
		{"many deletes", document(t, `{delete: 'c', deletes: [{q: {}, limit: 0}]}`),
			"n 0, writeErrors 72", "n 0, retriedStmtIds [], writeErrors 72", nil},
		{"a command that fails", updateOf("c", eq("_id", 1), 5), "n 0, nModified 0, writeErrors 9",
			"n 0, nModified 0, retriedStmtIds [], writeErrors 9", nil},
	}
	for _, c := range cases {
		m.number++
		wants(t, c.name, m.once(c.cmd, c.more...), c.first)
		wants(t, c.name+" again", m.once(c.cmd, c.more...), c.then)
		wants(t, c.name+" once more", d.memberOf(m).once(c.cmd, c.more...), c.then)
	}
	wants(t, "find", m.with(findOf("c", eq("_id", 1))), `[{"_id":1,"x":2}]`)
	m.number--
	wants(t, "an old number", m.once(updateOf("c", eq("_id", 1), inc)), "code 225")
	m.number += 5
	wants(t, "a larger number", m.once(updateOf("c", eq("_id", 1), inc)), "n 1, nModified 1")
	wants(t, "a transaction of the same number", m.in(findOf("c", bson.D{})), `code 251, ["TransientTransactionError"]`)
	d.server.ForgetReplies()
	wants(t, "an answer that is not kept any more", m.once(updateOf("c", eq("_id", 1), inc)), "code 217")
	m.number++
	other := d.member(2).with(insertOf("c", eq("_id", 20)), eq("txnNumber", int64(0))...)
	wants(t, "another session", other, "n 1")
	wants(t, "not a write", m.once(eq("create", "other")), "code 50768")
}

// memberOf is the same session on another connection.
func (d *testServer) memberOf(m *member) *member {
	return &member{peer: d.peer(), id: m.id, number: m.number}
}

// TestDriverRetries loses the connection before the command runs, and the answer after it.
func TestDriverRetries(t *testing.T) {
	t.Parallel()
	d := newSuite(t)
	ctx, c := t.Context(), d.Database("test").Collection("c")
	_, err := c.InsertOne(ctx, bson.D{{Key: "_id", Value: 1}, {Key: "x", Value: 0}})
	must(t, err)
	for _, data := range []bson.D{
		{{Key: "closeConnection", Value: true}},
		{{Key: "errorCode", Value: 10107}},
		{{Key: "errorCode", Value: 6}},
		{{Key: "writeConcernError", Value: bson.D{{Key: "code", Value: 91}, {Key: "errmsg", Value: "stopping"}}}},
	} {
		d.failOnce(data, "update")
		before := d.server.Requests("update")
		result, err := c.UpdateOne(ctx, eq("_id", 1), eq("$inc", eq("x", 1)))
		must(t, err)
		if n := d.server.Requests("update") - before; n != 2 || result.ModifiedCount != 1 {
			t.Errorf("%v: %d requests, %v", data, n, result)
		}
	}
	if count(t, c, eq("x", 4)) != 1 {
		t.Errorf("%v", c.FindOne(ctx, bson.D{}))
	}
}

// failOnce makes a command fail the next time.
func (d *testServer) failOnce(data bson.D, commands ...string) {
	d.t.Helper()
	d.fail(eq("times", 1), data, commands...)
}

func (d *testServer) fail(mode any, data bson.D, commands ...string) {
	d.t.Helper()
	data = append(bson.D{{Key: "failCommands", Value: commands}}, data...)
	answer := d.peer().ask(pairs("configureFailPoint", "failCommand", "mode", mode, "data", data, "$db", "admin"))
	if codeIn(answer) != 0 {
		d.t.Fatalf("%s", answer)
	}
}
