package command

import (
	"slices"

	"github.com/mayflydb/mayfly/internal/mongo/account"
)

func revokeRolesFromUser(r *request, a *answer) error {
	return r.changeRoles(func(present, revoked []account.Role) []account.Role {
		return slices.DeleteFunc(present, func(x account.Role) bool { return slices.Contains(revoked, x) })
	})
}
