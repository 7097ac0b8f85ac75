package command_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/xdg-go/scram"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/clock"
	"github.com/mayflydb/mayfly/internal/kv/pebble"
	"github.com/mayflydb/mayfly/internal/mongo/command"
	"github.com/mayflydb/mayfly/internal/store"
)

const accountKey = "a2V5"

func withAuth(o *command.Options) { o.Auth = true }

// login makes a client that authenticates.
func (d *testServer) login(who, query string) *mongo.Client {
	d.t.Helper()
	return login(d.t, d.address, who, query)
}

// asAccount logs in as the account itself, which may do anything.
func (d *testServer) asAccount() *mongo.Client {
	d.t.Helper()
	return d.login("mayfly:"+accountKey, "")
}

func login(t testing.TB, address, who, query string) *mongo.Client {
	t.Helper()
	o := options.Client().ApplyURI("mongodb://" + who + "@" + address + "/?" + query)
	client, err := mongo.Connect(o.SetServerSelectionTimeout(10 * time.Second))
	must(t, err)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		_ = client.Disconnect(ctx)
	})
	return client
}

// whoAmI gives the users that a client has authenticated as, as name@database.
func whoAmI(t testing.TB, c *mongo.Client) (string, error) {
	t.Helper()
	var answer struct {
		AuthInfo struct {
			AuthenticatedUsers []struct{ User, DB string }
		} `bson:"authInfo"`
	}
	err := c.Database("admin").RunCommand(t.Context(), bson.D{{Key: "connectionStatus", Value: 1}}).Decode(&answer)
	var names []string
	for _, u := range answer.AuthInfo.AuthenticatedUsers {
		names = append(names, u.User+"@"+u.DB)
	}
	return strings.Join(names, " "), err
}

func TestAuthentication(t *testing.T) {
	d := newServer(t, withAuth)
	root := d.asAccount()
	create := func(db, name, password string, mechanisms ...string) {
		t.Helper()
		cmd := pairs("createUser", name, "pwd", password, "roles", bson.A{"readWrite"})
		if mechanisms != nil {
			cmd = append(cmd, bson.E{Key: "mechanisms", Value: mechanisms})
		}
		must(t, root.Database(db).RunCommand(t.Context(), cmd).Err())
	}
	create("shop", "ann", "secret")
	create("shop", "old", "secret", "SCRAM-SHA-1")
	create("shop", "new", "secret", "SCRAM-SHA-256")
	create("shop", "a,b=c", "sécrét\u00a0\u2168") // SASLprep: a space, and IX
	create("other", "ann", "another")
	for _, c := range []struct {
		name, who, query string
		want             string // "" is refused
	}{
		{"the account", "mayfly:" + accountKey, "", "mayfly@admin"},
		{"the account, SHA-1", "mayfly:" + accountKey, "authMechanism=SCRAM-SHA-1", "mayfly@admin"},
		{"the account, SHA-256", "mayfly:" + accountKey, "authMechanism=SCRAM-SHA-256", "mayfly@admin"},
		{"the account, wrong", "mayfly:x", "", ""},
		{"the account, wrong, SHA-1", "mayfly:x", "authMechanism=SCRAM-SHA-1", ""},
		{"the account on another database", "mayfly:" + accountKey, "authSource=shop", "mayfly@shop"},
		{"the name of an account", "acct-1:" + accountKey, "", "acct-1@admin"},
		{"the name of an account, SHA-1", "acct-1:" + accountKey, "authMechanism=SCRAM-SHA-1", "acct-1@admin"},
		{"the name of an account, SHA-256, again", "acct-1:" + accountKey,
			"authMechanism=SCRAM-SHA-256", "acct-1@admin"},
		{"the name of an account, wrong", "acct-1:" + accountKey + "x", "", ""},
		{"a name that is not plain, SHA-1", "a%2Cb%3Dc:" + accountKey, "authMechanism=SCRAM-SHA-1", "a,b=c@admin"},
		{"a long name", strings.Repeat("n", 256) + ":" + accountKey, "", strings.Repeat("n", 256) + "@admin"},
		{"a name that is too long", strings.Repeat("n", 257) + ":" + accountKey, "", ""},
		{"a user with the account key", "ann:" + accountKey, "authSource=shop", ""},
		{"a user with the account key, SHA-1", "ann:" + accountKey, "authSource=shop&authMechanism=SCRAM-SHA-1", ""},
		{"a user with the account key, by a mechanism that it has not", "old:" + accountKey, "authSource=shop&authMechanism=SCRAM-SHA-256", ""},
		{"a user of that name elsewhere, with the account key", "ann:" + accountKey, "authSource=admin", "ann@admin"},
		{"nobody", "eve:secret", "", ""},
		{"nobody, SHA-1", "eve:secret", "authMechanism=SCRAM-SHA-1", ""},
		{"a user", "ann:secret", "authSource=shop", "ann@shop"},
		{"a user, SHA-1", "ann:secret", "authSource=shop&authMechanism=SCRAM-SHA-1", "ann@shop"},
		{"a user of that name elsewhere", "ann:another", "authSource=other", "ann@other"},
		{"with the password of that one", "ann:another", "authSource=shop", ""},
		{"on the wrong database", "ann:secret", "authSource=admin", ""},
		{"only SHA-1, by negotiation", "old:secret", "authSource=shop", "old@shop"},
		{"only SHA-1, with SHA-256", "old:secret", "authSource=shop&authMechanism=SCRAM-SHA-256", ""},
		{"only SHA-256, by negotiation", "new:secret", "authSource=shop", "new@shop"},
		{"only SHA-256, with SHA-1", "new:secret", "authSource=shop&authMechanism=SCRAM-SHA-1", ""},
		{"escaped name, password that is prepared", "a%2Cb%3Dc:s%C3%A9cr%C3%A9t%20IX", "authSource=shop", "a,b=c@shop"},
		{"a mechanism that there is not", "ann:secret", "authSource=$external&authMechanism=PLAIN", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := whoAmI(t, login(t, d.address, c.who, c.query))
			if got != c.want || (err != nil) != (c.want == "") {
				t.Errorf("%q, want %q, error %v", got, c.want, err)
			}
		})
	}
}

