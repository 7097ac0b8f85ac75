package command

import (
	"slices"

	"github.com/mayflydb/mayfly/internal/mongo/call"
	"github.com/mayflydb/mayfly/internal/mongo/session"
)

// joinSession finds the session, retry and transaction that a request belongs to, before its command
// runs; r.Repeated when the answer is written already.
func joinSession(r *request, a *answer) error {
	if r.s.o.Auth && r.c.user == nil {
		return nil
	}
	if err := call.CheckSessionFields(&r.Request); err != nil {
		return err
	}
	if err := call.CheckConcerns(&r.Request); err != nil {
		return err
	}
	if r.LSID.Type == 0 {
		return nil
	}
	key, err := call.ReadSessionKey(&r.Request)
	if err != nil {
		return err
	}
	if err := attendSession(r, key); err != nil || !r.HasTxn {
		return err
	}
	if r.Autocommit.Type != 0 {
		return call.JoinTransaction(&r.Request)
	}
	return call.JoinRetry(&r.Request, &a.Writer)
}

// attendSession finds the session, and waits for its turn when the request has a transaction number.
func attendSession(r *request, key session.Key) error {
	for {
		x, err := r.Node.Sessions.Find(r.At, key)
		if err != nil {
			return err
		}
		r.c.mu.Lock()
		r.Session = x
		r.c.mu.Unlock()
		if !r.HasTxn {
			return nil
		}
		if err := x.Take(r.Context); err != nil {
			return err
		}
		if !x.Gone.Load() {
			r.turn = true
			return nil
		}
		x.Release()
	}
}

// leaveSession is called when the command has run, or join has failed.
func leaveSession(r *request, a *answer, err error) error {
	if r.turn {
		switch {
		case r.Transaction != nil && r.Transaction.Over(err):
			r.Session.Abort(&r.Node.Sessions)
		case session.Undetermined(err):
			r.Session.Unknown = err
		case err == nil && !r.Repeated && r.Autocommit.Type == 0:
			call.RememberReply(&r.Request, &a.Writer)
			call.WriteRepeated(&r.Request, &a.Writer)
		}
		r.Session.Release()
		r.turn = false
		if err == nil {
			writeRecovery(r, a)
		}
	}
	if err == nil {
		call.WriteConcernError(&r.Request, &a.Writer)
	}
	return err
}

// interruptSessions ends the requests, other than that of by, of sessions.
func (s *Server) interruptSessions(by *session.Operation, list []*session.Session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.connections {
		c.mu.Lock()
		if x := c.running; x != nil && &x.Operation != by && x.Session != nil && slices.Contains(list, x.Session) {
			c.cancel()
		}
		c.mu.Unlock()
	}
}
