package session

import (
	"crypto/rand"
	"encoding/binary"
	"time"

	"github.com/mayflydb/mayfly/internal/doc"
)

// initIdentity chooses the parts of an ObjectId that a process keeps.
// https://www.mongodb.com/docs/manual/reference/bson-types/#objectid
func (n *Node) initIdentity() {
	var b [8]byte
	_, _ = rand.Read(b[:])
	copy(n.process[:], b[:5])
	n.idCount.Store(uint32(b[5])<<16 | uint32(b[6])<<8 | uint32(b[7]))
}

// NewObjectID makes the _id of a document that came without one.
func (n *Node) NewObjectID(at time.Time) (id [12]byte) {
	binary.BigEndian.PutUint32(id[:], uint32(at.Unix()))
	copy(id[4:], n.process[:])
	i := n.idCount.Add(1)
	id[9], id[10], id[11] = byte(i>>16), byte(i>>8), byte(i)
	return id
}

// Timestamp is the present as BSON's timestamp, another each time.
func (n *Node) Timestamp(at time.Time) doc.Value {
	return doc.Timestamp(uint32(at.Unix()), n.stampCount.Add(1))
}
