package command

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/session"
)

// joinSession finds the session, retry and transaction that a request belongs to, before its command
// runs; r.repeated when the answer is written already.
func joinSession(r *request, a *answer) error {
	if r.s.o.Auth && r.c.user == nil {
		return nil
	}
	if err := checkSessionFields(r); err != nil {
		return err
	}
	if err := checkConcerns(r); err != nil {
		return err
	}
	if r.lsid.Type == 0 {
		return nil
	}
	key, err := readSessionKey(r)
	if err != nil {
		return err
	}
	if err := attendSession(r, key); err != nil || !r.hasTxn {
		return err
	}
	if r.autocommit.Type != 0 {
		return joinTransaction(r)
	}
	return joinRetry(r, a)
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
		if !r.hasTxn {
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
		case err == nil && !r.repeated && r.autocommit.Type == 0:
			rememberReply(r, a)
		}
		r.Session.Release()
		r.turn = false
	}
	if err == nil {
		writeConcernError(r, a)
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

// sessionIDOf tells whose cursors are whose, "" without a session.
func sessionIDOf(r *request) string {
	if r.Session == nil {
		return ""
	}
	return r.Session.ID
}

// readSessionKey reads lsid.
func readSessionKey(r *request) (session.Key, error) {
	d, ok := doc.AsDoc(r.lsid)
	if !ok {
		return session.Key{}, code.WrongType("OperationSessionInfo.lsid", r.lsid, "object")
	}
	id, err := readSession(d, "lsid")
	if err != nil {
		return session.Key{}, err
	}
	return session.KeyOf(string(id[:]), ownerOf(r.c.user)), nil
}

// readSession reads the id of a session from {id: UUID}.
func readSession(d doc.Doc, field string) (id [16]byte, err error) {
	found := false
	for name, v := range doc.Members(d) {
		switch name {
		case "id":
			found = true
			if id, err = readUUID(v, field+".id"); err != nil {
				return id, err
			}
		case "uid":
			return id, code.New(code.Unauthorized, "Unauthorized to set user digest in LogicalSessionId")
		case "txnNumber", "txnUUID":
			return id, code.New(code.InvalidOptions, "Internal sessions are not supported")
		default:
			return id, code.New(code.UnknownFieldOfCommand, "BSON field '%s.%.200s' is an unknown field.", field, name)
		}
	}
	if !found {
		return id, code.New(code.MissingFieldOfCommand, "BSON field '%s.id' is missing but a required field", field)
	}
	return id, nil
}

func readUUID(v doc.Value, field string) (id [16]byte, err error) {
	if v.Type != bsoncore.TypeBinary {
		return id, code.WrongType(field, v, "binData")
	}
	subtype, data, _, ok := bsoncore.ReadBinary(v.Data)
	switch {
	case !ok || subtype != session.UUIDBinary:
		return id, code.New(code.TypeMismatch, "BSON field '%s' is the wrong binData type, expected type 'UUID'", field)
	case len(data) != len(id):
		return id, code.New(code.InvalidUUID, "uuid must be a 16-byte binary field with UUID (4) subtype")
	}
	return [16]byte(data), nil
}

// checkSessionFields holds the members about sessions against each other.
func checkSessionFields(r *request) error {
	switch {
	case r.hasTxn && r.s.o.ReplSet == "":
		return needsSet(code.IllegalOperation, "Transaction numbers are only allowed on a replica set member or mongos.")
	case r.hasTxn && r.lsid.Type == 0:
		return code.New(code.InvalidOptions, "Transaction number requires a session ID to also be specified")
	case r.hasTxn && r.txnNumber < 0:
		return code.New(code.InvalidOptions, "Transaction number cannot be negative")
	case r.autocommit.Type != 0 && !r.hasTxn:
		return code.New(code.InvalidOptions, "'autocommit' field requires a transaction number to also be specified")
	case r.startsTxn.Type != 0 && r.autocommit.Type == 0:
		return code.New(code.InvalidOptions, "'startTransaction' field requires 'autocommit' field to also be specified")
	}
	if v := r.autocommit; v.Type != 0 {
		if on, ok := doc.AsBool(v); !ok {
			return r.wrongType("autocommit", v, "bool")
		} else if on {
			return code.New(code.InvalidOptions, "Specifying autocommit=true is not allowed.")
		}
	}
	if v := r.startsTxn; v.Type != 0 {
		if on, ok := doc.AsBool(v); !ok {
			return r.wrongType("startTransaction", v, "bool")
		} else if !on {
			return code.New(code.InvalidOptions, "Specifying startTransaction=false is not allowed.")
		}
	}
	return nil
}
