package call

import (
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/session"
)

// SessionID tells whose cursors are whose, "" without a session.
func (r *Request) SessionID() string {
	if r.Session == nil {
		return ""
	}
	return r.Session.ID
}

// ReadSessionKey reads lsid.
func ReadSessionKey(r *Request) (session.Key, error) {
	d, ok := doc.AsDoc(r.LSID)
	if !ok {
		return session.Key{}, code.WrongType("OperationSessionInfo.lsid", r.LSID, "object")
	}
	id, err := ReadSession(d, "lsid")
	if err != nil {
		return session.Key{}, err
	}
	return session.KeyOf(string(id[:]), r.Owner()), nil
}

// ReadSession reads the id of a session from {id: UUID}.
func ReadSession(d doc.Doc, field string) (id [16]byte, err error) {
	found := false
	for name, v := range doc.Members(d) {
		switch name {
		case "id":
			found = true
			if id, err = ReadUUID(v, field+".id"); err != nil {
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

// ReadUUID reads a UUID, as binary data of subtype 4.
func ReadUUID(v doc.Value, field string) (id [16]byte, err error) {
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

// CheckSessionFields holds the members about sessions against each other.
func CheckSessionFields(r *Request) error {
	switch {
	case r.HasTxn && !r.Node.Replicates:
		return NeedsSet(code.IllegalOperation,
			"Transaction numbers are only allowed on a replica set member or mongos.")
	case r.HasTxn && r.LSID.Type == 0:
		return code.New(code.InvalidOptions, "Transaction number requires a session ID to also be specified")
	case r.HasTxn && r.TxnNumber < 0:
		return code.New(code.InvalidOptions, "Transaction number cannot be negative")
	case r.Autocommit.Type != 0 && !r.HasTxn:
		return code.New(code.InvalidOptions, "'autocommit' field requires a transaction number to also be specified")
	case r.StartsTxn.Type != 0 && r.Autocommit.Type == 0:
		return code.New(code.InvalidOptions,
			"'startTransaction' field requires 'autocommit' field to also be specified")
	}
	if v := r.Autocommit; v.Type != 0 {
		if on, ok := doc.AsBool(v); !ok {
			return r.WrongType("autocommit", v, "bool")
		} else if on {
			return code.New(code.InvalidOptions, "Specifying autocommit=true is not allowed.")
		}
	}
	if v := r.StartsTxn; v.Type != 0 {
		if on, ok := doc.AsBool(v); !ok {
			return r.WrongType("startTransaction", v, "bool")
		} else if !on {
			return code.New(code.InvalidOptions, "Specifying startTransaction=false is not allowed.")
		}
	}
	return nil
}
