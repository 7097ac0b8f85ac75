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

func (d *door) line() *line {
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
	list, _ := doc.AsDoc(doc.Lookup(l.say(bson.D{{Key: "listCommands", Value: 1}, {Key: "$db", Value: "admin"}}), "commands"))
	for name := range doc.Members(list) {
		names = append(names, strings.Clone(name))
	}
	return names
}

// members that commands have, and values that they are right with.
var hostileMembers = []bson.E{
	{Key: "filter", Value: bson.D{{Key: "a", Value: 1}}}, {Key: "query", Value: bson.D{{Key: "a", Value: bson.D{{Key: "$gt", Value: 1}}}}}, {Key: "q", Value: bson.D{}},
	{Key: "sort", Value: bson.D{{Key: "a", Value: 1}}}, {Key: "projection", Value: bson.D{{Key: "a", Value: 1}}}, {Key: "limit", Value: 3}, {Key: "skip", Value: 1}, {Key: "batchSize", Value: 2},
	{Key: "documents", Value: bson.A{bson.D{{Key: "a", Value: 1}}}}, {Key: "updates", Value: bson.A{bson.D{{Key: "q", Value: bson.D{}}, {Key: "u", Value: bson.D{{Key: "$inc", Value: bson.D{{Key: "a", Value: 1}}}}}}}},
	{Key: "deletes", Value: bson.A{bson.D{{Key: "q", Value: bson.D{{Key: "b", Value: 7}}}, {Key: "limit", Value: 1}}}}, {Key: "update", Value: bson.D{{Key: "$set", Value: bson.D{{Key: "a", Value: 1}}}}},
	{Key: "pipeline", Value: bson.A{bson.D{{Key: "$group", Value: bson.D{{Key: "_id", Value: "$a"}}}}}}, {Key: "cursor", Value: bson.D{}}, {Key: "key", Value: "a"}, {Key: "hint", Value: "_id_"},
	{Key: "indexes", Value: bson.A{bson.D{{Key: "key", Value: bson.D{{Key: "a", Value: 1}}}, {Key: "name", Value: "a_1"}}}}, {Key: "index", Value: bson.D{{Key: "name", Value: "a_1"}, {Key: "hidden", Value: true}}},
	{Key: "collection", Value: "c"}, {Key: "cursors", Value: bson.A{int64(1)}}, {Key: "let", Value: bson.D{{Key: "x", Value: 1}}}, {Key: "new", Value: true}, {Key: "remove", Value: true}, {Key: "upsert", Value: true},
	{Key: "fields", Value: bson.D{{Key: "a", Value: 1}}}, {Key: "arrayFilters", Value: bson.A{bson.D{{Key: "x", Value: 1}}}}, {Key: "collation", Value: bson.D{{Key: "locale", Value: "simple"}}},
	{Key: "ordered", Value: false}, {Key: "explain", Value: bson.D{{Key: "find", Value: "c"}}}, {Key: "verbosity", Value: "executionStats"}, {Key: "nameOnly", Value: true}, {Key: "to", Value: "test.d"},
	{Key: "dropTarget", Value: true}, {Key: "validator", Value: bson.D{{Key: "a", Value: 1}}}, {Key: "viewOn", Value: "c"}, {Key: "lsid", Value: bson.D{{Key: "id", Value: bson.Binary{Subtype: 4, Data: make([]byte, 16)}}}},
	{Key: "txnNumber", Value: int64(1)}, {Key: "startTransaction", Value: true}, {Key: "autocommit", Value: false}, {Key: "maxTimeMS", Value: 1000}, {Key: "readConcern", Value: bson.D{{Key: "level", Value: "local"}}},
	{Key: "writeConcern", Value: bson.D{{Key: "w", Value: 1}}}, {Key: "pwd", Value: "secret"}, {Key: "roles", Value: bson.A{"read"}}, {Key: "mechanism", Value: "SCRAM-SHA-256"}, {Key: "payload", Value: []byte("n,,n=x,r=y")},
	{Key: "conversationId", Value: 1}, {Key: "mode", Value: "off"}, {Key: "data", Value: bson.D{}}, {Key: "expireAfterSeconds", Value: 1}, {Key: "ttlMonitorSleepSecs", Value: 1}, {Key: "scale", Value: 1},
	{Key: "client", Value: bson.D{}}, {Key: "compression", Value: bson.A{"zstd"}}, {Key: "saslSupportedMechs", Value: "admin.mayfly"}, {Key: "speculativeAuthenticate", Value: bson.D{{Key: "saslStart", Value: 1}}},
}

// hostileSize: nothing that the test makes is larger.
func (r riddler) hostile(v any) any {
	switch r.IntN(9) {
	case 0:
		return r.value(3)
	case 1:
		return bson.D{{Key: r.pick("$expr", "$gt", "$x", "", "a.b", "$jsonSchema", "$elemMatch", "$and"), Value: r.value(2)}}
	case 2:
		return bson.A{r.value(2), bson.D{{Key: r.pick("$match", "$group", "$lookup", "$facet", "$project", "$merge", "$out", "$changeStream", "$sort", "$unwind", "$collStats"), Value: r.value(2)}}}
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
		d := newDoor(t, func(o *command.Options) {
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
				t.Errorf("-hostile-seed=%d, round %d: %s: %s\n%s", seed, round, extended(body), bson.Raw(answer), log.String())
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
