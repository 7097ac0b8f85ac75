package command

func init() {
	register("whatsmyuri", command{run: whatsmyuri, help: "Tells the client its address.", open: true})
}

func whatsmyuri(r *request, a *answer) error {
	a.string("you", r.c.remote())
	return nil
}
