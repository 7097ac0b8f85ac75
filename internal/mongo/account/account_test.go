package account

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/keyring"
	"github.com/mayflydb/mayfly/internal/kv/memory"
	"github.com/mayflydb/mayfly/internal/mongo/code"
)

const key = "a2V5"

func newAccounts(t testing.TB, key string) *Accounts {
	t.Helper()
	c, err := catalog.Open(t.Context(), memory.New(), nil)
	must(t, err)
	return New(c, newRing(t, key))
}

func newRing(t testing.TB, key string) *keyring.Ring {
	t.Helper()
	ring, err := keyring.New(keyring.Options{Primary: key})
	must(t, err)
	return ring
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// create keeps a user with a password.
func create(t testing.TB, a *Accounts, database, name, password string, mechanisms []*Mechanism, roles ...Role) {
	t.Helper()
	u := NewUser(database, name)
	u.Roles = roles
	must(t, u.SetPassword(password, mechanisms))
	must(t, a.Create(t.Context(), 1, u))
}

// converse plays a client, and gives the conversation and the server's first answer.
func converse(t testing.TB, a *Accounts, m *Mechanism, database, name, password string) (
	v *Conversation, first string, err error,
) {
	t.Helper()
	if password, err = m.prepare(name, password); err != nil {
		return nil, "", err
	}
	client, err := m.generator.NewClientUnprepped(name, password, "")
	must(t, err)
	steps := client.NewConversation()
	payload, err := steps.Step("")
	must(t, err)
	v, err = a.Converse(m, database)
	must(t, err)
	if first, err = v.First(payload); err != nil {
		return v, "", err
	}
	payload, err = steps.Step(first)
	must(t, err)
	last, err := v.Last(payload)
	if err == nil {
		_, err = steps.Step(last)
		must(t, err)
	}
	return v, first, err
}

func TestConversation(t *testing.T) {
	a := newAccounts(t, key)
	create(t, a, "shop", "ann", "secret", Mechanisms)
	create(t, a, "shop", "old", "secret", Mechanisms[:1])
	create(t, a, "shop", "a,b=c", "sécrét\u00a0\u2168", Mechanisms) // SASLprep: a space, and IX
	for _, c := range []struct {
		name                 string
		database, user, with string
		lacks                [2]bool // by mechanism
		proven               [2]bool
	}{
		{"a user", "shop", "ann", "secret", [2]bool{}, [2]bool{true, true}},
		{"a wrong password", "shop", "ann", "secre", [2]bool{}, [2]bool{}},
		{"the account key for a user", "shop", "ann", key, [2]bool{}, [2]bool{}},
		{"one mechanism only", "shop", "old", "secret", [2]bool{false, true}, [2]bool{true, false}},
		{"an escaped name and a prepared password", "shop", "a,b=c", "sécrét IX", [2]bool{}, [2]bool{false, true}},
		{"the account's own user", "admin", "mayfly", key, [2]bool{}, [2]bool{true, true}},
		{"a name that is nobody's", "other", "ann", key, [2]bool{}, [2]bool{true, true}},
		{"the longest name", "admin", strings.Repeat("n", maxName), key, [2]bool{}, [2]bool{true, true}},
		{"a longer name", "admin", strings.Repeat("n", maxName+1), key, [2]bool{}, [2]bool{}},
		{"nobody", "shop", "eve", "secret", [2]bool{}, [2]bool{}},
	} {
		for i, m := range Mechanisms {
			v, _, err := converse(t, a, m, c.database, c.user, c.with)
			if v.Proven != c.proven[i] || (err == nil) != c.proven[i] || v.LacksCredential() != c.lacks[i] {
				t.Errorf("%s, %s: proven %v, lacks its credential %v, error %v",
					c.name, m.Name, v.Proven, v.LacksCredential(), err)
			}
			if v.User.Database != c.database || v.User.Name != c.user {
				t.Errorf("%s, %s: is %v", c.name, m.Name, v.User)
			}
		}
	}
}

func TestConversationRefusesWhatIsNoStep(t *testing.T) {
	a := newAccounts(t, key)
	for _, payload := range []string{
		"", "x", "n,a=root,n=mayfly,r=x", "p=tls-unique,,n=mayfly,r=x", "n,,n=may=fly,r=x", "n,,n=,r=x",
	} {
		v, err := a.Converse(Mechanisms[1], "admin")
		must(t, err)
		if reply, err := v.First(payload); err == nil {
			t.Errorf("%q is answered with %q", payload, reply)
		}
	}
	for _, payload := range []string{"", "c=biws,r=x,p=AAAA"} {
		v, err := a.Converse(Mechanisms[1], "admin")
		must(t, err)
		_, err = v.First("n,,n=mayfly,r=x")
		must(t, err)
		if reply, err := v.Last(payload); err == nil || v.Proven {
			t.Errorf("%q is answered with %q", payload, reply)
		}
	}
}

// The first answer does not tell which users exist: salts are as long, and stay the same, for all names.
func TestSaltsOfNobody(t *testing.T) {
	a := newAccounts(t, key)
	create(t, a, "admin", "ann", "secret", Mechanisms)
	salt := func(a *Accounts, name string) string {
		_, first, _ := converse(t, a, Mechanisms[1], "admin", name, "x")
		for field := range strings.SplitSeq(first, ",") {
			if s, ok := strings.CutPrefix(field, "s="); ok {
				return s
			}
		}
		t.Fatalf("no salt in %q", first)
		return ""
	}
	if first, again := salt(a, "eve"), salt(a, "eve"); first != again || first != salt(newAccounts(t, key), "eve") {
		t.Error("the salt of nobody changes")
	}
	if salt(a, "eve") == salt(a, "bob") || salt(a, "eve") == salt(newAccounts(t, "b3RoZXI="), "eve") {
		t.Error("two have one salt")
	}
	if len(salt(a, "eve")) != len(salt(a, "ann")) || len(salt(a, "eve")) != len(salt(a, "mayfly")) {
		t.Error("salts differ in length")
	}
}

// Names that clients try without the key leave nothing behind, and names of clients with the key are bounded.
func TestProvenNamesAreBounded(t *testing.T) {
	a := newAccounts(t, key)
	for i := range 3 {
		_, _, _ = converse(t, a, Mechanisms[0], "admin", fmt.Sprint("eve", i), "x")
	}
	known := func(want int) {
		t.Helper()
		if got := len(a.proven.known); got != want {
			t.Errorf("%d names are remembered, want %d", got, want)
		}
	}
	known(0)
	for range 2 {
		_, _, err := converse(t, a, Mechanisms[1], "admin", "acct", key)
		must(t, err)
	}
	known(1)
	for i := range 2 * maxProvenNames {
		a.proven.keep(keyName{name: strconv.Itoa(i)}, credential{})
	}
	known(maxProvenNames)
}

// What is kept of a user is a promise: databases on disk have it.
func TestDocument(t *testing.T) {
	u := &User{Database: "shop", Name: "ann", id: [16]byte{1, 2}, Roles: []Role{{"read", "shop"}, {"root", "admin"}}}
	u.credentials = []credential{{
		mechanism: Mechanisms[1], iterations: 15000,
		salt: []byte("salt"), stored: []byte("stored"), server: []byte("server"),
	}}
	u.CustomData = object(t, `{"n": 1}`)
	const want = `{"_id": "shop.ann","userId": ` +
		`{"$binary":{"base64":"AQIAAAAAAAAAAAAAAAAAAA==","subType":"04"}},"user": "ann","db": "shop","credentials": ` +
		`{"SCRAM-SHA-256": {"iterationCount": {"$numberInt":"15000"},"salt": "c2FsdA==","storedKey": ` +
		`"c3RvcmVk","serverKey": "c2VydmVy"}},"roles": [{"role": "read","db": "shop"},{"role": "root","db": ` +
		`"admin"}],"customData": {"n": {"$numberInt":"1"}}}`
	if got := u.document().String(); got != want {
		t.Errorf("%s, want\n%s", got, want)
	}
	if again := readUser(u.document()).document().String(); again != want {
		t.Errorf("read and kept again: %s", again)
	}
	u.CustomData, u.credentials, u.Roles = nil, nil, nil
	if got, want := readUser(u.document()).document().
		String(), `"db": "shop","credentials": {},"roles": []}`; !strings.HasSuffix(got, want) {
		t.Errorf("%s, want ...%s", got, want)
	}
}

func object(t testing.TB, text string) []byte {
	t.Helper()
	var d bson.Raw
	must(t, bson.UnmarshalExtJSON([]byte(text), false, &d))
	return d
}

func TestUsers(t *testing.T) {
	a := newAccounts(t, key)
	ctx := t.Context()
	create(t, a, "shop", "ann", "secret", Mechanisms, Role{"read", "shop"})
	create(t, a, "shop", "bob", "secret", Mechanisms[:1])
	create(t, a, "shopping", "ann", "secret", Mechanisms[:1])
	fails := func(what string, err error, want code.Code) {
		t.Helper()
		if !code.Is(err, want) {
			t.Errorf("%s: %v, want %v", what, err, want)
		}
	}
	fails("create again", a.Create(ctx, 1, NewUser("shop", "ann")), code.UserAlreadyExists)
	fails("create the account's own", a.Create(ctx, 1, NewUser("admin", "mayfly")), code.UserAlreadyExists)
	fails("drop the account's own", a.Drop(ctx, "admin", "mayfly"), code.Unauthorized)
	fails("drop nobody", a.Drop(ctx, "other", "ann"), code.UserNotFound)
	fails("change nobody", a.Change(ctx, 1, "other", "ann", func(*User) error { return nil }), code.UserNotFound)
	refused := errors.New("refused")
	if err := a.Change(ctx, 1, "shop", "ann", func(*User) error { return refused }); err != refused {
		t.Errorf("change: %v", err)
	}
	must(t, a.Change(ctx, 2, "shop", "ann", func(u *User) error { return u.KeepMechanisms(Mechanisms[:1]) }))
	all := func(u *User) error { return u.KeepMechanisms(Mechanisms) }
	fails("add a mechanism", a.Change(ctx, 3, "shop", "ann", all), code.BadValue)
	u, _, err := a.Find("shop", "ann")
	must(t, err)
	if got := MechanismNames(u.Mechanisms()); len(got) != 1 || got[0] != "SCRAM-SHA-1" {
		t.Errorf("mechanisms %v", got)
	}
	if n, err := a.DropAll(ctx, "shop"); n != 2 || err != nil {
		t.Errorf("%d users dropped, %v", n, err)
	}
	var names []string
	for _, u := range a.Users() {
		names = append(names, u.Name+"@"+u.Database)
	}
	if got := strings.Join(names, " "); got != "mayfly@admin ann@shopping" {
		t.Errorf("users %s", got)
	}
}

// Rights follow the user: a change is seen at once, and a later user of the same name is somebody else.
func TestGranted(t *testing.T) {
	a := newAccounts(t, key)
	ctx := t.Context()
	create(t, a, "shop", "ann", "secret", Mechanisms[:1], Role{"read", "shop"})
	v, _, err := converse(t, a, Mechanisms[0], "shop", "ann", "secret")
	must(t, err)
	first, known, err := a.Granted(v.User, Granted{})
	if !known || err != nil || !first.Allow(Read, "shop") || first.Allow(Write, "shop") {
		t.Errorf("%v, known %v, %v", first, known, err)
	}
	if n := testing.AllocsPerRun(100, func() { first, _, _ = a.Granted(v.User, first) }); n != 0 {
		t.Errorf("%v allocations while nothing changes", n)
	}
	must(t, a.Change(ctx, 2, "shop", "ann", func(u *User) error {
		u.Roles = []Role{{"readWrite", "shop"}}
		return nil
	}))
	if second, _, err := a.Granted(v.User, first); err != nil || !second.Allow(Write, "shop") {
		t.Errorf("after a change: %v, %v", second, err)
	}
	must(t, a.Drop(ctx, "shop", "ann"))
	create(t, a, "shop", "ann", "secret", Mechanisms[:1], Role{"root", "admin"})
	if g, known, err := a.Granted(v.User, first); known || err != nil || g.Allow(Read, "shop") {
		t.Errorf("after a drop: %v, known %v, %v", g, known, err)
	}
	if roles, err := a.RolesOf(v.User); roles != nil || err != nil {
		t.Errorf("after a drop: roles %v, %v", roles, err)
	}
}

// No payload ends in anything but an answer or an error, and none in a login.
func FuzzConversation(f *testing.F) {
	a := newAccounts(f, key)
	f.Add([]byte("n,,n=mayfly,r=x"), []byte("c=biws,r=x,p=AAAA"), true)
	f.Add([]byte("y,a=mayfly,n=may=2Cfly,r=x,m=1"), []byte(""), false)
	f.Add([]byte("p=tls-unique,,n=,r="), []byte("c=,r=,p="), true)
	f.Add([]byte(",,,,"), []byte("=,=,="), false)
	f.Fuzz(func(t *testing.T, first, second []byte, strong bool) {
		m := Mechanisms[0]
		if strong {
			m = Mechanisms[1]
		}
		v, err := a.Converse(m, "admin")
		must(t, err)
		if _, err := v.First(string(first)); err != nil {
			return
		}
		if _, err := v.Last(string(second)); err == nil || v.Proven {
			t.Errorf("proven after %q, %q", first, second)
		}
	})
}
