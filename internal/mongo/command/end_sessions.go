package command

import (
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
)

// maxNamedSessions bounds how many sessions one command names.
const maxNamedSessions = 10_000

// endSessions is what drivers send when the application closes its client.
func endSessions(r *request, a *answer) error {
	list, err := r.ownSessions()
	if err == nil {
		r.s.sessions.end(list)
	}
	return err
}

// ownSessions gives the sessions that the argument [{id: UUID}, …] names, among those of the client's user.
func (r *request) ownSessions() (list []*session, err error) {
	values := r.list(r.name)
	switch {
	case r.err != nil:
		return nil, r.err
	case len(values) > maxNamedSessions:
		return nil, code.New(code.BadValue, "%s takes at most %d sessions", r.name, maxNamedSessions)
	}
	s := &r.s.sessions
	for i, v := range values {
		d, ok := doc.AsDoc(v)
		if !ok {
			return nil, r.wrongType(r.name+"."+indexName(i), v, "object")
		}
		id, err := readSession(d, r.name+"."+r.name)
		if err != nil {
			return nil, err
		}
		s.mu.Lock()
		if x := s.of[keyOf(string(id[:]), r.c.user)]; x != nil {
			list = append(list, x)
		}
		s.mu.Unlock()
	}
	return list, nil
}
