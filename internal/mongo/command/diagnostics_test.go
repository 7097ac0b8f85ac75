package command_test

import (
	"net"
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/mayflydb/mayfly/internal/mongo/command"
)

// What shells and tools ask when they begin, and what they look at in the answers.
func TestDiagnostics(t *testing.T) {
	d := newServer(t, replica)
	direct := d.connect("directConnection=true") // nobody reaches what is advertised
	for _, c := range []struct {
		cmd   string
		arg   any
		path  string // of a member
		want  string
		extra bson.D
	}{
		{"buildInfo", 1, "version", `"7.0.14"`, nil},
		{"buildinfo", 1, "versionArray", `[{"$numberInt":"7"},{"$numberInt":"0"},{"$numberInt":"14"},{"$numberInt":"0"}]`, nil},
		{"buildInfo", 1, "modules", `[]`, nil},
		{"buildInfo", 1, "mayfly.version", `"test"`, nil},
		{"hostInfo", 1, "system.cpuAddrSize", `{"$numberInt":"64"}`, nil},
		{"getLog", "startupWarnings", "log", `[]`, nil},
		{"getLog", "*", "names", `["global","startupWarnings"]`, nil},
		{"getCmdLineOpts", 1, "parsed", `{"replication": {"replSet": "globaldb"},"security": {"authorization": "disabled"}}`, nil},
		{"connectionStatus", 1, "authInfo", `{"authenticatedUsers": [],"authenticatedUserRoles": []}`, nil},
		{"listCommands", 1, "commands.ping.requiresAuth", `false`, nil},
		{"listCommands", 1, "commands.find.apiVersions", `["1"]`, nil},
		{"listCommands", 1, "commands.serverStatus.apiVersions", `[]`, nil},
		{"replSetGetStatus", 1, "members.0.stateStr", `"PRIMARY"`, nil},
		{"replSetGetStatus", 1, "set", `"globaldb"`, nil},
		{"replSetGetConfig", 1, "config.members.0.host", `"db.example:10255"`, nil},
		{"rolesInfo", 1, "roles", `[]`, nil},
		{"rolesInfo", "readWrite", "roles.0.isBuiltin", `true`, nil},
		{"rolesInfo", document(t, `{role: 'root', db: 'shop'}`), "roles", `[]`, nil},
		{"rolesInfo", 1, "roles.0.role", `"backup"`, bson.D{{Key: "showBuiltinRoles", Value: true}}},
		{"currentOp", 1, "inprog.0.command.currentOp", `{"$numberInt":"1"}`, eq("command.currentOp", 1)},
		{"currentOp", 1, "inprog", `[]`, bson.D{{Key: "op", Value: "insert"}}},
	} {
		var answer bson.Raw
		cmd := append(bson.D{{Key: c.cmd, Value: c.arg}}, c.extra...)
		if err := direct.Database("admin").RunCommand(t.Context(), cmd).Decode(&answer); err != nil {
			t.Errorf("%s %v: %v", c.cmd, c.arg, err)
			continue
		}
		if got := answer.Lookup(strings.Split(c.path, ".")...).String(); got != c.want {
			t.Errorf("%s %v: %s is %s, want %s", c.cmd, c.arg, c.path, got, c.want)
		}
	}
}

func TestDiagnosticRefusals(t *testing.T) {
	d := newServer(t, alone)
	for _, c := range []struct {
		db, cmd string
		arg     any
		want    int32
	}{
		{"admin", "replSetGetStatus", 1, 76},
		{"admin", "replSetGetConfig", 1, 76},
		{"test", "replSetGetStatus", 1, 13},
		{"test", "getLog", "global", 13},
		{"admin", "getLog", "x", 96},
		{"admin", "getLog", 1, 14},
		{"admin", "atlasVersion", 1, 59},
		{"admin", "isSelf", 1, 59},
		{"test", "usersInfo", true, 2},
		{"test", "rolesInfo", true, 2},
	} {
		if err := d.Database(c.db).RunCommand(t.Context(), eq(c.cmd, c.arg)).Err(); codeOf(err) != c.want {
			t.Errorf("%s on %s: code %d, want %d: %v", c.cmd, c.db, codeOf(err), c.want, err)
		}
	}
}

func TestWhatsMyURI(t *testing.T) {
	p := newServer(t, alone).peer()
	got := p.ask(bson.D{{Key: "whatsmyuri", Value: 1}, {Key: "$db", Value: "admin"}}).Lookup("you").StringValue()
	if _, _, err := net.SplitHostPort(got); err != nil || got != p.conn.LocalAddr().String() {
		t.Errorf("%q, want %q", got, p.conn.LocalAddr())
	}
}

// Failed logins are in the log that clients see; their payloads are nowhere.
func TestLogOfFailures(t *testing.T) {
	d := newServer(t, withAuth)
	if _, err := whoAmI(t, d.login("eve:open-sesame", "")); err == nil {
		t.Fatal("nobody is let in")
	}
	var answer struct {
		TotalLinesWritten int32
		Log               []string
	}
	must(t, d.asAccount().Database("admin").RunCommand(t.Context(), eq("getLog", "global")).Decode(&answer))
	line := slices.IndexFunc(answer.Log, func(s string) bool {
		return strings.Contains(s, `"s":"W"`) &&
			strings.Contains(s, `"user":"eve"`) && strings.Contains(s, `"t":{"$date":"`)
	})
	if line < 0 || strings.Contains(strings.Join(answer.Log, " "), "open-sesame") {
		t.Errorf("the log is %q", answer.Log)
	}
}

