package command

import "github.com/mayflydb/mayfly/internal/mongo/account"

func connectionStatus(r *request, a *answer) error {
	// Everybody may run this command, so nothing has refreshed the rights yet.
	if err := r.c.refreshRights(); err != nil {
		return err
	}
	var roles []account.Role
	a.Object("authInfo")
	a.Array("authenticatedUsers")
	if u := r.c.user; u != nil {
		a.Object(a.Index())
		a.String("user", u.Name)
		a.String("db", u.Database)
		a.Close()
		var err error
		if roles, err = r.s.accounts.RolesOf(*u); err != nil {
			return err
		}
	}
	a.Close()
	a.Value("authenticatedUserRoles", account.ListRoles(roles))
	if r.Bool("showPrivileges", false) {
		a.Value("authenticatedUserPrivileges", r.c.auth.granted.Privileges())
	}
	a.Close()
	return nil
}
