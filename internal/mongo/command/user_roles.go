package command

import (
	"slices"

	"github.com/mayflydb/mayfly/internal/mongo/account"
)

func grantRolesToUser(r *request, a *answer) error {
	return r.changeRoles(func(present, granted []account.Role) []account.Role {
		for _, x := range granted {
			if !slices.Contains(present, x) {
				present = append(present, x)
			}
		}
		return present
	})
}

// changeRoles changes which roles a user has. What the client must be allowed depends on the databases of the roles.
func (r *request) changeRoles(change func(present, named []account.Role) []account.Role) error {
	name, err := r.userName()
	if err != nil {
		return err
	}
	named, err := r.readRoles()
	if err != nil {
		return err
	}
	if err := r.mayGrant(named); err != nil {
		return err
	}
	return r.s.accounts.Change(r.Context, r.Now, r.DB, name, func(u *account.User) error {
		u.Roles = change(u.Roles, named)
		return nil
	})
}

func revokeRolesFromUser(r *request, a *answer) error {
	return r.changeRoles(func(present, revoked []account.Role) []account.Role {
		return slices.DeleteFunc(present, func(x account.Role) bool { return slices.Contains(revoked, x) })
	})
}
