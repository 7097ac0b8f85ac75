// Package account is who may use the API for MongoDB, and for what: users and their roles, the actions that roles
// allow, the account key, and SCRAM, by which a client proves that it knows a password. Users are kept in the catalog.
// The package reads no command and writes no answer: it is handed names, passwords and payloads.
package account

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"strings"
	"sync"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/keyring"
	"github.com/mayflydb/mayfly/internal/mongo/code"
)

// AdminDatabase is the database that roles over all databases belong to.
const AdminDatabase = "admin"

// ownUser is the account's own user, on AdminDatabase, as lists of users show it; other names that an account key opens
// are not listed. It is not kept: a new key is its new password.
const ownUser = "mayfly"

// What account keys allow.
var (
	ownRoles     = []Role{{Name: "root", Database: AdminDatabase}}
	readingRoles = []Role{{Name: "readAnyDatabase", Database: AdminDatabase}}
)

// keyRoles are the roles of a client that an account key has let in.
func keyRoles(k *keyring.Key) []Role {
	if k != nil && k.ReadOnly() {
		return readingRoles
	}
	return ownRoles
}

// Accounts are the users of one server. They are safe for concurrent use.
type Accounts struct {
	catalog *catalog.Catalog
	keys    *keyring.Ring // the account keys, nil for none
	secret  func() []byte // made once: see derived
	owner   owner
	proven  provenNames
}

// An owner is the account's own user, made when it is first asked for, since that takes some milliseconds.
type owner struct {
	mu   sync.Mutex
	user *User
	key  *keyring.Key // that its password is
}

// New gives the users that a catalog has. keys are the account keys, the passwords of all names that no user has; nil
// is none.
func New(c *catalog.Catalog, keys *keyring.Ring) *Accounts {
	a := &Accounts{catalog: c, keys: keys}
	a.secret = sync.OnceValue(a.newSecret)
	return a
}

func (a *Accounts) newSecret() []byte {
	if a.keys == nil {
		secret := make([]byte, sha256.Size)
		_, _ = rand.Read(secret)
		return secret
	}
	return a.keys.Salts()
}

// derived gives n bytes that a client cannot tell from random ones. They are the same for the same text, also after a
// restart with the same account keys.
func (a *Accounts) derived(text string, n int) []byte {
	return sign(sha256.New, a.secret(), text)[:n]
}

// own is the account's own user. Its password is shown as the primary key.
func (a *Accounts) own() *User {
	var key *keyring.Key
	if a.keys != nil {
		key = a.keys.Now().Key(keyring.Primary)
	}
	a.owner.mu.Lock()
	defer a.owner.mu.Unlock()
	if a.owner.user == nil || a.owner.key != key {
		a.owner.user, a.owner.key = a.newOwnUser(key), key
	}
	return a.owner.user
}

func (a *Accounts) newOwnUser(key *keyring.Key) *User {
	u := &User{Database: AdminDatabase, Name: ownUser, Roles: ownRoles}
	copy(u.id[:], a.derived("account", len(u.id)))
	if key == nil {
		return u
	}
	for _, m := range Mechanisms {
		if c, err := m.derive(ownUser, key.Text, a.saltOf(m, AdminDatabase, ownUser)); err == nil {
			u.credentials = append(u.credentials, c)
		}
	}
	return u
}

func isOwn(database, name string) bool { return database == AdminDatabase && name == ownUser }

// Find gives a user, nil if nobody has the name. number identifies its record, and is 0 for the account's own user.
func (a *Accounts) Find(database, name string) (u *User, number uint64, err error) {
	if isOwn(database, name) {
		return a.own(), 0, nil
	}
	found, err := a.catalog.Resource(catalog.MongoUser, catalog.Owner{}, database+"."+name)
	if fault.KindOf(err) == fault.NotFound {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, err
	}
	return readUser(found.Body), found.Number, nil
}

// Users lists the account's own user and all that are kept.
func (a *Accounts) Users() []*User {
	list := []*User{a.own()}
	for _, r := range a.catalog.Resources(catalog.MongoUser, catalog.Owner{}) {
		list = append(list, readUser(r.Body))
	}
	return list
}