// Clients that authenticate although they need not must be right too.
func TestAuthenticationThatIsNotRequired(t *testing.T) {
	d := newServer(t, nil)
	must(t, send(t, d.Database("shop"), `{createUser: 'ann', pwd: 'secret', roles: ['read']}`))
	for _, c := range []struct{ who, query, want string }{
		{"acct:" + accountKey, "ssl=false&retrywrites=false&maxIdleTimeMS=120000&appName=@acct@", "acct@admin"},
		{"acct:" + accountKey, "authMechanism=SCRAM-SHA-1", "acct@admin"},
		{"ann:secret", "authSource=shop", "ann@shop"},
		{"acct:secret", "", ""},
		{"ann:" + accountKey, "authSource=shop", ""},
	} {
		if got, err := whoAmI(t, d.login(c.who, c.query)); got != c.want || (err != nil) != (c.want == "") {
			t.Errorf("%s %s: %q, want %q, error %v", c.who, c.query, got, c.want, err)
		}
	}
}

// Once a user is created, its name is not opened by the account key any more, until the user is dropped.
func TestAccountKeyIsNotASecondPassword(t *testing.T) {
	d := newServer(t, withAuth)
	root := d.asAccount()
	admin := root.Database("admin")
	insert := func(who string) error {
		_, err := d.login(who, "").Database("shop").Collection("c").InsertOne(t.Context(), bson.D{})
		return err
	}
	must(t, insert("acct:"+accountKey))
	must(t, send(t, admin, `{createUser: 'acct', pwd: 'secret', roles: [{role: 'read', db: 'shop'}]}`))
	if err := insert("acct:" + accountKey); codeOf(err) != 18 {
		t.Errorf("the account key opens what a user has: %v", err)
	}
	if err := insert("acct:secret"); codeOf(err) != 13 {
		t.Errorf("a reader writes: %v", err)
	}
	must(t, admin.RunCommand(t.Context(), bson.D{{Key: "dropUser", Value: "acct"}}).Err())
	must(t, insert("acct:"+accountKey))
	if err := insert("acct:secret"); codeOf(err) != 18 {
		t.Errorf("the password of a user who was dropped: %v", err)
	}
	must(t, send(t, d.login("other:"+accountKey, "").Database("shop"), `{createUser: 'bob', pwd: 'x', roles: []}`))
}

