package command

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
)

func init() {
	register("usersInfo", command{run: usersInfo, help: "Lists users.", needs: anyAction,
		fields: fieldSet("showCredentials showCustomData showPrivileges showAuthenticationRestrictions filter")})
}

func usersInfo(r *request, a *answer) error {
	wanted, err := r.wantedUsers()
	if err != nil {
		return err
	}
	credentials, custom, privileges := r.bool("showCredentials", false), r.bool("showCustomData", true), r.bool("showPrivileges", false)
	restrictions := r.bool("showAuthenticationRestrictions", false)
	q, err := r.sift(r.document("filter"))
	if err != nil {
		return err
	}
	a.array("users")
	for _, u := range r.s.users() {
		if !wanted(u) {
			continue
		}
		one := newAnswer(nil)
		u.describe(one)
		one.strings("mechanisms", u.mechanisms())
		one.roles("roles", u.roles)
		if custom && u.customData != nil {
			one.doc("customData", u.customData)
		}
		if credentials {
			u.writeCredentials(one)
		}
		if privileges {
			one.roles("inheritedRoles", u.roles)
			one.privileges("inheritedPrivileges", rightsOf(u.roles))
		}
		if restrictions || privileges {
			one.array("authenticationRestrictions")
			one.close()
		}
		d := one.end()
		ok, err := q(d)
		if err != nil {
			return err
		}
		if ok {
			a.element(d)
		}
	}
	a.close()
	return r.err
}

// wantedUsers reads whom the command is about: all of the database, one, some, or all there are.
// Others than oneself are for those only whose business users are.
func (r *request) wantedUsers() (func(*userRecord) bool, error) {
	if d, ok := doc.AsDoc(r.arg); ok && isTrue(doc.Lookup(d, "forAllDBs")) {
		return func(*userRecord) bool { return true }, r.may(userAction, "")
	}
	if doc.IsNumber(r.arg) {
		return func(u *userRecord) bool { return u.database == r.db }, r.may(userAction, r.db)
	}
	list := []doc.Value{r.arg}
	if r.arg.Type == bsoncore.TypeArray {
		list = slices.Collect(doc.Elements(r.arg))
	}
	names := map[user]bool{}
	for _, v := range list {
		name, err := r.namedUser(v)
		if err != nil {
			return nil, err
		}
		names[name] = true
	}
	return func(u *userRecord) bool { return names[user{database: u.database, name: u.name}] }, nil
}

// namedUser reads a name, of the request's database, or a document {user, db}.
func (r *request) namedUser(v doc.Value) (u user, err error) {
	if name, ok := doc.AsString(v); ok {
		u = user{database: r.db, name: name}
	} else if d, ok := doc.AsDoc(v); ok {
		u = user{database: textOf(d, "db"), name: textOf(d, "user")}
	} else {
		return u, code.New(code.BadValue, "User name must be either strings or objects")
	}
	if self := r.c.user; self != nil && self.database == u.database && self.name == u.name {
		return u, nil
	}
	return u, r.may(userAction, u.database)
}
