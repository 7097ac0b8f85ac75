package command

import (
	"maps"
	"slices"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
)

func init() {
	register("rolesInfo", command{run: rolesInfo, help: "Lists roles.", fields: fieldSet("showPrivileges showBuiltinRoles showAuthenticationRestrictions"), needs: anyAction})
}

// rolesInfo knows built-in roles only, since there are no others.
func rolesInfo(r *request, a *answer) error {
	list, err := r.wantedRoles()
	if err != nil {
		return err
	}
	privileges := r.bool("showPrivileges", false)
	a.array("roles")
	for _, x := range list {
		if _, ok := x.find(); !ok {
			continue
		}
		a.object(a.index())
		a.string("_id", x.database+"."+x.name)
		a.string("role", x.name)
		a.string("db", x.database)
		a.bool("isBuiltin", true)
		a.roles("roles", nil)
		a.roles("inheritedRoles", nil)
		if privileges {
			a.privileges("privileges", rightsOf([]role{x}))
			a.privileges("inheritedPrivileges", rightsOf([]role{x}))
		}
		a.close()
	}
	a.close()
	return r.err
}

func (r *request) wantedRoles() (list []role, err error) {
	if doc.IsNumber(r.arg) {
		if r.bool("showBuiltinRoles", false) {
			for _, name := range slices.Sorted(maps.Keys(builtins)) {
				list = append(list, role{name: name, database: r.db})
			}
		}
		return list, r.may(userAction, r.db)
	}
	wanted := []doc.Value{r.arg}
	if r.arg.Type == bsoncore.TypeArray {
		wanted = slices.Collect(doc.Elements(r.arg))
	}
	for _, v := range wanted {
		x, err := r.readRole(v)
		if err != nil {
			return nil, err
		}
		list = append(list, x)
	}
	return list, nil
}
