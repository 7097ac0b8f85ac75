package command

func getParameter(r *request, a *answer) error { return r.s.parameters.Get(&r.Request, &a.Writer) }

func setParameter(r *request, a *answer) error { return r.s.parameters.Set(&r.Request, &a.Writer) }
