package command

func init() {
	register("connectionStatus", command{run: connectionStatus, help: "Tells who the client is and what it may do.", fields: fieldSet("showPrivileges"), open: true})
}

func connectionStatus(r *request, a *answer) error {
	list, err := r.c.permits()
	if err != nil {
		return err
	}
	var roles []role
	a.object("authInfo")
	a.array("authenticatedUsers")
	if u := r.c.user; u != nil {
		a.object(a.index())
		a.string("user", u.name)
		a.string("db", u.database)
		a.close()
		if roles, err = r.s.rolesOf(*u); err != nil {
			return err
		}
	}
	a.close()
	a.roles("authenticatedUserRoles", roles)
	if r.bool("showPrivileges", false) {
		a.privileges("authenticatedUserPrivileges", list)
	}
	a.close()
	return nil
}
