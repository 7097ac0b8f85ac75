package command

import (
	"crypto/rand"
	"encoding/binary"
	"time"

	"github.com/mayflydb/mayfly/internal/doc"
)

// initIdentity chooses the part of ObjectIds that is the same in a process, and where their counter starts.
// https://www.mongodb.com/docs/manual/reference/bson-types/#objectid
func (s *Server) initIdentity() {
	var b [8]byte
	_, _ = rand.Read(b[:])
	copy(s.process[:], b[:5])
	s.idCount.Store(uint32(b[5])<<16 | uint32(b[6])<<8 | uint32(b[7]))
}

// newObjectID makes the _id of a document that the client has sent without one.
func (s *Server) newObjectID(at time.Time) (id [12]byte) {
	binary.BigEndian.PutUint32(id[:], uint32(at.Unix()))
	copy(id[4:], s.process[:])
	n := s.idCount.Add(1)
	id[9], id[10], id[11] = byte(n>>16), byte(n>>8), byte(n)
	return id
}

// timestamp gives the current time as a BSON timestamp, a different one each time.
func (s *Server) timestamp(at time.Time) doc.Value {
	return doc.Timestamp(uint32(at.Unix()), s.stampCount.Add(1))
}
