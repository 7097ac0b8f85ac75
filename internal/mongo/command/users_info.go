package command

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/account"
	"github.com/mayflydb/mayfly/internal/mongo/code"
)

// userDetails are what usersInfo shows about each user.
type userDetails struct{ credentials, customData, privileges, restrictions bool }

func usersInfo(r *request, a *answer) error {
	wanted, err := r.wantedUsers()
	if err != nil {
		return err
	}
	show := userDetails{
		credentials: r.bool("showCredentials", false), customData: r.bool("showCustomData", true),
		privileges: r.bool("showPrivileges", false), restrictions: r.bool("showAuthenticationRestrictions", false),
	}
	matches, err := compileSift(r, r.document("filter"))
	if err != nil {
		return err
	}
	a.Array("users")
	for _, u := range r.s.accounts.Users() {
		if !wanted(u) {
			continue
		}
		d := show.user(u)
		ok, err := matches(d)
		if err != nil {
			return err
		}
		if ok {
			a.Element(d)
		}
	}
	a.Close()
	return r.err
}

func (show userDetails) user(u *account.User) doc.Doc {
	a := doc.NewWriter(nil)
	a.Members(u.Describe())
	a.Strings("mechanisms", account.MechanismNames(u.Mechanisms()))
	a.Value("roles", account.ListRoles(u.Roles))
	if show.customData && u.CustomData != nil {
		a.Doc("customData", u.CustomData)
	}
	if show.credentials {
		a.Doc("credentials", u.Credentials())
	}
	if show.privileges {
		a.Value("inheritedRoles", account.ListRoles(u.Roles))
		a.Value("inheritedPrivileges", account.RightsOf(u.Roles).Privileges())
	}
	if show.restrictions || show.privileges {
		a.Array("authenticationRestrictions")
		a.Close()
	}
	return a.End()
}

// wantedUsers reads which users the command is about: one, several, those of the database, or all. It fails if the
// client may not see them.
func (r *request) wantedUsers() (func(*account.User) bool, error) {
	if d, ok := doc.AsDoc(r.arg); ok && isTrue(doc.Lookup(d, "forAllDBs")) {
		return func(*account.User) bool { return true }, r.may(account.ManageUsers, "")
	}
	if doc.IsNumber(r.arg) {
		return func(u *account.User) bool { return u.Database == r.db }, r.may(account.ManageUsers, r.db)
	}
	list := []doc.Value{r.arg}
	if r.arg.Type == bsoncore.TypeArray {
		list = slices.Collect(doc.Elements(r.arg))
	}
	type name struct{ database, user string }
	names := map[name]bool{}
	for _, v := range list {
		database, user, err := r.namedUser(v)
		if err != nil {
			return nil, err
		}
		names[name{database, user}] = true
	}
	return func(u *account.User) bool { return names[name{u.Database, u.Name}] }, nil
}

// namedUser reads a user: a name, of the request's database, or a document {user, db}. Every user may see itself.
func (r *request) namedUser(v doc.Value) (database, name string, err error) {
	if s, ok := doc.AsString(v); ok {
		database, name = r.db, s
	} else if d, ok := doc.AsDoc(v); ok {
		database, _ = doc.AsString(doc.Lookup(d, "db"))
		name, _ = doc.AsString(doc.Lookup(d, "user"))
	} else {
		return "", "", code.New(code.BadValue, "User name must be either strings or objects")
	}
	if self := r.c.user; self != nil && self.Database == database && self.Name == name {
		return database, name, nil
	}
	return database, name, r.may(account.ManageUsers, database)
}
