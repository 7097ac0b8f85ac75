package command

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/account"
	"github.com/mayflydb/mayfly/internal/mongo/call"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/query"
)

// userDetails are what usersInfo shows about each user.
type userDetails struct{ credentials, customData, privileges, restrictions bool }

func usersInfo(r *request, a *answer) error {
	wanted, err := r.wantedUsers()
	if err != nil {
		return err
	}
	show := userDetails{
		credentials: r.Bool("showCredentials", false), customData: r.Bool("showCustomData", true),
		privileges: r.Bool("showPrivileges", false), restrictions: r.Bool("showAuthenticationRestrictions", false),
	}
	matches, err := query.CompileSift(&r.Request, r.Document("filter"))
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
	return r.Err
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
	if d, ok := doc.AsDoc(r.Arg); ok && call.IsTrue(doc.Lookup(d, "forAllDBs")) {
		return func(*account.User) bool { return true }, r.May(account.ManageUsers, "")
	}
	if doc.IsNumber(r.Arg) {
		return func(u *account.User) bool { return u.Database == r.DB }, r.May(account.ManageUsers, r.DB)
	}
	list := []doc.Value{r.Arg}
	if r.Arg.Type == bsoncore.TypeArray {
		list = slices.Collect(doc.Elements(r.Arg))
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
		database, name = r.DB, s
	} else if d, ok := doc.AsDoc(v); ok {
		database, _ = doc.AsString(doc.Lookup(d, "db"))
		name, _ = doc.AsString(doc.Lookup(d, "user"))
	} else {
		return "", "", code.New(code.BadValue, "User name must be either strings or objects")
	}
	if self := r.c.user; self != nil && self.Database == database && self.Name == name {
		return database, name, nil
	}
	return database, name, r.May(account.ManageUsers, database)
}
