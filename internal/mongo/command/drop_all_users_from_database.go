package command

func dropAllUsers(r *request, a *answer) error {
	n, err := r.s.accounts.DropAll(r.ctx, r.db)
	if err != nil {
		return err
	}
	a.int32("n", n)
	return nil
}
