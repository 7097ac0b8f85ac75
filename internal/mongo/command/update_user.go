package command

import "github.com/mayflydb/mayfly/internal/mongo/code"

func init() {
	register("updateUser", command{run: updateUser, help: "Changes a user.", needs: userAction, secret: true,
		fields: fieldSet("pwd customData roles digestPassword authenticationRestrictions mechanisms")})
}

func updateUser(r *request, a *answer) error {
	name, err := r.userName()
	if err != nil {
		return err
	}
	any := false
	for _, field := range []string{"pwd", "customData", "roles", "authenticationRestrictions", "mechanisms"} {
		any = any || r.get(field).Type != 0
	}
	if !any {
		return code.New(code.BadValue, "Must specify at least one field to update in updateUser")
	}
	var roles []role
	if r.get("roles").Type != 0 {
		if roles, err = r.readRoles("roles"); err != nil {
			return err
		}
	}
	return r.changeUser(name, func(u *userRecord) error {
		if r.get("roles").Type != 0 {
			if err := r.mayGive(append(roles, u.roles...)); err != nil {
				return err
			}
			u.roles = roles
		}
		return r.readUserFields(u)
	}, false)
}
