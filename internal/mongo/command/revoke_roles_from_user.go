package command

import "slices"

func init() {
	register("revokeRolesFromUser", command{run: revokeRolesFromUser, help: "Takes roles from a user.", fields: fieldSet("roles"), needs: anyAction})
}

func revokeRolesFromUser(r *request, a *answer) error {
	return r.changeRoles(func(present, taken []role) []role {
		return slices.DeleteFunc(present, func(x role) bool { return slices.Contains(taken, x) })
	})
}
