package command

import (
	"crypto/rand"
	"strconv"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/call"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/session"
)

// startSession is for clients that do not make session ids by themselves, as drivers do.
func startSession(r *request, a *answer) error {
	var id [16]byte
	_, _ = rand.Read(id[:])
	id[6], id[8] = id[6]&0x0f|0x40, id[8]&0x3f|0x80 // a random UUID, RFC 9562 section 5.4
	if _, err := r.Node.Sessions.Find(r.At, session.KeyOf(string(id[:]), r.Owner())); err != nil {
		return err
	}
	a.Object("id")
	a.Binary("id", session.UUIDBinary, id[:])
	a.Close()
	a.Int32("timeoutMinutes", session.SessionMinutes)
	return nil
}

func refreshSessions(r *request, a *answer) error {
	list, err := ownSessions(r)
	for _, x := range list {
		r.Node.Sessions.Refresh(x, r.At)
	}
	return err
}

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
	values := r.List(r.Name)
	switch {
	case r.Err != nil:
		return nil, r.Err
	case len(values) > maxNamedSessions:
		return nil, code.New(code.BadValue, "%s takes at most %d sessions", r.Name, maxNamedSessions)
	}
	for i, v := range values {
		d, ok := doc.AsDoc(v)
		if !ok {
			return nil, r.WrongType(r.Name+"."+strconv.Itoa(i), v, "object")
		}
		id, err := call.ReadSession(d, r.Name+"."+r.Name)
		if err != nil {
			return nil, err
		}
		if x := r.Node.Sessions.Named(session.KeyOf(string(id[:]), r.Owner())); x != nil {
			list = append(list, x)
		}
	}
	return list, nil
}

// killSessions without names ends what the client's user has.
func killSessions(r *request, a *answer) error {
	list, err := ownSessions(r)
	if err != nil {
		return err
	}
	if len(r.List(r.Name)) == 0 {
		mine := r.Owner()
		list = r.Node.Sessions.Choose(func(x *session.Session) bool { return x.Key.User == mine })
	}
	return r.Node.Sessions.Kill(&r.Operation, list)
}
