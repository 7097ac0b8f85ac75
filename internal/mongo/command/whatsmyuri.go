package command

func whatsmyuri(r *request, a *answer) error {
	a.String("you", r.c.remote())
	return nil
}
