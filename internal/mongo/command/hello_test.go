package command_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/mayflydb/mayfly/internal/mongo/command"
	"github.com/mayflydb/mayfly/internal/mongo/wire"
)

var rewriteHello = flag.Bool("rewrite-hello", false, "write testdata/hello.golden anew; read the difference before believing it")

func alone(o *command.Options)   {}
func replica(o *command.Options) { o.ReplSet, o.Advertise = "globaldb", "db.example:10255" }

// The answers to handshakes as clients of all ages send them.
func TestHelloShapes(t *testing.T) {
	driver := document(t, `{driver: {name: 'x', version: '1'}, os: {type: 'x'}}`)
	var got bytes.Buffer
	for _, mode := range []struct {
		name   string
		change func(*command.Options)
	}{{"stand-alone", alone}, {"replica set", replica}} {
		d := newServer(t, mode.change)
		for _, c := range []struct {
			name string
			cmd  bson.D
			old  bool // as OP_QUERY
		}{
			{"ismaster as OP_QUERY", pairs("ismaster", 1, "helloOk", true, "client", driver), true},
			{"isMaster as OP_QUERY", bson.D{{Key: "isMaster", Value: 1}}, true},
			{"hello as OP_MSG", document(t, `{hello: 1, $db: 'admin', backpressure: '2', unknown: 1}`), false},
			{"hello with all", document(t, `{
				hello: 1, $db: 'admin', helloOk: true, compression: ['lz4', 'zstd', 'zlib', 'snappy'],
				saslSupportedMechs: 'admin.mayfly', loadBalanced: true
			}`), false},
			{"hello of someone who is not there",
				document(t, `{hello: 1, $db: 'admin', saslSupportedMechs: 'admin.nobody'}`), false},
			{"hello of a user by a document",
				document(t, `{hello: 1, $db: 'admin', saslSupportedMechs: {user: 'mayfly', db: 'admin'}}`), false},
		} {
			p := d.peer()
			var answer bson.Raw
			if c.old {
				answer = p.query("admin.$cmd", c.cmd)
			} else {
				answer = p.ask(c.cmd)
			}
			fmt.Fprintf(&got, "# %s: %s\n%s\n", mode.name, c.name, shape(t, answer))
		}
	}
	file := filepath.Join("testdata", "hello.golden")
	if *rewriteHello {
		must(t, os.WriteFile(file, got.Bytes(), 0o644))
	}
	want, err := os.ReadFile(file)
	must(t, err)
	if !bytes.Equal(got.Bytes(), want) {
		t.Errorf("handshakes differ from %s:\n%s", file, got.Bytes())
	}
}

// shape shows an answer a member a line, with what differs from run to run replaced.
func shape(t *testing.T, answer bson.Raw) string {
	t.Helper()
	var lines strings.Builder
	members, err := answer.Elements()
	must(t, err)
	for _, m := range members {
		switch m.Key() {
		case "$clusterTime", "operationTime":
			continue
		case "connectionId":
			fmt.Fprintf(&lines, "connectionId: %s\n", m.Value().Type)
			continue
		case "topologyVersion":
			v := m.Value().Document()
			fmt.Fprintf(&lines, "topologyVersion: {processId: %s, counter: %s}\n",
				v.Lookup("processId").Type, v.Lookup("counter"))
			continue
		case "lastWrite":
			v := m.Value().Document()
			fmt.Fprintf(&lines, "lastWrite: opTime {ts: %s, t: %s} lastWriteDate %s\n",
				v.Lookup("opTime", "ts").Type, v.Lookup("opTime", "t").Type, v.Lookup("lastWriteDate"))
			continue
		}
		var tight bytes.Buffer
		must(t, json.Compact(&tight, []byte(m.Value().String())))
		fmt.Fprintf(&lines, "%s: %s\n", m.Key(), tight.String())
	}
	return lines.String()
}

// Without an address to advertise, a client is told the one that it has reached.
func TestHelloTellsTheAddressReached(t *testing.T) {
	d := newServer(t, func(o *command.Options) { o.ReplSet = "rs" })
	answer := d.peer().query("admin.$cmd", bson.D{{Key: "isMaster", Value: 1}})
	for _, path := range [][]string{{"me"}, {"primary"}, {"hosts", "0"}} {
		if got, _ := answer.Lookup(path...).StringValueOK(); got != d.address {
			t.Errorf("%v is %q, want %q", path, got, d.address)
		}
	}
	client := d.connect("replicaSet=rs")
	must(t, client.Ping(t.Context(), nil))
}

