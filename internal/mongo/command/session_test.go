package command_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/mayflydb/mayfly/internal/mongo/command"
)

// newSuite serves as a replica set of one that lets commands fail.
func newSuite(t testing.TB) *testServer {
	return newServer(t, func(o *command.Options) { o.ReplSet, o.TestCommands = "globaldb", true })
}

// A member is a session of a client that writes frames itself.
type member struct {
	*peer
	id     byte
	number int64 // of the transaction
}

func (d *testServer) member(id byte) *member { return &member{peer: d.peer(), id: id} }

func (m *member) lsid() bson.D { return sessionOf(m.id) }

func sessionOf(id byte) bson.D {
	return bson.D{{Key: "id", Value: bson.Binary{Subtype: 4, Data: append(make([]byte, 15), id)}}}
}

// with adds the session and more to a command.
func (m *member) with(cmd bson.D, more ...bson.E) bson.Raw {
	m.t.Helper()
	db := "test"
	if name := cmd[0].Key; strings.HasSuffix(name, "Transaction") {
		db = "admin"
	}
	out := append(append(bson.D{}, cmd...), bson.E{Key: "lsid", Value: m.lsid()}, bson.E{Key: "$db", Value: db})
	return m.ask(append(out, more...))
}

// begin sends the first command of a transaction.
func (m *member) begin(cmd bson.D, more ...bson.E) bson.Raw {
	m.t.Helper()
	m.number++
	return m.in(cmd, append(more, bson.E{Key: "startTransaction", Value: true})...)
}

// in sends a command within the transaction.
func (m *member) in(cmd bson.D, more ...bson.E) bson.Raw {
	m.t.Helper()
	return m.with(cmd, append(more, pairs("txnNumber", m.number, "autocommit", false)...)...)
}

// once sends a retryable write.
func (m *member) once(cmd bson.D, more ...bson.E) bson.Raw {
	m.t.Helper()
	return m.with(cmd, append(more, bson.E{Key: "txnNumber", Value: m.number})...)
}

func (m *member) commit() bson.Raw { return m.in(eq("commitTransaction", 1)) }
func (m *member) abort() bson.Raw  { return m.in(eq("abortTransaction", 1)) }

func insertOf(c string, documents ...any) bson.D {
	return bson.D{{Key: "insert", Value: c}, {Key: "documents", Value: bson.A(documents)}}
}

func updateOf(c string, q, u any) bson.D {
	return pairs("update", c, "updates", bson.A{pairs("q", q, "u", u)})
}

func deleteOf(c string, q any) bson.D {
	return pairs("delete", c, "deletes", bson.A{pairs("q", q, "limit", 1)})
}

func findOf(c string, q any) bson.D {
	return bson.D{{Key: "find", Value: c}, {Key: "filter", Value: q}}
}

// essenceOf is what a test wants of an answer: its code and labels, or what it has done.
func essenceOf(answer bson.Raw) string {
	var parts []string
	if c := codeIn(answer); c != 0 {
		parts = append(parts, fmt.Sprint("code ", c))
	}
	for _, name := range []string{"n", "nModified", "retriedStmtIds", "retriedStmtId", "writeErrors", "value"} {
		if v, err := answer.LookupErr(name); err == nil {
			text := v.String()
			if name == "writeErrors" {
				text = fmt.Sprint(v.Array().Index(0).Document().Lookup("code").Int32())
			}
			parts = append(parts, name+" "+text)
		}
	}
	if v, err := answer.LookupErr("cursor", "firstBatch"); err == nil {
		parts = append(parts, v.String())
	}
	if v, err := answer.LookupErr("writeConcernError", "code"); err == nil {
		parts = append(parts, fmt.Sprint("concern ", v.Int32()))
	}
	if v, err := answer.LookupErr("errorLabels"); err == nil {
		parts = append(parts, v.String())
	}
	if len(parts) == 0 {
		return "ok"
	}
	return strings.Join(parts, ", ")
}

func wants(t testing.TB, what string, answer bson.Raw, want string) {
	t.Helper()
	if got := compact(essenceOf(answer)); got != compact(want) {
		t.Errorf("%s: got %s, want %s\n%s", what, got, want, answer)
	}
}