func TestCurrentOpIsOfOneself(t *testing.T) {
	d := newServer(t, withAuth)
	root := d.login("mayfly:"+accountKey, "appName=root")
	must(t, send(t, root.Database("shop"), `{createUser: 'ann', pwd: 'x', roles: ['read']}`))
	ann := d.login("ann:x", "authSource=shop&appName=ann").Database("admin")
	if err := ann.RunCommand(t.Context(), bson.D{{Key: "currentOp", Value: 1}}).Err(); codeOf(err) != 13 {
		t.Errorf("a user sees what others do: %v", err)
	}
	var answer struct{ Inprog []bson.M }
	must(t, ann.RunCommand(t.Context(), document(t, `{currentOp: 1, $ownOps: true, $all: true}`)).Decode(&answer))
	for _, op := range answer.Inprog {
		if op["appName"] != "ann" {
			t.Errorf("a user sees %v", op)
		}
	}
	if len(answer.Inprog) == 0 {
		t.Error("a user does not see itself")
	}
	everyone := document(t, `{$currentOp: {allUsers: true, idleConnections: true}}`)
	c, err := root.Database("admin").Aggregate(t.Context(), bson.A{everyone})
	must(t, err)
	var rows []bson.M
	must(t, c.All(t.Context(), &rows))
	apps := map[any]bool{}
	for _, row := range rows {
		apps[row["appName"]] = true
	}
	if !apps["root"] || !apps["ann"] {
		t.Errorf("$currentOp gives %v", rows)
	}
	if _, err := ann.Aggregate(t.Context(), bson.A{eq("$currentOp", eq("allUsers", true))}); codeOf(err) != 13 {
		t.Errorf("a user sees what others do with $currentOp: %v", err)
	}
}

func TestPrivilegesAreShown(t *testing.T) {
	d := newServer(t, withAuth)
	var answer bson.Raw
	status := document(t, `{connectionStatus: 1, showPrivileges: true}`)
	must(t, d.asAccount().Database("admin").RunCommand(t.Context(), status).Decode(&answer))
	info := answer.Lookup("authInfo").Document()
	if got := info.Lookup("authenticatedUserRoles").String(); got != `[{"role": "root","db": "admin"}]` {
		t.Errorf("roles %s", got)
	}
	first := info.Lookup("authenticatedUserPrivileges", "0").Document()
	if got := first.Lookup("resource").String(); got != `{"db": "","collection": ""}` {
		t.Errorf("resource %s", got)
	}
	if actions := first.Lookup("actions").String(); !strings.Contains(actions, `"find"`) {
		t.Errorf("actions %s", actions)
	}
}

func TestTop(t *testing.T) {
	d := newServer(t, alone)
	c := d.Database("shop").Collection("c")
	_, err := c.InsertOne(t.Context(), bson.D{})
	must(t, err)
	must(t, c.FindOne(t.Context(), bson.D{}).Err())
	must(t, c.FindOne(t.Context(), bson.D{}).Err())
	var answer bson.Raw
	must(t, d.Database("admin").RunCommand(t.Context(), bson.D{{Key: "top", Value: 1}}).Decode(&answer))
	for name, want := range map[string]int64{"insert": 1, "queries": 2, "total": 3, "writeLock": 1, "readLock": 2} {
		if got, _ := answer.Lookup("totals", "shop.c", name, "count").Int64OK(); got != want {
			t.Errorf("%s: %d, want %d", name, got, want)
		}
	}
}

// A server that is asked to authenticate though it need not does so, and lets everyone do everything.
func TestLoginWithoutNeed(t *testing.T) {
	d := newServer(t, func(o *command.Options) {})
	if who, err := whoAmI(t, d.asAccount()); who != "mayfly@admin" {
		t.Errorf("%q, error %v", who, err)
	}
	if who, err := whoAmI(t, d.Client); who != "" || err != nil {
		t.Errorf("%q, error %v", who, err)
	}
}

// A request that sleeps is ended by its number, by those who may.
func TestKillOp(t *testing.T) {
	d := newServer(t, withAuth)
	root := d.asAccount().Database("admin")
	must(t, send(t, d.asAccount().Database("shop"), `{createUser: 'ann', pwd: 'x', roles: ['read']}`))
	ann := d.login("ann:x", "authSource=shop").Database("admin")
	number := func(opid any) bson.D { return bson.D{{Key: "killOp", Value: 1}, {Key: "op", Value: opid}} }
	var busy struct{ Inprog []struct{ Opid int32 } }
	must(t, root.RunCommand(t.Context(), document(t, `{currentOp: 1, command.hello: {$exists: false}}`)).Decode(&busy))
	if len(busy.Inprog) != 1 || busy.Inprog[0].Opid <= 0 {
		t.Fatalf("%v", busy)
	}
	for _, c := range []struct {
		name string
		err  error
		want int32
	}{
		{"one that has ended", root.RunCommand(t.Context(), number(busy.Inprog[0].Opid)).Err(), 0},
		{"by another user", ann.RunCommand(t.Context(), number(busy.Inprog[0].Opid)).Err(), 13},
		{"no number", root.RunCommand(t.Context(), number("x")).Err(), 14},
		{"none", root.RunCommand(t.Context(), bson.D{{Key: "killOp", Value: 1}}).Err(), 40414},
	} {
		if codeOf(c.err) != c.want {
			t.Errorf("%s: %v", c.name, c.err)
		}
	}
}
