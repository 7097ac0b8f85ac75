package command

import (
	"github.com/mayflydb/mayfly/internal/mongo/account"
	"github.com/mayflydb/mayfly/internal/mongo/code"
)

func updateUser(r *request, a *answer) error {
	name, err := r.userName()
	if err != nil {
		return err
	}
	given := false
	for _, field := range []string{"pwd", "customData", "roles", "authenticationRestrictions", "mechanisms"} {
		given = given || r.Get(field).Type != 0
	}
	if !given {
		return code.New(code.BadValue, "Must specify at least one field to update in updateUser")
	}
	var roles []account.Role
	newRoles := r.Get("roles").Type != 0
	if newRoles {
		if roles, err = r.readRoles(); err != nil {
			return err
		}
	}
	return r.s.accounts.Change(r.Context, r.Now, r.DB, name, func(u *account.User) error {
		if newRoles {
			// The old roles too: replacing them takes them away.
			if err := r.mayGrant(append(roles, u.Roles...)); err != nil {
				return err
			}
			u.Roles = roles
		}
		return r.readUserFields(u)
	})
}
