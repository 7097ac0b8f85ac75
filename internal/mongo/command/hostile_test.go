package command_test

import (
	"bytes"
	"flag"
	"log/slog"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/command"
	"github.com/mayflydb/mayfly/internal/mongo/wire"
)

var (
	hostileSeed   = flag.Uint64("hostile-seed", 0, "replay a random test of malformed commands; 0 takes a new seed")
	hostileRounds = flag.Int("hostile-rounds", 4000, "how many malformed commands are sent")
)

// A line speaks the wire protocol without a driver.
type line struct {
	t    testing.TB
	conn net.Conn
	in   *wire.Reader
	last int32
}

func (d *testServer) line() *line {
	d.t.Helper()
	conn, err := net.Dial("tcp", d.address)
	must(d.t, err)
	d.t.Cleanup(func() { _ = conn.Close() })
	must(d.t, conn.SetDeadline(time.Now().Add(2*time.Minute)))
	return &line{t: d.t, conn: conn, in: wire.NewReader(conn)}
}

// say sends a command and gives its answer.
func (l *line) say(body bson.D) doc.Doc {
	l.t.Helper()
	raw, err := bson.Marshal(body)
	must(l.t, err)
	l.last++
	_, err = l.conn.Write(wire.AppendMsg(nil, l.last, 0, 0, raw))
	must(l.t, err)
	var m wire.Message
	if err := l.in.Read(&m); err != nil {
		l.t.Fatalf("no answer to %s: %v", extended(body), err)
	}
	return m.Body
}

// commands lists the names of all commands that answer at once.
func (l *line) commands() []string {
	var names []string
	list, _ := doc.AsDoc(doc.Lookup(l.say(pairs("listCommands", 1, "$db", "admin")), "commands"))
	for name := range doc.Members(list) {
		names = append(names, strings.Clone(name))
	}
	return names
}

// members that commands have, and values that they are right with.
var hostileMembers = pairs(
	"filter", eq("a", 1), "query", eq("a", eq("$gt", 1)), "q", bson.D{}, "sort", eq("a", 1),
	"projection", eq("a", 1), "limit", 3, "skip", 1, "batchSize", 2, "documents", bson.A{eq("a", 1)},
	"updates", bson.A{pairs("q", bson.D{}, "u", eq("$inc", eq("a", 1)))},
	"deletes", bson.A{pairs("q", eq("b", 7), "limit", 1)}, "update", eq("$set", eq("a", 1)),
	"pipeline", bson.A{eq("$group", eq("_id", "$a"))}, "cursor", bson.D{}, "key", "a", "hint", "_id_",
	"indexes", bson.A{pairs("key", eq("a", 1), "name", "a_1")}, "index", pairs("name", "a_1", "hidden", true),
	"collection", "c", "cursors", bson.A{int64(1)}, "let", eq("x", 1), "new", true, "remove", true,
	"upsert", true, "fields", eq("a", 1), "arrayFilters", bson.A{eq("x", 1)},
	"collation", eq("locale", "simple"), "ordered", false, "explain", eq("find", "c"),
	"verbosity", "executionStats", "nameOnly", true, "to", "test.d", "dropTarget", true,
	"validator", eq("a", 1), "viewOn", "c", "lsid", eq("id", bson.Binary{Subtype: 4, Data: make([]byte, 16)}),
	"txnNumber", int64(1), "startTransaction", true, "autocommit", false, "maxTimeMS", 1000,
	"readConcern", eq("level", "local"), "writeConcern", eq("w", 1), "pwd", "secret", "roles", bson.A{"read"},
	"mechanism", "SCRAM-SHA-256", "payload", []byte("n,,n=x,r=y"), "conversationId", 1, "mode", "off",
	"data", bson.D{}, "expireAfterSeconds", 1, "ttlMonitorSleepSecs", 1, "scale", 1, "client", bson.D{},
	"compression", bson.A{"zstd"}, "saslSupportedMechs", "admin.mayfly",
	"speculativeAuthenticate", eq("saslStart", 1),
)

// hostileSize: nothing that the test makes is larger.
func (r riddler) hostile(v any) any {
	switch r.IntN(9) {
	case 0:
		return r.value(3)
	case 1:
		return eq(r.pick("$expr", "$gt", "$x", "", "a.b", "$jsonSchema", "$elemMatch", "$and"), r.value(2))
	case 2:
		first := r.value(2)
		stage := r.pick("$match", "$group", "$lookup", "$facet", "$project", "$merge", "$out", "$changeStream",
			"$sort", "$unwind", "$collStats")
		return bson.A{first, eq(stage, r.value(2))}
	case 3:
		return []any{int64(-1), int64(1) << 62, -1.5, "", strings.Repeat("x", 300), "\x00", true}[r.IntN(7)]
	}
	return v
}

// TestHostileCommands sends commands with members that they do not have and values that they do not want. Each gets an
// answer, none is a defect, and the server goes on.
func TestHostileCommands(t *testing.T) {
	t.Parallel()
	seed := *hostileSeed
	if seed == 0 {
		seed = rand.Uint64()
	}
	for _, set := range []string{"", "globaldb"} {
		r := riddler{rand.New(rand.NewPCG(seed, 2))}
		var log lockedBuffer
		d := newServer(t, func(o *command.Options) {
			o.ReplSet, o.TestCommands = set, true
			o.Logger = slog.New(slog.NewTextHandler(&log, nil))
		})
		l := d.line()
		names := l.commands()
		for round := range *hostileRounds {
			name := names[r.IntN(len(names))]
			body := bson.D{{Key: name, Value: r.hostile(any("c"))}}
			if r.IntN(3) == 0 {
				body[0].Value = int32(1)
			}
			for range r.IntN(6) {
				e := hostileMembers[r.IntN(len(hostileMembers))]
				if e.Key == "failCommands" || name == "configureFailPoint" && e.Key == "mode" {
					continue
				}
				body = append(body, bson.E{Key: e.Key, Value: r.hostile(e.Value)})
			}
			body = append(body, bson.E{Key: "$db", Value: r.pick("test", "test", "admin", "a.b", "")})
			raw, err := bson.Marshal(body)
			if err != nil || len(raw) == 0 {
				continue // the driver does not write it
			}
			answer := l.say(body)
			for again := true; again; { // the members that the command does not have hide what it does with others
				message, _ := doc.AsString(doc.Lookup(answer, "errmsg"))
				field, unknown := strings.CutSuffix(message, "' is an unknown field.")
				field = field[strings.LastIndex(field, ".")+1:]
				before := len(body)
				if again = unknown; unknown {
					body = slices.DeleteFunc(body, func(e bson.E) bool { return e.Key == field })
					again = len(body) < before
				}
				if again {
					answer = l.say(body)
				}
			}
			if doc.Lookup(answer, "ok").Type == 0 {
				t.Fatalf("-hostile-seed=%d, round %d: %s: no ok in %x", seed, round, extended(body), answer)
			}
			if code, _ := doc.AsInt(doc.Lookup(answer, "code")); code == 1 {
				t.Errorf("-hostile-seed=%d, round %d: %s: %s\n%s",
					seed, round, extended(body), bson.Raw(answer), log.String())
				return
			}
		}
	}
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}
