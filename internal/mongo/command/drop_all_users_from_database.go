package command

func dropAllUsers(r *request, a *answer) error {
	n, err := r.s.accounts.DropAll(r.Context, r.db)
	if err != nil {
		return err
	}
	a.Int32("n", n)
	return nil
}
