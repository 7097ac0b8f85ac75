package command

// killSessions ends the sessions that it names; without any, all of the client's user.
func killSessions(r *request, a *answer) error {
	list, err := r.ownSessions()
	if err != nil {
		return err
	}
	if len(r.list(r.name)) == 0 {
		mine := keyOf(string(make([]byte, 16)), r.c.user).user
		list = r.s.sessions.choose(func(x *session) bool { return x.key.user == mine })
	}
	return r.s.sessions.kill(r, list)
}
