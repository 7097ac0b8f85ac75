package command

func configureFailPoint(r *request, a *answer) error {
	return r.s.failing.Configure(&r.Request, &a.Writer, aliases)
}
