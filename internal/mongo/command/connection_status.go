package command

import "github.com/mayflydb/mayfly/internal/mongo/account"

func connectionStatus(r *request, a *answer) error {
	// Everybody may run this command, so nothing has refreshed the rights yet.
	if err := r.c.refreshRights(); err != nil {
		return err
	}
	var roles []account.Role
	a.object("authInfo")
	a.array("authenticatedUsers")
	if u := r.c.user; u != nil {
		a.object(a.index())
		a.string("user", u.Name)
		a.string("db", u.Database)
		a.close()
		var err error
		if roles, err = r.s.accounts.RolesOf(*u); err != nil {
			return err
		}
	}
	a.close()
	a.value("authenticatedUserRoles", account.ListRoles(roles))
	if r.bool("showPrivileges", false) {
		a.value("authenticatedUserPrivileges", r.c.auth.granted.Privileges())
	}
	a.close()
	return nil
}
