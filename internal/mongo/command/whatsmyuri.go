package command

func whatsmyuri(r *request, a *answer) error {
	a.string("you", r.c.remote())
	return nil
}
