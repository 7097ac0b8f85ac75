package command_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/mayflydb/mayfly/internal/mongo/command"
	"github.com/mayflydb/mayfly/internal/slow"
)

// A logbook is a log that several goroutines write.
type logbook struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logbook) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(line)
}

// of gives the lines that have a text.
func (l *logbook) of(text string) (lines []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for line := range strings.Lines(l.text.String()) {
		if strings.Contains(line, text) {
			lines = append(lines, line)
		}
	}
	return lines
}

// spoken sends commands with what must not be logged.
func spoken(t *testing.T, d *testServer) {
	t.Helper()
	docs := bson.A{document(t, `{_id: 'secret-1', n: 77777}`), document(t, `{_id: 'secret-2', n: 77778}`)}
	for _, cmd := range []bson.D{
		pairs("insert", "c", "documents", docs),
		pairs("insert", "c", "documents", docs),
		document(t, `{createIndexes: 'c', indexes: [{key: {n: 1}, name: 'n_1'}]}`),
		document(t, `{find: 'c', filter: {n: {$gte: 77777, $in: [77777, 77779, 'secret']}}}`),
		document(t, `{find: 'c', filter: {_id: 'secret-1'}}`),
		pairs("find", "c", "filter", eq("name", bson.Regex{Pattern: "secret"}), "sort", eq("name", 1)),
		document(t, `{aggregate: 'c', pipeline: [{$match: {n: 77777}}, {$addFields: {x: 'secret'}}], cursor: {}}`),
		document(t, `{update: 'c', updates: [{q: {n: 77777}, u: {$set: {name: 'secret'}}, multi: true}]}`),
		document(t, `{delete: 'c', deletes: [{q: {_id: 'secret-1'}, limit: 1}]}`),
		eq("secretCommand", "secret"),
		document(t, `{find: 'c', secret: 77777}`),
	} {
		_, _ = d.run(cmd) // some of them fail
	}
}

func TestRequestLines(t *testing.T) {
	var log logbook
	d := newServer(t, func(o *command.Options) {
		o.Logger = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	})
	spoken(t, d)
	for _, no := range []string{"secret", "7777", "slow request"} {
		if lines := log.of(no); lines != nil {
			t.Errorf("the log tells %q: %s", no, lines)
		}
	}
	for _, want := range []string{
		`level=DEBUG msg=request command=insert namespace=test.c duration=`, ` code=DuplicateKey connection=`, `command=find namespace=test.c`,
		`code=OK`, `command=unknown namespace="" `, `code=CommandNotFound`, `command=isMaster namespace=admin.$cmd`,
	} {
		if log.of(want) == nil {
			t.Errorf("the log lacks %q:\n%s", want, log.of(""))
		}
	}
}

func TestSlowRequestsTellNoValues(t *testing.T) {
	var log logbook
	kept := slow.New(1)
	d := newServer(t, func(o *command.Options) {
		o.Slow = kept
		o.Logger = slog.New(slog.NewTextHandler(&log, nil))
	})
	spoken(t, d)
	for _, r := range kept.List(100) {
		fmt.Fprintf(&log, "kept: %s %s/%s %s: %s; %s, %d of %d\n", r.API, r.Database, r.Container, r.Operation,
			r.Query, r.Plan, r.Returned, r.Examined)
	}
	for _, no := range []string{"secret", "7777", "level=DEBUG"} {
		if lines := log.of(no); lines != nil {
			t.Errorf("the log tells %q: %s", no, lines)
		}
	}
	for _, want := range []string{
		`level=INFO msg="slow request" api=mongo command=insert namespace=test.c duration=`,
		`plan_summary="IXSCAN { n: 1 }" keys_examined=1 docs_examined=1 nreturned=1 shape="filter={n: {$gte: ?, $in: [?]}}"`,
		`plan_summary=IDHACK keys_examined=1 docs_examined=1 nreturned=1 shape="filter={_id: ?}"`,
		`plan_summary=COLLSCAN keys_examined=0 docs_examined=2 nreturned=0 shape="filter={name: ?} sort={name: ?}"`,
		`shape="pipeline=[{$match: {n: ?}}, {$addFields: {x: ?}}]"`,
		`shape="updates=[{q: {n: ?}, u: {$set: {name: ?}}, multi: ?}]"`,
		`kept: mongo test/c find: filter={n: {$gte: ?, $in: [?]}}; IXSCAN { n: 1 }, 1 of 1`,
	} {
		if log.of(want) == nil {
			t.Errorf("the log lacks %q:\n%s", want, log.of(""))
		}
	}
}