// Before authentication: the handshake, a few open commands, and frames of some size.
func TestBeforeAuthentication(t *testing.T) {
	d := newServer(t, withAuth)
	p := d.peer()
	for name, want := range map[string]int32{
		"hello": 0, "ping": 0, "buildInfo": 0, "connectionStatus": 0, "whatsmyuri": 0, "listCommands": 0,
		"find": 13, "insert": 13, "usersInfo": 13, "createUser": 13, "currentOp": 13, "getLog": 13, "hostInfo": 13,
		"atlasVersion": 59, "isSelf": 59, "saslContinue": 17,
	} {
		if got := codeIn(p.ask(bson.D{{Key: name, Value: 1}, {Key: "$db", Value: "admin"}})); got != want {
			t.Errorf("%s: code %d, want %d", name, got, want)
		}
	}
	p.ask(pairs("ping", 1, "comment", strings.Repeat("x", 60<<10), "$db", "admin"))
	p.sent++
	large := p.sendOnly(pairs("ping", 1, "comment", strings.Repeat("x", 70<<10), "$db", "admin"))
	if !large {
		t.Error("a client may send large frames before it has authenticated")
	}
	ping := pairs("ping", 1, "comment", strings.Repeat("x", 1<<20))
	must(t, d.asAccount().Database("test").RunCommand(t.Context(), ping).Err())
}

// sasl authenticates with SCRAM, on frames that the test makes itself.
func (p *peer) sasl(
	db, name, password string, g scram.HashGeneratorFcn, mechanism string, skipEmpty bool,
) (first, last bson.Raw) {
	p.t.Helper()
	client, err := g.NewClientUnprepped(name, password, "")
	must(p.t, err)
	v := client.NewConversation()
	payload, err := v.Step("")
	must(p.t, err)
	first = p.ask(pairs("saslStart", 1, "mechanism", mechanism, "payload", []byte(payload),
		"options", eq("skipEmptyExchange", skipEmpty), "$db", db))
	if codeIn(first) != 0 {
		return first, nil
	}
	_, reply, _ := first.Lookup("payload").BinaryOK()
	payload, err = v.Step(string(reply))
	must(p.t, err)
	return first, p.ask(pairs("saslContinue", 1, "conversationId", 1, "payload", []byte(payload), "$db", db))
}

// sendOnly reports whether the server hangs up on a request.
func (p *peer) sendOnly(cmd any) (hungUp bool) {
	p.t.Helper()
	p.send(appendMsg(p, cmd))
	return p.closed()
}

