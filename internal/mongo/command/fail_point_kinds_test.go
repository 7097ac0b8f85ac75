package command_test

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// failPoint switches one of the fail points on.
func (d *testServer) failPoint(name string, mode any, data bson.D) {
	d.t.Helper()
	_, err := d.admin(pairs("configureFailPoint", name, "mode", mode, "data", data))
	must(d.t, err)
}

// A retryable write whose answer is lost is done once, one that has failed before is done by the retry.
// mongodb/specifications: source/retryable-writes/tests/README.md
func TestOnPrimaryTransactionalWrite(t *testing.T) {
	t.Parallel()
	d := newTested(t)
	client := d.connect("retryWrites=true&directConnection=true")
	for name, data := range map[string]bson.D{
		"after the write":  {},
		"before the write": eq("failBeforeCommitExceptionCode", 1),
	} {
		c := client.Database("test").Collection(name)
		_, err := c.InsertOne(t.Context(), bson.D{{Key: "_id", Value: 1}, {Key: "x", Value: 0}})
		must(t, err)
		for _, write := range []struct {
			name string
			do   func() error
		}{
			{"insertOne", func() error { _, err := c.InsertOne(t.Context(), eq("_id", 2)); return err }},
			{"insertMany", func() error {
				_, err := c.InsertMany(t.Context(), []any{eq("_id", 3), eq("_id", 4)})
				return err
			}},
			{"updateOne", func() error {
				_, err := c.UpdateOne(t.Context(), eq("_id", 1), eq("$inc", eq("x", 1)))
				return err
			}},
			{"findOneAndUpdate", func() error {
				return c.FindOneAndUpdate(t.Context(), eq("_id", 1), eq("$inc", eq("x", 1))).Err()
			}},
			{"deleteOne", func() error { _, err := c.DeleteOne(t.Context(), eq("_id", 2)); return err }},
		} {
			d.failPoint("onPrimaryTransactionalWrite", eq("times", 1), data)
			if err := write.do(); err != nil {
				t.Errorf("%s %s: %v", write.name, name, err)
			}
		}
		cursor, err := c.Find(t.Context(), bson.D{}, options.Find().SetSort(eq("_id", 1)))
		must(t, err)
		var all []bson.M
		must(t, cursor.All(t.Context(), &all))
		same(t, all, []bson.M{{"_id": 1, "x": 2}, {"_id": 3}, {"_id": 4}})
	}
	d.failPoint("onPrimaryTransactionalWrite", eq("times", 1),
		pairs("failBeforeCommitExceptionCode", 8, "closeConnection", false))
	m := d.member(1)
	m.number++
	answer := m.once(insertOf("d", eq("_id", 1)))
	if codeIn(answer) != 8 {
		t.Errorf("%s", answer)
	}
	wants(t, "not of transactions", m.begin(insertOf("d", eq("_id", 1))), "n 1")
}

// A getMore fails with the cursor in its hand, so that the error has the labels of a change stream, and the cursor is
// gone.
// mongodb/mongo: jstests/replsets/change_stream_error_label.js
func TestFailGetMoreAfterCursorCheckout(t *testing.T) {
	t.Parallel()
	d := newSuite(t)
	wants(t, "insert", d.member(2).with(insertOf("c", eq("_id", 1))), "n 1")
	watched := eqAggregate("c", eq("$changeStream", bson.D{}))
	for _, c := range []struct {
		name, point string
		open        bson.D
		data        bson.D
		want        string
	}{
		{"a change stream", "failGetMoreAfterCursorCheckout", watched, eq("errorCode", 6),
			`code 6, ["ResumableChangeStreamError"]`},
		{"RetryChangeStream", "failGetMoreAfterCursorCheckout", watched, eq("errorCode", 234),
			`code 234, ["ResumableChangeStreamError"]`},
		{"not resumable", "failGetMoreAfterCursorCheckout", watched, bson.D{{Key: "errorCode", Value: 50}}, `code 50`},
		{"no code", "failGetMoreAfterCursorCheckout", watched, bson.D{}, `code 1`},
		{"fatal", "failGetMoreAfterCursorCheckout", watched, eq("errorCode", 280),
			`code 280, ["NonResumableChangeStreamError"]`},
		{"StaleShardVersion, which is obsolete", "failGetMoreAfterCursorCheckout", watched,
			eq("errorCode", 63), `code 63`},
		{"another cursor", "failGetMoreAfterCursorCheckout",
			with(findOf("c", bson.D{}), eq("batchSize", 0)), eq("errorCode", 6), `code 6`},
		{"before the cursor", "failCommand", watched,
			document(t, `{errorCode: 6, failCommands: ['getMore']}`), `code 6`},
		{"before the cursor, labelled", "failCommand", watched,
			document(t, `{errorCode: 50, failCommands: ['getMore'], errorLabels: ['ResumableChangeStreamError']}`),
			`code 50, ["ResumableChangeStreamError"]`},
	} {
		m := d.member(1)
		opened := m.with(c.open)
		id, ok := opened.Lookup("cursor", "id").Int64OK()
		if !ok {
			t.Fatalf("%s: %s", c.name, opened)
		}
		d.failPoint(c.point, eq("times", 1), c.data)
		more := bson.D{{Key: "getMore", Value: id}, {Key: "collection", Value: "c"}}
		wants(t, c.name, m.with(more), c.want)
		if c.point != "failCommand" {
			wants(t, c.name+", again", m.with(more), "code 43")
		}
	}
	m := d.member(1)
	d.failPoint("failCommand", eq("times", 1), document(t, `{errorCode: 91, failCommands: ['aggregate']}`))
	wants(t, "opening", m.with(watched), `code 91, ["ResumableChangeStreamError"]`)
}

// What has a limit of time is over at once, or never. mongodb/mongo: jstests/core/max_time_ms.js
func TestMaxTimeFailPoints(t *testing.T) {
	t.Parallel()
	d := newTested(t)
	limited := func() error {
		return send(t, d.Database("test"), `{ping: 1, maxTimeMS: 10000}`)
	}
	d.failPoint("maxTimeAlwaysTimeOut", "alwaysOn", bson.D{})
	failsWith(t, "limited", limited(), 50)
	must(t, d.Database("test").RunCommand(t.Context(), eq("ping", 1)).Err())
	_, err := d.admin(document(t, `{configureFailPoint: 'maxTimeAlwaysTimeOut', mode: 'off', maxTimeMS: 10000}`))
	must(t, err)
	must(t, limited())
	d.failPoint("maxTimeNeverTimeOut", "alwaysOn", bson.D{})
	d.failPoint("failCommand", eq("times", 1),
		document(t, `{failCommands: ['ping'], blockConnection: true, blockTimeMS: 20}`))
	must(t, send(t, d.Database("test"), `{ping: 1, maxTimeMS: 1}`))
}

// A list without a command means none, not all.
func TestFailPointOfNoCommand(t *testing.T) {
	t.Parallel()
	d := newTested(t)
	d.failPoint("failCommand", "alwaysOn", bson.D{{Key: "failCommands", Value: bson.A{}}, {Key: "errorCode", Value: 8}})
	if _, err := d.run(eq("ping", 1)); err != nil {
		t.Error(err)
	}
}
