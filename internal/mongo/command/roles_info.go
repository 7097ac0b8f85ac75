package command

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/account"
)

// rolesInfo shows built-in roles, because there are no others.
func rolesInfo(r *request, a *answer) error {
	list, err := r.wantedRoles()
	if err != nil {
		return err
	}
	privileges := r.Bool("showPrivileges", false)
	a.Array("roles")
	for _, x := range list {
		if !x.Exists() {
			continue
		}
		a.Object(a.Index())
		a.String("_id", x.Database+"."+x.Name)
		a.String("role", x.Name)
		a.String("db", x.Database)
		a.Bool("isBuiltin", true)
		a.Value("roles", account.ListRoles(nil))
		a.Value("inheritedRoles", account.ListRoles(nil))
		if privileges {
			list := account.RightsOf([]account.Role{x}).Privileges()
			a.Value("privileges", list)
			a.Value("inheritedPrivileges", list)
		}
		a.Close()
	}
	a.Close()
	return r.Err
}

// wantedRoles reads which roles the command is about: one, several, or with a number all of the database that
// showBuiltinRoles asks for.
func (r *request) wantedRoles() (list []account.Role, err error) {
	if doc.IsNumber(r.Arg) {
		if r.Bool("showBuiltinRoles", false) {
			for _, name := range account.BuiltinRoles() {
				list = append(list, account.Role{Name: name, Database: r.DB})
			}
		}
		return list, r.May(account.ManageUsers, r.DB)
	}
	wanted := []doc.Value{r.Arg}
	if r.Arg.Type == bsoncore.TypeArray {
		wanted = slices.Collect(doc.Elements(r.Arg))
	}
	for _, v := range wanted {
		x, err := account.ReadRole(v, r.DB)
		if err != nil {
			return nil, err
		}
		list = append(list, x)
	}
	return list, nil
}
