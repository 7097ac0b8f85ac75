package command

func dropUser(r *request, a *answer) error {
	name, err := r.userName()
	if err != nil {
		return err
	}
	return r.s.accounts.Drop(r.Context, r.db, name)
}
