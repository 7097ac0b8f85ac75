package command

import (
	"bytes"
	"strconv"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/call"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/session"
)

// killAllSessions takes users, {user, db}; without any it ends the sessions of all.
func killAllSessions(r *request, a *answer) error {
	return killMatching(r, func(d doc.Doc) (func(*session.Session) bool, error) {
		name, ok := doc.AsString(doc.Lookup(d, "user"))
		database, also := doc.AsString(doc.Lookup(d, "db"))
		if !ok || !also {
			return nil, code.New(code.MissingFieldOfCommand,
				"BSON field 'killAllSessions.killAllSessions.user' is missing but a required field")
		}
		return func(x *session.Session) bool { return x.Key.User.Name == name && x.Key.User.Database == database }, nil
	})
}

// killByPattern takes patterns {lsid: {id, uid}}, {uid: digest} and {users: [{user, db}]}; without any it ends all
// sessions.
func killByPattern(r *request, a *answer) error {
	return killMatching(r, func(d doc.Doc) (func(*session.Session) bool, error) {
		var tests []func(*session.Session) bool
		for name, v := range doc.Members(d) {
			test, err := patternMember(name, v)
			if err != nil {
				return nil, err
			}
			tests = append(tests, test)
		}
		return func(x *session.Session) bool {
			for _, test := range tests {
				if !test(x) {
					return false
				}
			}
			return true
		}, nil
	})
}

func patternMember(name string, v doc.Value) (func(*session.Session) bool, error) {
	d, isDoc := doc.AsDoc(v)
	switch {
	case name == "lsid" && isDoc:
		id, err := call.ReadUUID(doc.Lookup(d, "id"), "lsid.id")
		if err != nil {
			return nil, err
		}
		of := doc.Lookup(d, "uid")
		return func(x *session.Session) bool { return x.Key.ID == id && (of.Type == 0 || isDigest(of, x)) }, nil
	case name == "uid" && v.Type == bsoncore.TypeBinary:
		return func(x *session.Session) bool { return isDigest(v, x) }, nil
	case name == "users" && v.Type == bsoncore.TypeArray:
		return func(x *session.Session) bool {
			for element := range doc.Elements(v) {
				d, _ := doc.AsDoc(element)
				name, _ := doc.AsString(doc.Lookup(d, "user"))
				database, _ := doc.AsString(doc.Lookup(d, "db"))
				if x.Key.User.Name == name && x.Key.User.Database == database {
					return true
				}
			}
			return false
		}, nil
	}
	return nil, code.New(code.UnknownFieldOfCommand,
		"BSON field 'killAllSessionsByPattern.killAllSessionsByPattern.%.200s' is an unknown field.", name)
}

func isDigest(v doc.Value, x *session.Session) bool {
	_, data, _, ok := bsoncore.ReadBinary(v.Data)
	digest := x.Key.User.Digest()
	return v.Type == bsoncore.TypeBinary && ok && bytes.Equal(data, digest[:])
}

// killMatching ends the sessions that one of the documents in the argument describes, all when there is none.
func killMatching(r *request, test func(doc.Doc) (func(*session.Session) bool, error)) error {
	values := r.List(r.Name)
	if r.Err != nil {
		return r.Err
	}
	var tests []func(*session.Session) bool
	for i, v := range values {
		d, ok := doc.AsDoc(v)
		if !ok {
			return r.WrongType(r.Name+"."+strconv.Itoa(i), v, "object")
		}
		one, err := test(d)
		if err != nil {
			return err
		}
		tests = append(tests, one)
	}
	return r.Node.Sessions.Kill(&r.Operation, r.Node.Sessions.Choose(func(x *session.Session) bool {
		for _, one := range tests {
			if one(x) {
				return true
			}
		}
		return len(tests) == 0
	}))
}
