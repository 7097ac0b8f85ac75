package command

import "github.com/mayflydb/mayfly/internal/mongo/code"

func init() {
	for _, name := range []string{"createRole", "updateRole", "dropRole", "dropAllRolesFromDatabase",
		"grantPrivilegesToRole", "revokePrivilegesFromRole", "grantRolesToRole", "revokeRolesFromRole"} {
		register(name, command{run: noOwnRoles, help: "Is refused: there are built-in roles only.", loose: true, needs: userAction})
	}
}

func noOwnRoles(r *request, a *answer) error {
	return code.Unsupported(r.name)
}