// compact drops the wrapping of numbers in extended JSON, and spaces.
func compact(s string) string {
	for _, wrap := range []string{`{"$numberInt":"`, `{"$numberLong":"`} {
		for {
			i := strings.Index(s, wrap)
			if i < 0 {
				break
			}
			j := strings.Index(s[i:], `"}`)
			s = s[:i] + s[i+len(wrap):i+j] + s[i+j+2:]
		}
	}
	return strings.ReplaceAll(s, " ", "")
}

func TestSessionArguments(t *testing.T) {
	t.Parallel()
	d := newSuite(t)
	p := d.peer()
	number, auto := bson.E{Key: "txnNumber", Value: int64(1)}, bson.E{Key: "autocommit", Value: false}
	starts := bson.E{Key: "startTransaction", Value: true}
	lsid := bson.E{Key: "lsid", Value: sessionOf(1)}
	cases := []struct {
		name string
		more bson.D
		code int32
	}{
		{"a session", bson.D{lsid}, 0},
		{"not a document", bson.D{{Key: "lsid", Value: 1}}, 14},
		{"without id", document(t, `{lsid: {}}`), 40414},
		{"another member", bson.D{{Key: "lsid", Value: append(sessionOf(1), bson.E{Key: "x", Value: 1})}}, 40415},
		{"the id of another type", document(t, `{lsid: {id: 'x'}}`), 14},
		{"binary of another kind", eq("lsid", eq("id", bson.Binary{Subtype: 0, Data: make([]byte, 16)})), 14},
		{"an id that is too short", eq("lsid", eq("id", bson.Binary{Subtype: 4, Data: make([]byte, 15)})), 207},
		{"the digest of a user",
			eq("lsid", with(sessionOf(1), eq("uid", bson.Binary{Data: make([]byte, 32)}))), 13},
		{"a number without a session", bson.D{number}, 72},
		{"a number that is an int", bson.D{lsid, {Key: "txnNumber", Value: int32(1)}}, 14},
		{"a negative number", bson.D{lsid, {Key: "txnNumber", Value: int64(-1)}}, 72},
		{"autocommit without a number", bson.D{lsid, auto}, 72},
		{"autocommit true", bson.D{lsid, number, {Key: "autocommit", Value: true}}, 72},
		{"a start without autocommit", bson.D{lsid, number, starts}, 72},
		{"a start that is false", bson.D{lsid, number, auto, {Key: "startTransaction", Value: false}}, 72},
		{"a number, but neither a write nor a transaction", bson.D{lsid, number}, 50768},
		{"no transaction has begun", bson.D{lsid, number, auto}, 251},
		{"a read concern that is none", document(t, `{readConcern: {level: 'whatever'}}`), 9},
		{"majority", document(t, `{readConcern: {level: 'majority'}}`), 0},
		{"causally consistent", eq("readConcern", eq("afterClusterTime", bson.Timestamp{T: 1, I: 1})), 0},
		{"snapshot outside of a transaction", document(t, `{readConcern: {level: 'snapshot'}}`), 72},
		{"linearizable in a transaction",
			bson.D{lsid, number, auto, starts, {Key: "readConcern", Value: eq("level", "linearizable")}}, 72},
		{"a write concern in a transaction",
			bson.D{lsid, number, auto, starts, {Key: "writeConcern", Value: eq("w", 1)}}, 72},
	}
	for _, c := range cases {
		answer := p.ask(append(append(findOf("c", bson.D{}), bson.E{Key: "$db", Value: "test"}), c.more...))
		if got := codeIn(answer); got != c.code {
			t.Errorf("%s: %s, want code %d", c.name, answer, c.code)
		}
	}
}

func TestStandAloneHasNoTransactionNumbers(t *testing.T) {
	t.Parallel()
	d := newServer(t, nil)
	m := d.member(1)
	wants(t, "transaction", m.begin(findOf("c", bson.D{})), "code 20")
	wants(t, "retryable write", m.once(insertOf("c", eq("_id", 1))), "code 20")
	answer := m.with(insertOf("c", eq("_id", 1)))
	wants(t, "session", answer, "n 1")
	if _, err := answer.LookupErr("$clusterTime"); err == nil {
		t.Error("a stand-alone server tells a cluster time")
	}
	wants(t, "w: 2", m.with(insertOf("c", eq("_id", 2)), bson.E{Key: "writeConcern", Value: eq("w", 2)}), "code 2")
}