// The steps of the conversation, with and without the empty one at the end.
func TestConversation(t *testing.T) {
	d := newServer(t, withAuth)
	start := func(mechanism string, payload any) bson.D {
		return pairs("saslStart", 1, "mechanism", mechanism, "payload", payload, "$db", "admin")
	}
	goOn := func(conversation int, payload []byte) bson.D {
		return pairs("saslContinue", 1, "conversationId", conversation, "payload", payload, "$db", "admin")
	}
	next := goOn(1, []byte{})
	find := bson.D{{Key: "usersInfo", Value: 1}, {Key: "$db", Value: "admin"}}
	t.Run("skips the empty exchange", func(t *testing.T) {
		p := d.peer()
		_, last := p.sasl("admin", "mayfly", accountKey, scram.SHA256, "SCRAM-SHA-256", true)
		if done, _ := last.Lookup("done").BooleanOK(); !done || codeIn(p.ask(find)) != 0 {
			t.Errorf("%s", last)
		}
	})
	t.Run("has the empty exchange", func(t *testing.T) {
		p := d.peer()
		_, last := p.sasl("admin", "mayfly", accountKey, scram.SHA256, "SCRAM-SHA-256", false)
		if done, _ := last.Lookup("done").BooleanOK(); done || codeIn(p.ask(find)) != 13 {
			t.Errorf("done too early: %s", last)
		}
		last = p.ask(next)
		if done, _ := last.Lookup("done").BooleanOK(); !done || codeIn(p.ask(find)) != 0 {
			t.Errorf("not done: %s", last)
		}
		if got := codeIn(p.ask(next)); got != 17 {
			t.Errorf("after the end: code %d, want 17", got)
		}
		if p.ask(bson.D{{Key: "logout", Value: 1}, {Key: "$db", Value: "admin"}}); codeIn(p.ask(find)) != 13 {
			t.Error("who has logged out is still someone")
		}
	})
	t.Run("wrong passwords and nobody are the same", func(t *testing.T) {
		p := d.peer()
		first, last := p.sasl("admin", "mayfly", "x", scram.SHA256, "SCRAM-SHA-256", true)
		nobody, refused := p.sasl("admin", "nobody", "x", scram.SHA256, "SCRAM-SHA-256", true)
		again, _ := d.peer().sasl("admin", "nobody", "x", scram.SHA256, "SCRAM-SHA-256", true)
		text := last.Lookup("errmsg").StringValue()
		if !slices.Equal(last, refused) || codeIn(last) != 18 || text != "Authentication failed." {
			t.Errorf("%s\n%s", last, refused)
		}
		must(t, send(t, d.asAccount().Database("admin"), `{createUser: 'made', pwd: 'y', roles: []}`))
		made, refused := p.sasl("admin", "made", "x", scram.SHA256, "SCRAM-SHA-256", true)
		if !slices.Equal(last, refused) || len(made) != len(nobody) || len(saltOf(made)) != len(saltOf(nobody)) {
			t.Errorf("a user who was made can be told: %s\n%s", made, refused)
		}
		salt, once, real := saltOf(nobody), saltOf(again), saltOf(first)
		if salt != once || len(salt) != len(real) || salt == real {
			t.Errorf("the salt of nobody is %q, then %q", salt, once)
		}
	})
	t.Run("is cut short after some failures", func(t *testing.T) {
		p := d.peer()
		for range 10 {
			if _, last := p.sasl("admin", "mayfly", "x", scram.SHA256, "SCRAM-SHA-256", true); codeIn(last) != 18 {
				t.Fatalf("%s", last)
			}
		}
		if !p.sendOnly(start("SCRAM-SHA-256", []byte("n,,n=mayfly,r=x"))) {
			t.Error("an eleventh attempt is answered")
		}
	})
	for _, c := range []struct {
		name string
		cmds []bson.D
		want int32
	}{
		{"no mechanism", []bson.D{start("PLAIN", []byte("\x00mayfly\x00"+accountKey))}, 334},
		{"no payload", []bson.D{start("SCRAM-SHA-256", nil)}, 14},
		{"text that is not base 64", []bson.D{start("SCRAM-SHA-256", "%")}, 2},
		{"nonsense", []bson.D{start("SCRAM-SHA-256", []byte("x"))}, 18},
		{"another's authority", []bson.D{start("SCRAM-SHA-256", []byte("n,a=root,n=mayfly,r=x"))}, 18},
		{"channel binding", []bson.D{start("SCRAM-SHA-256", []byte("p=tls-unique,,n=mayfly,r=x"))}, 18},
		{"a name that is not escaped", []bson.D{start("SCRAM-SHA-256", []byte("n,,n=may=fly,r=x"))}, 18},
		{"another conversation",
			[]bson.D{start("SCRAM-SHA-256", []byte("n,,n=mayfly,r=x")), goOn(2, []byte{})}, 17},
		{"nothing in the second step", []bson.D{start("SCRAM-SHA-256", []byte("n,,n=mayfly,r=x")), next}, 18},
		{"another nonce",
			[]bson.D{start("SCRAM-SHA-256", []byte("n,,n=mayfly,r=x")), goOn(1, []byte("c=biws,r=x,p=AAAA"))}, 18},
		{"text in base 64",
			[]bson.D{start("SCRAM-SHA-256", base64.StdEncoding.EncodeToString([]byte("n,,n=mayfly,r=x")))}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := d.peer()
			var answer bson.Raw
			for _, cmd := range c.cmds {
				answer = p.ask(cmd)
			}
			if codeIn(answer) != c.want {
				t.Errorf("code %d, want %d: %s", codeIn(answer), c.want, answer)
			}
		})
	}
}

