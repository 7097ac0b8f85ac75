package command_test

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/mayflydb/mayfly/internal/mongo/command"
)

func TestFailPoint(t *testing.T) {
	t.Parallel()
	d := newSuite(t)
	insert := func(m *member, id int) bson.Raw { m.number++; return m.once(insertOf("c", eq("_id", id))) }
	m := d.member(1)
	cases := []struct {
		name string
		mode any
		data bson.D
		want []string // of inserts, one after the other
	}{
		{"once", eq("times", 1), bson.D{{Key: "errorCode", Value: 8}}, []string{"code 8", "n 1"}},
		{"twice", eq("times", 2), bson.D{{Key: "errorCode", Value: 8}}, []string{"code 8", "code 8", "n 1"}},
		{"later", eq("skip", 1), bson.D{{Key: "errorCode", Value: 8}}, []string{"n 1", "code 8", "code 8"}},
		{"always", "alwaysOn", bson.D{{Key: "errorCode", Value: 8}}, []string{"code 8", "code 8", "code 8"}},
		{"off", "off", bson.D{{Key: "errorCode", Value: 8}}, []string{"n 1"}},
		{"with no chance", eq("activationProbability", 0.0), bson.D{{Key: "errorCode", Value: 8}}, []string{"n 1"}},
		{"for certain", eq("activationProbability", 1.0), bson.D{{Key: "errorCode", Value: 8}}, []string{"code 8"}},
		{"usual labels", eq("times", 1), eq("errorCode", 11600),
			[]string{`code 11600, ["RetryableWriteError","NoWritesPerformed"]`}},
		{"other labels", eq("times", 1), document(t, `{errorCode: 8, errorLabels: ['a', 'b']}`),
			[]string{`code 8, ["a","b"]`}},
		{"no labels", eq("times", 1), document(t, `{errorCode: 11600, errorLabels: []}`), []string{"code 11600"}},
		{"of the write concern", eq("times", 1), eq("writeConcernError", eq("code", 64)),
			[]string{"n 1, concern 64", "n 1"}},
		{"of the write concern, retryable", eq("times", 1), eq("writeConcernError", eq("code", 91)),
			[]string{`n 1, concern 91, ["RetryableWriteError"]`}},
		{"slow", eq("times", 1), document(t, `{blockConnection: true, blockTimeMS: 1}`), []string{"n 1"}},
		{"another application", "alwaysOn", document(t, `{errorCode: 8, appName: 'x'}`), []string{"n 1"}},
		{"another collection", "alwaysOn", document(t, `{errorCode: 8, namespace: 'test.d'}`), []string{"n 1"}},
		{"this collection", "alwaysOn", document(t, `{errorCode: 8, namespace: 'test.c'}`), []string{"code 8"}},
	}
	id := 0
	for _, c := range cases {
		d.fail(c.mode, c.data, "insert")
		for _, want := range c.want {
			id++
			wants(t, c.name, insert(m, id), want)
		}
		wants(t, c.name, m.with(eq("ping", 1)), "ok")
	}
	d.failOnce(bson.D{{Key: "blockConnection", Value: true}, {Key: "blockTimeMS", Value: 60_000}}, "ping")
	wants(t, "a limit of time", m.with(bson.D{{Key: "ping", Value: 1}, {Key: "maxTimeMS", Value: 5}}), "code 50")
	d.failOnce(bson.D{{Key: "errorCode", Value: 8}}, "ismaster")
	wants(t, "another spelling", m.with(eq("isMaster", 1)), "code 8")
	d.failOnce(bson.D{{Key: "closeConnection", Value: true}}, "ping")
	p := d.peer()
	p.send(appendMsg(p, bson.D{{Key: "ping", Value: 1}, {Key: "$db", Value: "test"}}))
	if !p.closed() {
		t.Error("the connection is open")
	}
}

