package command

func refreshSessions(r *request, a *answer) error {
	list, err := r.ownSessions()
	for _, x := range list {
		x.used.Store(int64(r.s.uptime.Elapsed()))
		x.seen.Store(r.at.UnixMilli())
	}
	return err
}
