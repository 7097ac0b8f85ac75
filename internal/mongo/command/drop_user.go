package command

func dropUser(r *request, a *answer) error {
	name, err := r.userName()
	if err != nil {
		return err
	}
	return r.s.accounts.Drop(r.Context, r.DB, name)
}

func dropAllUsers(r *request, a *answer) error {
	n, err := r.s.accounts.DropAll(r.Context, r.DB)
	if err != nil {
		return err
	}
	a.Int32("n", n)
	return nil
}
