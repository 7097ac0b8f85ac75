package command

import "github.com/mayflydb/mayfly/internal/mongo/session"

// killSessions without names ends what the client's user has.
func killSessions(r *request, a *answer) error {
	list, err := ownSessions(r)
	if err != nil {
		return err
	}
	if len(r.list(r.Name)) == 0 {
		mine := ownerOf(r.c.user)
		list = r.Node.Sessions.Choose(func(x *session.Session) bool { return x.Key.User == mine })
	}
	return r.Node.Sessions.Kill(&r.Operation, list)
}
