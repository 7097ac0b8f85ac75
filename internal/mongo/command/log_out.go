package command

func init() {
	register("logout", command{run: logout, help: "Makes the client a stranger again.", open: true})
}

func logout(r *request, a *answer) error {
	if r.c.user != nil && r.c.user.database == r.db {
		r.c.forgetUser()
	}
	return nil
}