// saltOf is the salt in the first answer of a conversation.
func saltOf(answer bson.Raw) string {
	_, payload, _ := answer.Lookup("payload").BinaryOK()
	for field := range strings.SplitSeq(string(payload), ",") {
		if salt, ok := strings.CutPrefix(field, "s="); ok {
			return salt
		}
	}
	return ""
}

// Users, their passwords and roles are there after a restart; what is kept tells no password.
func TestRestartKeepsUsers(t *testing.T) {
	engine, err := pebble.Open(pebble.Options{Memory: true})
	must(t, err)
	defer engine.Close()
	serve := func(use func(address string)) {
		cat, err := catalog.Open(t.Context(), engine, compile)
		must(t, err)
		st, err := store.Open(t.Context(), engine, cat)
		must(t, err)
		s := command.New(command.Options{
			Catalog: cat, Store: st, Clock: clock.NewVirtual(start), Keys: ringOf(t, accountKey), Auth: true,
		})
		l, err := net.Listen("tcp", "127.0.0.1:0")
		must(t, err)
		var serving sync.WaitGroup
		serving.Go(func() { _ = s.Serve(l) })
		use(l.Addr().String())
		must(t, errors.Join(s.Close(t.Context()), st.Close()))
		serving.Wait()
		for _, r := range cat.Resources(catalog.MongoUser, catalog.Owner{}) {
			if strings.Contains(string(r.Body), "secret") {
				t.Error("a password is kept")
			}
		}
	}
	serve(func(address string) {
		root := login(t, address, "mayfly:"+accountKey, "").Database("shop")
		must(t, send(t, root, `{createUser: 'ann', pwd: 'secret', roles: ['read']}`))
	})
	serve(func(address string) {
		ann := login(t, address, "ann:secret", "authSource=shop")
		if who, err := whoAmI(t, ann); who != "ann@shop" {
			t.Errorf("%q, error %v", who, err)
		}
		if _, err := ann.Database("shop").Collection("c").InsertOne(t.Context(), bson.D{}); codeOf(err) != 13 {
			t.Errorf("a reader writes: %v", err)
		}
	})
}

