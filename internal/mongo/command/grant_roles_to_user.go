package command

import "slices"

func init() {
	register("grantRolesToUser", command{run: grantRolesToUser, help: "Gives roles to a user.", fields: fieldSet("roles"), needs: anyAction})
}

func grantRolesToUser(r *request, a *answer) error {
	return r.changeRoles(func(present, given []role) []role {
		for _, x := range given {
			if !slices.Contains(present, x) {
				present = append(present, x)
			}
		}
		return present
	})
}

// changeRoles changes which roles a user has. Who may depends on the roles.
func (r *request) changeRoles(change func(present, named []role) []role) error {
	name, err := r.userName()
	if err != nil {
		return err
	}
	named, err := r.readRoles("roles")
	if err != nil {
		return err
	}
	if err := r.mayGive(named); err != nil {
		return err
	}
	return r.changeUser(name, func(u *userRecord) error {
		u.roles = change(u.roles, named)
		return nil
	}, false)
}