// Where other machines reach the server, only clients that ask for the set, or whom the operator has told where it is,
// are told of it: others stay at the address that they were given, as at a mongos.
func TestHelloWhereOthersReachTheServer(t *testing.T) {
	exposed := func(o *command.Options) { o.ReplSet, o.Exposed = "globaldb", true }
	advertised := func(o *command.Options) { exposed(o); o.Advertise = "db.example:10255" }
	for _, c := range []struct {
		name   string
		change func(*command.Options)
		app    string
		secure string // the name that is called over TLS
		host   string // "" for a mongos, "reached" for the address reached
	}{
		{"a client", exposed, "", "", ""},
		{"a client with a name", exposed, "shop", "", ""},
		{"a client over TLS", exposed, "shop", "db.example", ""},
		{"half a name of Azure's", exposed, "@", "", ""},
		{"a name of Azure's without an account", exposed, "@@", "", ""},
		{"Azure's string", exposed, "@acct@", "", "reached"},
		{"Azure's string over TLS", exposed, "@acct@", "db.example", "db.example"},
		{"advertised", advertised, "", "", "db.example:10255"},
		{"advertised, Azure's string over TLS", advertised, "@acct@", "other.example", "db.example:10255"},
		{"on this machine, over TLS", func(o *command.Options) { o.ReplSet = "globaldb" }, "",
			"localhost", "localhost"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := newServer(t, c.change)
			p := d.peer()
			if c.secure != "" {
				p = d.securePeer(c.secure)
			}
			answer := p.ask(pairs("hello", 1, "client", eq("application", eq("name", c.app)), "$db", "admin"))
			again := p.ask(bson.D{{Key: "hello", Value: 1}, {Key: "$db", Value: "admin"}})
			host, msg, set := c.host, "", "globaldb"
			switch {
			case c.host == "":
				msg, set = "isdbgrid", ""
			case c.host == "reached":
				host = p.reached()
			case !strings.Contains(c.host, ":"):
				_, port, _ := net.SplitHostPort(p.reached())
				host = net.JoinHostPort(c.host, port)
			}
			for _, a := range []bson.Raw{answer, again} {
				if writable, _ := a.Lookup("isWritablePrimary").BooleanOK(); !writable {
					t.Errorf("takes no writes: %s", a)
				}
				for member, want := range map[string]string{"msg": msg, "setName": set, "me": host, "primary": host} {
					if got, _ := a.Lookup(member).StringValueOK(); got != want {
						t.Errorf("%s is %q, want %q", member, got, want)
					}
				}
				if got, _ := a.Lookup("hosts", "0").StringValueOK(); got != host {
					t.Errorf("hosts has %q, want %q", got, host)
				}
			}
		})
	}
}

func TestHelloRefusals(t *testing.T) {
	d := newServer(t, alone)
	info := func(app string) bson.D { return bson.D{{Key: "application", Value: bson.D{{Key: "name", Value: app}}}} }
	hello := func(client any) bson.D {
		return bson.D{{Key: "hello", Value: 1}, {Key: "client", Value: client}, {Key: "$db", Value: "admin"}}
	}
	for _, c := range []struct {
		name string
		cmds []bson.D
		want int32
	}{
		{"once", []bson.D{hello(info("x"))}, 0},
		{"twice", []bson.D{hello(info("x")), hello(info("y"))}, 186},
		{"long name", []bson.D{hello(info(strings.Repeat("x", 129)))}, 184},
		{"long", []bson.D{hello(bson.D{{Key: "platform", Value: strings.Repeat("x", 600)}})}, 185},
		{"no document", []bson.D{hello("x")}, 14},
		{"not an address", []bson.D{document(t, `{hello: 1, saslSupportedMechs: 1, $db: 'admin'}`)}, 14},
		{"a user of no database", []bson.D{document(t, `{hello: 1, saslSupportedMechs: 'mayfly', $db: 'admin'}`)}, 2},
	} {
		p := d.peer()
		var answer bson.Raw
		for _, cmd := range c.cmds {
			answer = p.ask(cmd)
		}
		if got := codeIn(answer); got != c.want {
			t.Errorf("%s: code %d, want %d: %s", c.name, got, c.want, answer)
		}
	}
	if got := codeIn(d.peer().query("admin.$cmd", bson.D{{Key: "find", Value: "c"}})); got != 352 {
		t.Errorf("find as OP_QUERY: code %d, want 352", got)
	}
	p := d.peer()
	for _, cmd := range []bson.D{
		hello(info("x")), pairs("saslStart", 1, "$db", "admin"), pairs("createUser", "u", "$db", "admin"),
	} {
		if got := codeIn(p.askPacked(cmd, wire.Snappy)); got != 17 {
			t.Errorf("%s compressed: code %d, want 17", cmd[0].Key, got)
		}
	}
	if got := codeIn(p.askPacked(document(t, `{ping: 1, $db: 'admin'}`), wire.Snappy)); got != 0 {
		t.Errorf("ping compressed: code %d", got)
	}
}

func TestCompression(t *testing.T) {
	d := newServer(t, func(o *command.Options) { o.Auth = true })
	for _, name := range []string{"zstd", "snappy", "zlib", "zstd,snappy,zlib"} {
		client := d.login("mayfly:a2V5", "compressors="+name)
		text := strings.Repeat("mayfly ", 1000)
		_, err := client.Database("test").Collection("c").InsertOne(t.Context(), eq("text", text))
		must(t, err)
	}
	c := d.asAccount().Database("test").Collection("c")
	if n, err := c.CountDocuments(t.Context(), bson.D{}); err != nil || n != 4 {
		t.Errorf("%d documents, error %v", n, err)
	}
}

// With speculation an authentication takes one request less: the first step comes with the handshake.
func TestSpeculativeAuthentication(t *testing.T) {
	d := newServer(t, func(o *command.Options) { o.Auth = true })
	for _, m := range []string{"SCRAM-SHA-1", "SCRAM-SHA-256", ""} {
		before := d.count("saslStart")
		client := d.login("mayfly:a2V5", "authMechanism="+m)
		must(t, client.Ping(t.Context(), nil))
		_, err := client.ListDatabaseNames(t.Context(), bson.D{})
		if err != nil && !mongo.IsNetworkError(err) && codeOf(err) != 59 {
			t.Errorf("%s: %v", m, err)
		}
		if n := d.count("saslStart") - before; n != 0 {
			t.Errorf("%q: %d requests saslStart beside the handshake", m, n)
		}
	}
}

// count asks how many requests of a command there have been.
func (d *testServer) count(name string) int64 { return d.server.Requests(name) }

func codeOf(err error) int32 {
	if e, ok := err.(mongo.CommandError); ok {
		return e.Code
	}
	if e, ok := err.(mongo.WriteException); ok && len(e.WriteErrors) > 0 {
		return int32(e.WriteErrors[0].Code)
	}
	return 0
}