func TestUsers(t *testing.T) {
	d := newServer(t, withAuth)
	db := d.asAccount().Database("shop")
	for i, c := range []struct {
		name string
		cmd  bson.D
		want int32
	}{
		{"a user", document(t, `{
			createUser: 'ann', pwd: 'secret', roles: ['read', {role: 'read', db: 'other'}], customData: {n: 1}
		}`), 0},
		{"again", document(t, `{createUser: 'ann', pwd: 'secret', roles: []}`), 51003},
		{"no roles", document(t, `{createUser: 'bob', pwd: 'secret'}`), 40414},
		{"no password", document(t, `{createUser: 'bob', roles: []}`), 2},
		{"empty password", document(t, `{createUser: 'bob', pwd: '', roles: []}`), 2},
		{"empty name", document(t, `{createUser: '', pwd: 'x', roles: []}`), 2},
		{"name that is none", document(t, `{createUser: 1, pwd: 'x', roles: []}`), 14},
		{"unknown role", document(t, `{createUser: 'bob', pwd: 'x', roles: ['king']}`), 31},
		{"role of admin elsewhere", document(t, `{createUser: 'bob', pwd: 'x', roles: ['root']}`), 31},
		{"unknown mechanism", document(t, `{createUser: 'bob', pwd: 'x', roles: [], mechanisms: ['PLAIN']}`), 2},
		{"no mechanism", document(t, `{createUser: 'bob', pwd: 'x', roles: [], mechanisms: []}`), 2},
		{"restrictions",
			document(t, `{createUser: 'bob', pwd: 'x', roles: [], authenticationRestrictions: [{}]}`), 115},
		{"unknown member", document(t, `{createUser: 'bob', pwd: 'x', roles: [], x: 1}`), 40415},
		{"change nothing", bson.D{{Key: "updateUser", Value: "ann"}}, 2},
		{"change nobody", document(t, `{updateUser: 'bob', pwd: 'x'}`), 11},
		{"change the password", document(t, `{updateUser: 'ann', pwd: 'changed'}`), 0},
		{"drop a mechanism", document(t, `{updateUser: 'ann', mechanisms: ['SCRAM-SHA-256']}`), 0},
		{"take it back without a password", document(t, `{updateUser: 'ann', mechanisms: ['SCRAM-SHA-1']}`), 2},
		{"give a role", document(t, `{grantRolesToUser: 'ann', roles: ['dbAdmin', 'read']}`), 0},
		{"take a role", document(t, `{revokeRolesFromUser: 'ann', roles: ['read']}`), 0},
		{"give to nobody", document(t, `{grantRolesToUser: 'bob', roles: ['read']}`), 11},
		{"own roles", document(t, `{createRole: 'king', privileges: [], roles: []}`), 115},
		{"drop nobody", bson.D{{Key: "dropUser", Value: "bob"}}, 11},
	} {
		if err := db.RunCommand(t.Context(), c.cmd).Err(); codeOf(err) != c.want {
			t.Errorf("%d %s: code %d, want %d: %v", i, c.name, codeOf(err), c.want, err)
		}
	}
	var info bson.Raw
	must(t, db.RunCommand(t.Context(), document(t, `{usersInfo: 'ann', filter: {customData.n: 1}}`)).Decode(&info))
	want := `{"_id": "shop.ann","user": "ann","db": "shop","mechanisms": ["SCRAM-SHA-256"],"roles": [{"role": "read","db": "other"},{"role": "dbAdmin","db": "shop"}],"customData": {"n": {"$numberInt":"1"}}}`
	ann := info.Lookup("users", "0").Document()
	if got := without(t, ann, "userId"); got != want {
		t.Errorf("usersInfo gives\n%s, want\n%s", got, want)
	}
	if who, err := whoAmI(t, d.login("ann:changed", "authSource=shop")); who != "ann@shop" {
		t.Errorf("%q, %v", who, err)
	}
	for _, c := range []struct {
		cmd  bson.D
		want string
	}{
		{bson.D{{Key: "usersInfo", Value: 1}}, "ann@shop"},
		{eq("usersInfo", eq("forAllDBs", true)), "mayfly@admin ann@shop"},
		{document(t, `{usersInfo: [{user: 'mayfly', db: 'admin'}, 'bob']}`), "mayfly@admin"},
		{document(t, `{usersInfo: 1, filter: {user: 'x'}}`), ""},
	} {
		var answer struct{ Users []struct{ User, DB string } }
		must(t, db.RunCommand(t.Context(), c.cmd).Decode(&answer))
		var names []string
		for _, u := range answer.Users {
			names = append(names, u.User+"@"+u.DB)
		}
		if got := strings.Join(names, " "); got != c.want {
			t.Errorf("%v: %q, want %q", c.cmd, got, c.want)
		}
	}
	var dropped struct{ N int32 }
	must(t, db.RunCommand(t.Context(), bson.D{{Key: "dropAllUsersFromDatabase", Value: 1}}).Decode(&dropped))
	if dropped.N != 1 {
		t.Errorf("%d users dropped", dropped.N)
	}
	for _, cmd := range []string{`{dropUser: 'mayfly'}`, `{updateUser: 'mayfly', pwd: 'x'}`} {
		if err := send(t, d.asAccount().Database("admin"), cmd); codeOf(err) != 13 {
			t.Errorf("%s: %v", cmd, err)
		}
	}
}

// without shows a document without some members.
func without(t *testing.T, d bson.Raw, names ...string) string {
	t.Helper()
	members, err := d.Elements()
	must(t, err)
	var list []string
	for _, m := range members {
		if !slices.Contains(names, m.Key()) {
			list = append(list, fmt.Sprintf("%q: %s", m.Key(), m.Value()))
		}
	}
	return "{" + strings.Join(list, ",") + "}"
}