// Create keeps a new user. now is in seconds since 1970.
func (a *Accounts) Create(ctx context.Context, now int64, u *User) error {
	exists := code.New(code.UserAlreadyExists, "User \"%s@%s\" already exists", u.Name, u.Database)
	if isOwn(u.Database, u.Name) {
		return exists
	}
	id := u.Database + "." + u.Name
	_, err := a.catalog.CreateResource(ctx, now, catalog.MongoUser, catalog.Owner{}, id, u.document())
	if fault.KindOf(err) == fault.Exists {
		return exists
	}
	return err
}

// Change lets change alter a user, and keeps the result. It may call change several times, each time with the newest
// version, because others may change the user at the same time.
func (a *Accounts) Change(ctx context.Context, now int64, database, name string, change func(*User) error) error {
	return a.withNewest(database, name, func(old *catalog.Resource) error {
		u := readUser(old.Body)
		if err := change(u); err != nil {
			return err
		}
		_, err := a.catalog.ReplaceResource(ctx, now, old, old.Name, u.document())
		return err
	})
}

// Drop removes a user.
func (a *Accounts) Drop(ctx context.Context, database, name string) error {
	return a.withNewest(database, name, func(old *catalog.Resource) error { return a.catalog.DeleteResource(ctx, old) })
}

// DropAll removes all users of a database, and gives their number.
func (a *Accounts) DropAll(ctx context.Context, database string) (n int, err error) {
	for _, r := range a.catalog.Resources(catalog.MongoUser, catalog.Owner{}) {
		name, ok := strings.CutPrefix(r.Name, database+".")
		if !ok {
			continue
		}
		switch err := a.Drop(ctx, database, name); {
		case err == nil:
			n++
		case !code.Is(err, code.UserNotFound): // else somebody else has dropped it first
			return n, err
		}
	}
	return n, nil
}

// maxTries bounds how often a change of a user is tried again because another one came first.
const maxTries = 100

// withNewest hands the newest version of a user to do, again for as long as do finds that it is not the newest any
// more.
func (a *Accounts) withNewest(database, name string, do func(*catalog.Resource) error) error {
	if isOwn(database, name) {
		return code.New(code.Unauthorized,
			"The user '%s' belongs to the account and cannot be changed by clients", name)
	}
	for range maxTries {
		old, err := a.catalog.Resource(catalog.MongoUser, catalog.Owner{}, database+"."+name)
		if fault.KindOf(err) == fault.NotFound {
			return code.New(code.UserNotFound, "User '%s@%s' not found", name, database)
		}
		if err != nil {
			return err
		}
		if err := do(old); fault.KindOf(err) != fault.Precondition {
			return err
		}
	}
	return code.New(code.OperationFailed, "The user '%s' is changed by others at the same time. Try again.", name)
}

// RolesOf gives the roles of an identity that a client has proven, none if its user has been dropped since.
func (a *Accounts) RolesOf(id Identity) ([]Role, error) {
	if id.Number == 0 {
		return keyRoles(id.Key), nil
	}
	u, number, err := a.Find(id.Database, id.Name)
	if err != nil || u == nil || number != id.Number {
		return nil, err
	}
	return u.Roles, nil
}

// Granted are the rights of an identity when they were last asked for. The zero value grants nothing.
type Granted struct {
	Rights
	user *catalog.Resource // they were computed from, nil for the account's own
}

// Granted gives the rights that an identity has at present. known is false if its user has been dropped, or its account
// key has been replaced. last is what
// the same identity was granted before, and is given back unless its user has changed: this runs for every request.
func (a *Accounts) Granted(id Identity, last Granted) (g Granted, known bool, err error) {
	if id.Number == 0 {
		if last.Rights == nil {
			last = Granted{Rights: RightsOf(keyRoles(id.Key))}
		}
		return last, id.Key == nil || a.keys.Now().Has(id.Key), nil
	}
	user, err := a.catalog.ResourceByNumber(catalog.MongoUser, id.Number)
	switch {
	case fault.KindOf(err) == fault.NotFound:
		return Granted{}, false, nil
	case err != nil:
		return Granted{}, false, err
	case user != last.user:
		last = Granted{Rights: RightsOf(readUser(user.Body).Roles), user: user}
	}
	return last, true, nil
}