// TestSlowByProfile turns the log of slow requests on by the command that MongoDB has for it.
func TestSlowByProfile(t *testing.T) {
	var log logbook
	d := newServer(t, func(o *command.Options) { o.Logger = slog.New(slog.NewTextHandler(&log, nil)) })
	for _, c := range []struct {
		name string
		set  bson.D
		was  int32 // slowms; -1 for an error
		logs bool
	}{
		{"off, as MongoDB's default looks", bson.D{{Key: "profile", Value: -1}}, 100, false},
		{"a level that there is not", bson.D{{Key: "profile", Value: 3}}, 100, false},
		{"a sample that is none", document(t, `{profile: 0, sampleRate: 1.5}`), -1, false},
		{"a filter that is none", document(t, `{profile: 0, filter: 'op'}`), -1, false},
		{"as mongosh sends it", document(t, `{profile: 0, sampleRate: 1}`), 100, false},
		{"everything", document(t, `{profile: 0, slowms: 0}`), 100, true},
		{"an hour", document(t, `{profile: 0, slowms: 3600000}`), 0, false},
		{"what it is", bson.D{{Key: "profile", Value: -1}}, 3_600_000, false},
		{"another time, without a level", document(t, `{profile: -1, slowms: 7200000}`), 3_600_000, false},
		{"which counts", bson.D{{Key: "profile", Value: -1}}, 7_200_000, false},
	} {
		answer, err := d.run(c.set)
		if c.was < 0 != (err != nil) || err == nil && answer["slowms"] != c.was {
			t.Errorf("%s: %v, error %v, want slowms %d", c.name, answer, err, c.was)
		}
		before := len(log.of("command=count "))
		if _, err := d.run(bson.D{{Key: "count", Value: "c"}}); err != nil {
			t.Error(err)
		}
		if _, err := d.run(bson.D{{Key: "ping", Value: 1}}); err != nil { // the line of a request follows its answer
			t.Error(err)
		}
		if logs := len(log.of("command=count ")) > before; logs != c.logs {
			t.Errorf("%s: logged %v, want %v", c.name, logs, c.logs)
		}
	}
}

// A meter notes what is counted.
type meter struct {
	mu   sync.Mutex
	seen map[string]int
}

func (m *meter) Operation(name string, label func(int) string) func(int, time.Duration) {
	return func(status int, _ time.Duration) {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.seen[name+" "+label(status)]++
	}
}
func (m *meter) Hint(string)            {}
func (m *meter) ExpiredByPolicy(uint64) {}

func TestMeterCountsCommands(t *testing.T) {
	m := &meter{seen: map[string]int{}}
	d := newServer(t, func(o *command.Options) { o.Meter = m })
	spoken(t, d)
	_, err := d.run(bson.D{{Key: "ping", Value: 1}})
	must(t, err)
	m.mu.Lock()
	defer m.mu.Unlock()
	for name, want := range map[string]int{
		"insert OK": 1, "insert DuplicateKey": 1,
		"find OK": 3, "find UnknownFieldOfCommand": 0, "find Location40415": 1,
		"aggregate OK": 1, "update OK": 1, "delete OK": 1, "unknown CommandNotFound": 1,
	} {
		if m.seen[name] != want {
			t.Errorf("%s: %d, want %d", name, m.seen[name], want)
		}
	}
	if t.Failed() {
		t.Log(m.seen)
	}
}

// TestStatus counts what is open.
func TestStatus(t *testing.T) {
	d := newServer(t, replica)
	client := d.connect("directConnection=true")
	c := client.Database("test").Collection("c")
	_, err := c.InsertMany(t.Context(), []any{bson.D{}, bson.D{}, bson.D{}})
	must(t, err)
	before := d.server.Status()
	stream, err := c.Watch(t.Context(), bson.A{})
	must(t, err)
	rows, err := client.Database("test").RunCommandCursor(t.Context(), document(t, `{find: 'c', batchSize: 1}`))
	must(t, err)
	session, err := client.StartSession()
	must(t, err)
	must(t, session.StartTransaction())
	_, err = c.InsertOne(mongo.NewSessionContext(t.Context(), session), bson.D{})
	must(t, err)
	got := d.server.Status()
	for name, n := range map[string][2]int64{
		"cursors": {got.Cursors - before.Cursors, 2}, "change streams": {got.ChangeStreams - before.ChangeStreams, 1},
		"transactions": {got.Transactions - before.Transactions, 1},
	} {
		if n[0] != n[1] {
			t.Errorf("%d %s more, want %d", n[0], name, n[1])
		}
	}
	if got.Connections < 1 || got.Sessions < 1 || got.InFlight < 0 {
		t.Errorf("%+v", got)
	}
	must(t, session.AbortTransaction(t.Context()))
	must(t, rows.Close(t.Context()))
	must(t, stream.Close(t.Context()))
	after := d.server.Status()
	if after.Cursors != before.Cursors || after.Transactions != 0 || after.ChangeStreams != 0 {
		t.Errorf("afterwards: %+v", after)
	}
}
