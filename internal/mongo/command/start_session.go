package command

import (
	"crypto/rand"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"
)

// startSession is for clients that do not make session ids by themselves, as drivers do.
func startSession(r *request, a *answer) error {
	var id [16]byte
	_, _ = rand.Read(id[:])
	id[6], id[8] = id[6]&0x0f|0x40, id[8]&0x3f|0x80 // a random UUID, RFC 9562 section 5.4
	if _, err := r.s.sessions.find(r, keyOf(string(id[:]), r.c.user)); err != nil {
		return err
	}
	a.object("id")
	a.buf = bsoncore.AppendBinaryElement(a.buf, "id", uuidBinary, id[:])
	a.close()
	a.int32("timeoutMinutes", sessionMinutes)
	return nil
}
