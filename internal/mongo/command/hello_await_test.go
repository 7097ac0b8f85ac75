package command_test

import (
	"context"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/mayflydb/mayfly/internal/mongo/command"
	"github.com/mayflydb/mayfly/internal/mongo/wire"
)

// awaiting is a hello of a client that knows a topology.
func awaiting(topology any, patience int) bson.D {
	return pairs("hello", 1, "topologyVersion", topology, "maxAwaitTimeMS", patience, "$db", "admin")
}

// topology asks who the server is, and gives which topology it knows.
func (p *peer) topology() (answer bson.Raw, version bson.RawValue) {
	answer = p.ask(bson.D{{Key: "hello", Value: 1}, {Key: "$db", Value: "admin"}})
	return answer, answer.Lookup("topologyVersion")
}

// A client that allows it gets one hello after the other, though it has asked only once.
// https://github.com/mongodb/specifications/blob/master/source/server-discovery-and-monitoring/server-monitoring.md
func TestHelloStreams(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*command.Options){"stand-alone": alone, "replica set": replica} {
		t.Run(name, func(t *testing.T) {
			d := newServer(t, change)
			p := d.peer()
			_, known := p.topology()
			for name, version := range map[string]any{
				"the topology that there is": known,
				"that of another process":    pairs("processId", bson.NewObjectID(), "counter", int64(7)),
			} {
				p := d.peer()
				p.sent++
				p.send(wire.AppendMsg(nil, p.sent, 0, wire.ExhaustAllowed, encoded(t, awaiting(version, 1))))
				to := uint32(p.sent)
				for range 3 {
					next, flags, body := p.frame(to)
					more, equal := flags&wire.MoreToCome != 0, body.Lookup("topologyVersion").Equal(known)
					if !more || !equal || !body.Lookup("isWritablePrimary").Boolean() {
						t.Fatalf("%s: flags %b, %s", name, flags, body)
					}
					to = next
				}
			}
		})
	}
}

// Nothing changes here, so that an awaited hello ends with its time, with its client or with the server.
func TestHelloAwaits(t *testing.T) {
	t.Parallel()
	d := newServer(t, alone)
	p := d.peer()
	plain, known := p.topology()
	for _, c := range []struct {
		name string
		cmd  bson.D
		code int32
		text string
	}{
		{"briefly", awaiting(known, 1), 0, ""},
		{"at once", awaiting(known, 0), 0, ""},
		{"another process", awaiting(pairs("processId", bson.NewObjectID(), "counter", int64(7)), 1_000_000), 0, ""},
		{"no limit", pairs("hello", 1, "topologyVersion", known, "$db", "admin"),
			31368, "must include 'maxAwaitTimeMS'"},
		{"no topology", document(t, `{hello: 1, maxAwaitTimeMS: 1, $db: 'admin'}`),
			31368, "must include a 'topologyVersion'"},
		{"a negative limit", awaiting(known, -1), 51024, "maxAwaitTimeMS"},
		{"a topology that is none", awaiting(1, 1), 14, "hello.topologyVersion"},
		{"no process", awaiting(bson.D{{Key: "counter", Value: int64(0)}}, 1), 40414, "processId"},
		{"a counter of another type", awaiting(pairs("processId", bson.NewObjectID(), "counter", 1), 1), 14, "counter"},
		{"a negative counter", awaiting(pairs("processId", bson.NewObjectID(), "counter", int64(-1)), 1),
			31372, "non-negative counter"},
		{"ahead", awaiting(pairs("processId", known.Document().Lookup("processId"), "counter", int64(9)), 1),
			51764, "greater than the server topology version counter: 0"},
	} {
		answer := p.ask(c.cmd)
		text, _ := answer.Lookup("errmsg").StringValueOK()
		if codeIn(answer) != c.code || !strings.Contains(text, c.text) || c.code == 0 && len(answer) != len(plain) {
			t.Errorf("%s: %s, want code %d", c.name, answer, c.code)
		}
	}
	p.sent++
	p.send(wire.AppendMsg(nil, p.sent, 0, wire.ExhaustAllowed, encoded(t, document(t, `{hello: 1, $db: 'admin'}`))))
	if _, flags, body := p.frame(uint32(p.sent)); codeIn(body) != 51756 || flags&wire.MoreToCome != 0 {
		t.Errorf("exhaust without a limit: %s", body)
	}
	replicas := newServer(t, replica).peer()
	_, known = replicas.topology()
	ahead := pairs("processId", known.Document().Lookup("processId"), "counter", int64(9))
	if got := codeIn(replicas.ask(awaiting(ahead, 1))); got != 31382 {
		t.Errorf("ahead of a replica set: code %d", got)
	}
}

// A hello that is awaited ends when the server does.
func TestHelloEndsWithTheServer(t *testing.T) {
	t.Parallel()
	d := newServer(t, alone)
	p := d.peer()
	_, known := p.topology()
	p.sent++
	p.send(wire.AppendMsg(nil, p.sent, 0, wire.ExhaustAllowed, encoded(t, awaiting(known, 1_000_000))))
	other := d.peer()
	for d.server.AwaitingTopology() == 0 {
		other.topology()
	}
	must(t, d.Disconnect(t.Context()))
	must(t, d.server.Close(context.Background()))
}

// A fail point for one application is about its handshakes too, which bring its name.
// https://github.com/mongodb/specifications/tree/master/source/server-discovery-and-monitoring/tests/unified
func TestFailPointOfTheFirstHello(t *testing.T) {
	t.Parallel()
	d := newTested(t)
	named := func(name string) bson.Raw {
		client := pairs("application", eq("name", name), "driver", pairs("name", "x", "version", "1"))
		return d.peer().ask(pairs("hello", 1, "client", client, "$db", "admin"))
	}
	d.failCommand(1, document(t, `{failCommands: ['hello', 'isMaster'], errorCode: 91, appName: 'mine'}`))
	for _, c := range []struct {
		name string
		want int32
	}{{"other", 0}, {"mine", 91}, {"mine", 0}} {
		if got := codeIn(named(c.name)); got != c.want {
			t.Errorf("%s: code %d, want %d", c.name, got, c.want)
		}
	}
}

// A driver that watches by streaming goes on working.
func TestStreamingDriver(t *testing.T) {
	t.Parallel()
	d := newServer(t, alone)
	client := d.connect("serverMonitoringMode=stream&heartbeatFrequencyMS=500")
	must(t, client.Ping(t.Context(), nil))
	for d.server.AwaitingTopology() == 0 {
		must(t, client.Ping(t.Context(), nil))
	}
	_, err := client.Database("test").Collection("c").InsertOne(t.Context(), eq("_id", 1), options.InsertOne())
	must(t, err)
}
