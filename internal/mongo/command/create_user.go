package command

import (
	"bytes"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/account"
	"github.com/mayflydb/mayfly/internal/mongo/call"
	"github.com/mayflydb/mayfly/internal/mongo/code"
)

// userFields are the members of createUser and of updateUser.
var userFields = call.FieldSet("pwd customData roles digestPassword authenticationRestrictions mechanisms")

func createUser(r *request, a *answer) error {
	name, err := r.userName()
	if err != nil {
		return err
	}
	if r.DB == "local" {
		return code.New(code.BadValue, "Cannot create users in the local database")
	}
	u := account.NewUser(r.DB, name)
	if u.Roles, err = r.readRoles(); err != nil {
		return err
	}
	if err := r.mayGrant(u.Roles); err != nil {
		return err
	}
	if r.Get("pwd").Type == 0 {
		return code.New(code.BadValue,
			"Must provide a 'pwd' field for all user documents, except those with '$external' as the user's source db")
	}
	if err := r.readUserFields(u); err != nil {
		return err
	}
	return r.s.accounts.Create(r.Context, r.Now, u)
}

// userName reads the name of the user that the command is about.
func (r *request) userName() (string, error) {
	name, ok := doc.AsString(r.Arg)
	if !ok {
		return "", code.WrongType(r.Name+"."+r.Name, r.Arg, "string")
	}
	if err := account.CheckName(name); err != nil {
		return "", err
	}
	return strings.Clone(name), nil
}

// readRoles reads the member roles, which is required: names of roles of the request's database, and documents {role,
// db}.
func (r *request) readRoles() ([]account.Role, error) {
	if r.Get("roles").Type == 0 {
		return nil, code.New(code.MissingFieldOfCommand,
			"BSON field '%s.roles' is missing but a required field", r.Name)
	}
	list := r.List("roles")
	if r.Err != nil {
		return nil, r.Err
	}
	return account.ReadRoles(list, r.DB)
}

// readUserFields changes a user as createUser and updateUser ask, its roles aside.
func (r *request) readUserFields(u *account.User) error {
	if v := r.Get("customData"); v.Type != 0 {
		d, ok := doc.AsDoc(v)
		if !ok {
			return r.WrongType("customData", v, "object")
		}
		u.CustomData = bytes.Clone(d)
	}
	if len(r.List("authenticationRestrictions")) > 0 {
		return code.Unsupported("authenticationRestrictions")
	}
	wanted, err := r.readMechanisms(u)
	if err != nil {
		return err
	}
	return r.readPassword(u, wanted)
}

// readMechanisms reads for which mechanisms the user is to have credentials. By default they stay as they are, and a
// new user gets all.
func (r *request) readMechanisms(u *account.User) (wanted []*account.Mechanism, err error) {
	if r.Get("mechanisms").Type == 0 {
		if wanted = u.Mechanisms(); wanted == nil {
			wanted = account.Mechanisms
		}
		return wanted, r.Err
	}
	for _, v := range r.List("mechanisms") {
		name, _ := doc.AsString(v)
		m := account.MechanismNamed(name)
		if m == nil {
			return nil, code.New(code.BadValue, "Unknown auth mechanism '%.50s'", name)
		}
		if !slices.Contains(wanted, m) {
			wanted = append(wanted, m)
		}
	}
	if r.Err == nil && wanted == nil {
		return nil, code.New(code.BadValue, "mechanisms field must not be empty")
	}
	return wanted, r.Err
}

// readPassword makes new credentials if there is a new password, and otherwise keeps those of the wanted mechanisms.
func (r *request) readPassword(u *account.User, wanted []*account.Mechanism) error {
	password, given := r.String("pwd"), r.Get("pwd").Type == bsoncore.TypeString
	digest := r.Bool("digestPassword", true)
	if r.Err != nil {
		return r.Err
	}
	if !given {
		return u.KeepMechanisms(wanted)
	}
	if err := account.CheckPassword(password); err != nil {
		return err
	}
	if !digest {
		return code.New(code.BadValue, "Use of SCRAM-SHA-256 requires undigested passwords. mayfly takes only these.")
	}
	return u.SetPassword(password, wanted)
}