func TestClusterTime(t *testing.T) {
	t.Parallel()
	d := newSuite(t)
	p := d.peer()
	last := bson.Timestamp{}
	for i := range 5 {
		for _, cmd := range []bson.D{eq("ping", 1), insertOf("c", eq("_id", i)), eq("nonsense", 1), eq("hello", 1)} {
			answer := p.ask(append(cmd, bson.E{Key: "$db", Value: "test"}))
			ts, i1 := answer.Lookup("operationTime").Timestamp()
			now := bson.Timestamp{T: ts, I: i1}
			ts, i1 = answer.Lookup("$clusterTime", "clusterTime").Timestamp()
			if now.Before(last) || now != (bson.Timestamp{T: ts, I: i1}) {
				t.Errorf("%v after %v: %s", now, last, answer)
			}
			if cmd[0].Key == "insert" && !now.After(last) {
				t.Errorf("a write has not moved the time: %s", answer)
			}
			if _, hash := answer.Lookup("$clusterTime", "signature", "hash").Binary(); len(hash) != 20 {
				t.Errorf("hash %x", hash)
			}
			last = now
		}
	}
}

func TestWriteConcern(t *testing.T) {
	t.Parallel()
	d := newSuite(t)
	m := d.member(1)
	for i, c := range []struct {
		concern any
		want    string
	}{
		{bson.D{}, "n 1"},
		{eq("w", "majority"), "n 1"},
		{bson.D{{Key: "w", Value: 1}, {Key: "j", Value: true}, {Key: "wtimeout", Value: 100}}, "n 1"},
		{eq("w", 2), "n 1, concern 100"},
		{eq("w", "somewhere"), "n 1, concern 79"},
		{eq("w", 51), "code 9"},
		{eq("w", -1), "code 9"},
		{eq("w", true), "code 9"},
		{eq("x", 1), "code 9"},
		{1, "code 14"},
	} {
		answer := m.with(insertOf("c", eq("_id", i)), eq("writeConcern", c.concern)...)
		wants(t, fmt.Sprint(c.concern), answer, c.want)
	}
}

func TestSessionsEnd(t *testing.T) {
	t.Parallel()
	d := newSuite(t)
	must(t, d.Database("test").CreateCollection(t.Context(), "c"))
	for i, c := range []struct {
		name string
		cmd  func(m *member) bson.D
	}{
		{"endSessions", func(m *member) bson.D { return eq("endSessions", bson.A{m.lsid()}) }},
		{"killSessions", func(m *member) bson.D { return eq("killSessions", bson.A{m.lsid()}) }},
		{"killSessions of all", func(m *member) bson.D { return eq("killSessions", bson.A{}) }},
		{"killAllSessions", func(m *member) bson.D { return eq("killAllSessions", bson.A{}) }},
		{"killAllSessionsByPattern",
			func(m *member) bson.D { return eq("killAllSessionsByPattern", bson.A{eq("lsid", m.lsid())}) }},
	} {
		m, other := d.member(byte(i+1)), d.peer()
		wants(t, c.name, m.begin(insertOf("c", eq("_id", i))), "n 1")
		if open, locks := d.server.OpenTransactions(); open != 1 || locks != 1 {
			t.Errorf("%s: %d transactions with %d documents before", c.name, open, locks)
		}
		wants(t, c.name, other.ask(append(c.cmd(m), bson.E{Key: "$db", Value: "admin"})), "ok")
		if open, locks := d.server.OpenTransactions(); open != 0 || locks != 0 {
			t.Errorf("%s: %d transactions with %d documents are open", c.name, open, locks)
		}
		wants(t, c.name, m.commit(), `code 251, ["TransientTransactionError"]`)
		wants(t, c.name, m.with(findOf("c", eq("_id", i))), "[]")
	}
	m := d.member(100)
	before := d.server.Sessions()
	wants(t, "refreshSessions", m.with(eq("refreshSessions", bson.A{m.lsid()})), "ok")
	if got := d.server.Sessions(); got != before+1 {
		t.Errorf("%d sessions, want %d", got, before+1)
	}
	cursor := m.with(insertOf("c", eq("_id", 1), eq("_id", 2)))
	wants(t, "insert", cursor, "n 2")
	id := m.with(append(findOf("c", bson.D{}), bson.E{Key: "batchSize", Value: 1})).Lookup("cursor", "id").Int64()
	wants(t, "another session's cursor", d.member(101).with(pairs("getMore", id, "collection", "c")), "code 50738")
	wants(t, "endSessions", m.with(eq("endSessions", bson.A{m.lsid()})), "ok")
	wants(t, "getMore", m.with(bson.D{{Key: "getMore", Value: id}, {Key: "collection", Value: "c"}}), "code 43")
	wants(t, "a wrong list", m.with(eq("endSessions", bson.A{1})), "code 14")
	started := m.with(eq("startSession", 1))
	if kind, data := started.Lookup("id", "id").Binary(); kind != 4 || len(data) != 16 {
		t.Errorf("startSession: %s", started)
	}
	listed := m.with(document(t, `{aggregate: 1, pipeline: [{$listLocalSessions: {}}], cursor: {}}`))
	rows, err := listed.Lookup("cursor", "firstBatch").Array().Values()
	must(t, err)
	if len(rows) != d.server.Sessions() {
		t.Errorf("%d rows, want %d", len(rows), d.server.Sessions())
	}
}

