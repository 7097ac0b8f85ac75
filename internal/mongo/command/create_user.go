package command

import (
	"bytes"
	"slices"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
)

func init() {
	register("createUser", command{run: createUser, help: "Makes a user.", needs: userAction, secret: true,
		fields: fieldSet("pwd customData roles digestPassword authenticationRestrictions mechanisms")})
}

// maxUserName bounds the name of a user, in bytes, and maxPassword its password.
const (
	maxUserName = 256
	maxPassword = 1024
)

func createUser(r *request, a *answer) error {
	name, err := r.userName()
	if err != nil {
		return err
	}
	if err := r.checkUserDatabase(); err != nil {
		return err
	}
	u := newUserRecord(r.db, name)
	if u.roles, err = r.readRoles("roles"); err != nil {
		return err
	}
	if err := r.mayGive(u.roles); err != nil {
		return err
	}
	if r.get("pwd").Type == 0 {
		return code.New(code.BadValue, "Must provide a 'pwd' field for all user documents, except those with '$external' as the user's source db")
	}
	if err := r.readUserFields(u); err != nil {
		return err
	}
	if isAccount(r.db, name) {
		return userExists(r.db, name)
	}
	_, err = r.s.o.Catalog.CreateResource(r.ctx, r.now, catalog.MongoUser, catalog.Owner{}, r.db+"."+name, u.document())
	if isExists(err) {
		return userExists(r.db, name)
	}
	return err
}

func userExists(database, name string) error {
	return code.New(code.UserAlreadyExists, "User \"%s@%s\" already exists", name, database)
}

// userName reads whom the command is about.
func (r *request) userName() (string, error) {
	name, ok := doc.AsString(r.arg)
	switch {
	case !ok:
		return "", wrongTypeOf(r.name+"."+r.name, r.arg, "string")
	case name == "":
		return "", code.New(code.BadValue, "User document needs 'user' field to be non-empty")
	case len(name) > maxUserName || bytes.IndexByte([]byte(name), 0) >= 0:
		return "", code.New(code.BadValue, "the name of a user has at most %d bytes, and no null characters", maxUserName)
	}
	return string([]byte(name)), nil
}

func (r *request) checkUserDatabase() error {
	if r.db == "local" {
		return code.New(code.BadValue, "Cannot create users in the local database")
	}
	return nil
}

// readUserFields takes over what createUser and updateUser say of a user, its roles aside.
func (r *request) readUserFields(u *userRecord) error {
	if v := r.get("customData"); v.Type != 0 {
		d, ok := doc.AsDoc(v)
		if !ok {
			return r.wrongType("customData", v, "object")
		}
		u.customData = bytes.Clone(d)
	}
	if len(r.list("authenticationRestrictions")) > 0 {
		return code.Unsupported("authenticationRestrictions")
	}
	wanted, err := r.readMechanisms(u)
	if err != nil {
		return err
	}
	return r.readPassword(u, wanted)
}

// readMechanisms reads which credentials the user shall have: those it has, all if it has none,
// unless the command says otherwise.
func (r *request) readMechanisms(u *userRecord) ([]*mechanism, error) {
	if r.get("mechanisms").Type == 0 {
		var kept []*mechanism
		for _, c := range u.credentials {
			kept = append(kept, c.mechanism)
		}
		if kept == nil {
			kept = mechanisms
		}
		return kept, r.err
	}
	var wanted []*mechanism
	for _, v := range r.list("mechanisms") {
		name, _ := doc.AsString(v)
		m := mechanismOf(name)
		if m == nil {
			return nil, code.New(code.BadValue, "Unknown auth mechanism '%.50s'", name)
		}
		if !slices.Contains(wanted, m) {
			wanted = append(wanted, m)
		}
	}
	if r.err == nil && wanted == nil {
		return nil, code.New(code.BadValue, "mechanisms field must not be empty")
	}
	return wanted, r.err
}

// readPassword makes new credentials when there is a new password, else keeps those wanted.
func (r *request) readPassword(u *userRecord, wanted []*mechanism) error {
	password, given := r.string("pwd"), r.get("pwd").Type == bsoncore.TypeString
	digest := r.bool("digestPassword", true)
	switch {
	case r.err != nil:
		return r.err
	case given && password == "":
		return code.New(code.BadValue, "Password cannot be empty")
	case len(password) > maxPassword:
		return code.New(code.BadValue, "a password has at most %d bytes", maxPassword)
	case given && !digest:
		return code.New(code.BadValue, "Use of SCRAM-SHA-256 requires undigested passwords, and mayfly takes no others")
	case given:
		list, err := deriveAll(u.name, password, wanted)
		u.credentials = list
		return err
	}
	for _, m := range wanted {
		if !slices.ContainsFunc(u.credentials, func(c credential) bool { return c.mechanism == m }) {
			return code.New(code.BadValue, "mechanisms field must be a subset of previously set mechanisms")
		}
	}
	u.credentials = slices.DeleteFunc(u.credentials, func(c credential) bool { return !slices.Contains(wanted, c.mechanism) })
	return nil
}
