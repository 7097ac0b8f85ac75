package keys

import "encoding/binary"

// SessionOwner tells the sessions of clients apart: the id of the session, and a digest of its user.
type SessionOwner [48]byte

// SessionKey is the key of what is known of the newest number of a session, where several processes share the data.
// Part 0 is the head. The others have what does not fit the head, see SessionRecord.
func SessionKey(owner SessionOwner, part uint32) []byte {
	return binary.BigEndian.AppendUint32(append(System("session"), owner[:]...), part)
}

// SessionBounds encloses the records of all sessions.
func SessionBounds() (lower, upper []byte) { return System("session"), End(System("session")) }

// SessionSweptKey is the key of when old records of sessions were last looked for: whole Unix seconds, a number
// (AppendNumber).
func SessionSweptKey() []byte { return System("sessionswept") }

// What a SessionRecord is about.
const (
	SessionWrite     byte = iota + 1 // a write that its client may send again
	SessionCommitted                 // a transaction that has been committed
	SessionAborted                   // a transaction that must not be committed any more
)

// A SessionRecord is one part of what is known of a session's newest number. The client numbers its retryable writes
// and transactions, upwards.
type SessionRecord struct {
	State  byte   // what it is about
	Number int64  // the number. A part with a lower number than the head is an old one, and means nothing
	Parts  uint32 // of the head: how many parts there are, the head included
	Stamp  int64  // when it was written, in Unix seconds
	Body   []byte // what has become of the operations that were committed with the part; the API's own
}

const sessionHeader = 1 + 8 + 4 + 8

// Append appends the record's stored form.
func (r SessionRecord) Append(dst []byte) []byte {
	dst = append(dst, r.State)
	dst = binary.BigEndian.AppendUint64(dst, uint64(r.Number))
	dst = binary.BigEndian.AppendUint32(dst, r.Parts)
	dst = binary.BigEndian.AppendUint64(dst, uint64(r.Stamp))
	return append(dst, r.Body...)
}

// DecodeSession reads the form of Append. Body shares the bytes of value.
func DecodeSession(value []byte) (SessionRecord, error) {
	if len(value) < sessionHeader {
		return SessionRecord{}, ErrCorrupt
	}
	return SessionRecord{
		State:  value[0],
		Number: int64(binary.BigEndian.Uint64(value[1:])),
		Parts:  binary.BigEndian.Uint32(value[9:]),
		Stamp:  int64(binary.BigEndian.Uint64(value[13:])),
		Body:   value[sessionHeader:],
	}, nil
}
