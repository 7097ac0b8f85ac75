package command

import (
	"strconv"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/session"
)

// maxNamedSessions bounds how many sessions one command names.
const maxNamedSessions = 10_000

// endSessions is what drivers send when the application closes its client.
func endSessions(r *request, a *answer) error {
	list, err := ownSessions(r)
	if err == nil {
		r.Node.Sessions.End(list)
	}
	return err
}

// ownSessions gives those of the client's user that its argument [{id: UUID}, …] names.
func ownSessions(r *request) (list []*session.Session, err error) {
	values := r.list(r.Name)
	switch {
	case r.err != nil:
		return nil, r.err
	case len(values) > maxNamedSessions:
		return nil, code.New(code.BadValue, "%s takes at most %d sessions", r.Name, maxNamedSessions)
	}
	for i, v := range values {
		d, ok := doc.AsDoc(v)
		if !ok {
			return nil, r.wrongType(r.Name+"."+strconv.Itoa(i), v, "object")
		}
		id, err := readSession(d, r.Name+"."+r.Name)
		if err != nil {
			return nil, err
		}
		if x := r.Node.Sessions.Named(session.KeyOf(string(id[:]), ownerOf(r.c.user))); x != nil {
			list = append(list, x)
		}
	}
	return list, nil
}