// TestSessionsOfADriver ends a client, which tells the server so without awaiting an answer.
func TestSessionsOfADriver(t *testing.T) {
	t.Parallel()
	d := newSuite(t)
	client, err := mongo.Connect(options.Client().ApplyURI("mongodb://" + d.address + "/?replicaSet=globaldb"))
	must(t, err)
	s, err := client.StartSession()
	must(t, err)
	must(t, s.StartTransaction())
	_, err = client.Database("test").Collection("c").InsertOne(mongo.NewSessionContext(t.Context(), s), eq("_id", 1))
	must(t, err)
	if open, _ := d.server.OpenTransactions(); open != 1 || d.server.Sessions() == 0 {
		t.Errorf("%d transactions are open in %d sessions", open, d.server.Sessions())
	}
	s.EndSession(t.Context())
	must(t, client.Disconnect(context.WithoutCancel(t.Context())))
	d.until(func() bool { open, _ := d.server.OpenTransactions(); return open == 0 && d.server.Sessions() <= 1 })
}

func TestSessionsAreForgotten(t *testing.T) {
	t.Parallel()
	d := newSuite(t)
	open, idle := d.member(1), d.member(2)
	must(t, d.Database("test").CreateCollection(t.Context(), "c"))
	d.server.ForgetSessions()
	wants(t, "begin", open.begin(insertOf("c", eq("_id", 1))), "n 1")
	wants(t, "retryable write", idle.once(insertOf("c", eq("_id", 2))), "n 1")
	if got := d.server.Sessions(); got != 2 {
		t.Errorf("%d sessions, want 2", got)
	}
	d.server.ForgetSessions()
	if got := d.server.Sessions(); got != 1 {
		t.Errorf("%d sessions, want that with a transaction", got)
	}
	again := idle.once(insertOf("c", eq("_id", 2)))
	wants(t, "a retry in a session that was forgotten", again, "n 0, writeErrors 11000")
	wants(t, "commit", open.commit(), "ok")
	d.server.LimitSessions(2)
	wants(t, "one too many", d.member(3).with(eq("ping", 1)), "code 261")
	wants(t, "one that is there", idle.with(eq("ping", 1)), "ok")
	wants(t, "none", d.peer().ask(bson.D{{Key: "ping", Value: 1}, {Key: "$db", Value: "test"}}), "ok")
	d.server.ForgetSessions()
	wants(t, "room again", d.member(3).with(eq("ping", 1)), "ok")
}

// TestSessionsOfUsers has two users with sessions of the same id.
func TestSessionsOfUsers(t *testing.T) {
	t.Parallel()
	d := newServer(t, func(o *command.Options) { o.ReplSet, o.Auth = "globaldb", true })
	m := d.member(1)
	wants(t, "anonymous", m.begin(insertOf("c", eq("_id", 1))), "code 13")
	wants(t, "anonymous sessions", m.with(eq("killAllSessions", bson.A{})), "code 13")
	if got := d.server.Sessions(); got != 0 {
		t.Errorf("an anonymous client has %d sessions", got)
	}
}

func BenchmarkPing(b *testing.B) {
	for name, d := range map[string]*testServer{"alone": newServer(b, nil), "replica set": newSuite(b)} {
		m := d.member(1)
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				m.with(eq("ping", 1))
			}
		})
	}
}