func TestFailPointOfTransactions(t *testing.T) {
	t.Parallel()
	d := newSuite(t)
	m := d.member(1)
	for _, c := range []struct {
		command string
		data    bson.D
		want    string
	}{
		{"insert", bson.D{{Key: "errorCode", Value: 10107}}, `code 10107, ["TransientTransactionError"]`},
		{"insert", bson.D{{Key: "errorCode", Value: 112}}, `code 112, ["TransientTransactionError"]`},
		{"insert", bson.D{{Key: "errorCode", Value: 11000}}, `code 11000`},
		{"commitTransaction", bson.D{{Key: "errorCode", Value: 10107}}, `code 10107, ["RetryableWriteError"]`},
		{"commitTransaction", bson.D{{Key: "errorCode", Value: 251}}, `code 251, ["TransientTransactionError"]`},
		{"commitTransaction", bson.D{{Key: "errorCode", Value: 50}}, `code 50`},
		{"commitTransaction", bson.D{{Key: "errorCode", Value: 267}}, `code 267, ["TransientTransactionError"]`},
		{"commitTransaction", bson.D{{Key: "errorCode", Value: 112}}, `code 112, ["TransientTransactionError"]`},
		{"insert", bson.D{{Key: "errorCode", Value: 134}}, `code 134, ["TransientTransactionError"]`},
		{"insert", bson.D{{Key: "errorCode", Value: 250}}, `code 250, ["TransientTransactionError"]`},
		{"insert", bson.D{{Key: "errorCode", Value: 286}}, `code 286, ["NonResumableChangeStreamError"]`},
		{"commitTransaction", eq("writeConcernError", eq("code", 91)), `concern 91, ["RetryableWriteError"]`},
		{"abortTransaction", bson.D{{Key: "errorCode", Value: 189}}, `code 189, ["RetryableWriteError"]`},
	} {
		wants(t, "begin", m.begin(findOf("c", bson.D{})), "[]")
		d.failOnce(c.data, c.command)
		cmd := eq(c.command, 1)
		if c.command == "insert" {
			cmd = insertOf("c", eq("_id", 1))
		}
		wants(t, c.command, m.in(cmd), c.want)
	}
}

func TestConfigureFailPoint(t *testing.T) {
	t.Parallel()
	d := newSuite(t)
	for _, c := range []struct {
		name string
		cmd  bson.D
		code int32
	}{
		{"another fail point", document(t, `{configureFailPoint: 'whatever', mode: 'off'}`), 266},
		{"no mode", bson.D{{Key: "configureFailPoint", Value: "failCommand"}}, 2},
		{"a wrong mode", document(t, `{configureFailPoint: 'failCommand', mode: 'whatever'}`), 2},
		{"a mode with another member", document(t, `{configureFailPoint: 'failCommand', mode: {x: 1}}`), 2},
		{"a negative number", document(t, `{configureFailPoint: 'failCommand', mode: {times: -1}}`), 2},
		{"commands that are none",
			document(t, `{configureFailPoint: 'failCommand', mode: 'alwaysOn', data: {failCommands: 1}}`), 14},
		{"a name of another type", bson.D{{Key: "configureFailPoint", Value: 1}}, 14},
	} {
		_, err := d.admin(c.cmd)
		failsWith(t, c.name, err, c.code)
	}
	_, err := d.run(bson.D{{Key: "configureFailPoint", Value: "failCommand"}, {Key: "mode", Value: "off"}})
	failsWith(t, "another database", err, 13)
	plain := newServer(t, func(o *command.Options) { o.ReplSet = "globaldb" })
	_, err = plain.admin(bson.D{{Key: "configureFailPoint", Value: "failCommand"}, {Key: "mode", Value: "off"}})
	failsWith(t, "not for tests", err, 59)
}

func failsWith(t testing.TB, what string, err error, want int32) {
	t.Helper()
	if got := numberOf(err); got != want {
		t.Errorf("%s: %v, want code %d", what, err, want)
	}
}
