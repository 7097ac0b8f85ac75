package command

func refreshSessions(r *request, a *answer) error {
	list, err := ownSessions(r)
	for _, x := range list {
		r.Node.Sessions.Refresh(x, r.At)
	}
	return err
}
