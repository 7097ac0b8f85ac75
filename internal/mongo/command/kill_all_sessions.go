package command

import (
	"bytes"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
)

// killAllSessions takes users, {user, db}; without any it ends the sessions of all.
func killAllSessions(r *request, a *answer) error {
	return r.killMatching(func(d doc.Doc) (func(*session) bool, error) {
		name, ok := doc.AsString(doc.Lookup(d, "user"))
		database, also := doc.AsString(doc.Lookup(d, "db"))
		if !ok || !also {
			return nil, code.New(code.MissingFieldOfCommand,
				"BSON field 'killAllSessions.killAllSessions.user' is missing but a required field")
		}
		return func(x *session) bool { return x.key.user.Name == name && x.key.user.Database == database }, nil
	})
}

// killByPattern takes patterns {lsid: {id, uid}}, {uid: digest} and {users: [{user, db}]}; without any it ends all
// sessions.
func killByPattern(r *request, a *answer) error {
	return r.killMatching(func(d doc.Doc) (func(*session) bool, error) {
		var tests []func(*session) bool
		for name, v := range doc.Members(d) {
			test, err := patternMember(name, v)
			if err != nil {
				return nil, err
			}
			tests = append(tests, test)
		}
		return func(x *session) bool {
			for _, test := range tests {
				if !test(x) {
					return false
				}
			}
			return true
		}, nil
	})
}

// patternMember reads one member of a pattern.
func patternMember(name string, v doc.Value) (func(*session) bool, error) {
	d, isDoc := doc.AsDoc(v)
	switch {
	case name == "lsid" && isDoc:
		id, err := readUUID(doc.Lookup(d, "id"), "lsid.id")
		if err != nil {
			return nil, err
		}
		of := doc.Lookup(d, "uid")
		return func(x *session) bool { return x.key.id == id && (of.Type == 0 || isDigest(of, x)) }, nil
	case name == "uid" && v.Type == bsoncore.TypeBinary:
		return func(x *session) bool { return isDigest(v, x) }, nil
	case name == "users" && v.Type == bsoncore.TypeArray:
		return func(x *session) bool {
			for element := range doc.Elements(v) {
				d, _ := doc.AsDoc(element)
				name, _ := doc.AsString(doc.Lookup(d, "user"))
				database, _ := doc.AsString(doc.Lookup(d, "db"))
				if x.key.user.Name == name && x.key.user.Database == database {
					return true
				}
			}
			return false
		}, nil
	}
	return nil, code.New(code.UnknownFieldOfCommand,
		"BSON field 'killAllSessionsByPattern.killAllSessionsByPattern.%.200s' is an unknown field.", name)
}

func isDigest(v doc.Value, x *session) bool {
	_, data, _, ok := bsoncore.ReadBinary(v.Data)
	digest := x.key.user.Digest()
	return v.Type == bsoncore.TypeBinary && ok && bytes.Equal(data, digest[:])
}

// killMatching ends the sessions that match one of the documents in the argument, all if it is empty.
func (r *request) killMatching(test func(doc.Doc) (func(*session) bool, error)) error {
	values := r.list(r.name)
	if r.err != nil {
		return r.err
	}
	var tests []func(*session) bool
	for i, v := range values {
		d, ok := doc.AsDoc(v)
		if !ok {
			return r.wrongType(r.name+"."+indexName(i), v, "object")
		}
		one, err := test(d)
		if err != nil {
			return err
		}
		tests = append(tests, one)
	}
	return r.s.sessions.kill(r, r.s.sessions.choose(func(x *session) bool {
		for _, one := range tests {
			if one(x) {
				return true
			}
		}
		return len(tests) == 0
	}))
}
