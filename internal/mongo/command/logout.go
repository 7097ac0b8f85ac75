package command

func logout(r *request, a *answer) error {
	if r.c.user != nil && r.c.user.Database == r.db {
		r.c.logOut()
	}
	return nil
}
