package command

import (
	"crypto/rand"

	"github.com/mayflydb/mayfly/internal/mongo/session"
)

// startSession is for clients that do not make session ids by themselves, as drivers do.
func startSession(r *request, a *answer) error {
	var id [16]byte
	_, _ = rand.Read(id[:])
	id[6], id[8] = id[6]&0x0f|0x40, id[8]&0x3f|0x80 // a random UUID, RFC 9562 section 5.4
	if _, err := r.Node.Sessions.Find(r.At, session.KeyOf(string(id[:]), ownerOf(r.c.user))); err != nil {
		return err
	}
	a.Object("id")
	a.Binary("id", session.UUIDBinary, id[:])
	a.Close()
	a.Int32("timeoutMinutes", session.SessionMinutes)
	return nil
}
