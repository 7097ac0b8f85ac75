package command

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"sync"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/mongo/code"
)

// accountUser is the name of the account's own user that lists of users have, on the database admin; see
// keyring for others. It is not kept: a new key is its new password.
const accountUser = "mayfly"

const adminDatabase = "admin"

var accountRoles = []role{{name: "root", database: adminDatabase}}

// A userRecord is what is kept of a user, as a document of MongoDB's admin.system.users has it.
// https://www.mongodb.com/docs/v7.0/reference/system-users-collection/
type userRecord struct {
	id          [16]byte // a UUID: another user of that name has another one
	database    string
	name        string
	credentials []credential
	roles       []role
	customData  doc.Doc
}

// uuidSubtype is the kind of binary that a UUID is.
const uuidSubtype = 4

func newUserRecord(database, name string) *userRecord {
	u := &userRecord{database: database, name: name}
	_, _ = rand.Read(u.id[:])
	u.id[6], u.id[8] = u.id[6]&0x0f|0x40, u.id[8]&0x3f|0x80
	return u
}

// document is the record as it is kept.
func (u *userRecord) document() doc.Doc {
	a := newAnswer(nil)
	u.describe(a)
	u.writeCredentials(a)
	a.roles("roles", u.roles)
	if u.customData != nil {
		a.doc("customData", u.customData)
	}
	return a.end()
}

// describe writes who it is.
func (u *userRecord) describe(a *answer) {
	a.string("_id", u.database+"."+u.name)
	a.buf = bsoncore.AppendBinaryElement(a.buf, "userId", uuidSubtype, u.id[:])
	a.string("user", u.name)
	a.string("db", u.database)
}

func (u *userRecord) writeCredentials(a *answer) {
	a.object("credentials")
	for _, c := range u.credentials {
		a.object(c.mechanism.name)
		a.int32("iterationCount", c.iterations)
		a.string("salt", base64.StdEncoding.EncodeToString(c.salt))
		a.string("storedKey", base64.StdEncoding.EncodeToString(c.stored))
		a.string("serverKey", base64.StdEncoding.EncodeToString(c.server))
		a.close()
	}
	a.close()
}

// readUser reads a record that document has made. It owns its memory.
func readUser(body doc.Doc) *userRecord {
	body = bytes.Clone(body)
	u := &userRecord{customData: docMember(body, "customData")}
	u.name, _ = doc.AsString(doc.Lookup(body, "user"))
	u.database, _ = doc.AsString(doc.Lookup(body, "db"))
	if _, id, ok := doc.Lookup(body, "userId").BinaryOK(); ok {
		copy(u.id[:], id)
	}
	for name, v := range doc.Members(docMember(body, "credentials")) {
		if d, ok := doc.AsDoc(v); ok && mechanismOf(name) != nil {
			u.credentials = append(u.credentials, readCredential(mechanismOf(name), d))
		}
	}
	for v := range doc.Elements(doc.Lookup(body, "roles")) {
		if d, ok := doc.AsDoc(v); ok {
			u.roles = append(u.roles, role{name: textOf(d, "role"), database: textOf(d, "db")})
		}
	}
	return u
}

func readCredential(m *mechanism, d doc.Doc) credential {
	decoded := func(name string) []byte {
		b, _ := base64.StdEncoding.DecodeString(textOf(d, name))
		return b
	}
	n, _ := doc.AsInt(doc.Lookup(d, "iterationCount"))
	return credential{mechanism: m, iterations: int(n), salt: decoded("salt"), stored: decoded("storedKey"), server: decoded("serverKey")}
}

func textOf(d doc.Doc, name string) string {
	s, _ := doc.AsString(doc.Lookup(d, name))
	return s
}

// mechanisms are the names of those that the user has a credential for.
func (u *userRecord) mechanisms() (names []string) {
	for _, c := range u.credentials {
		names = append(names, c.mechanism.name)
	}
	return names
}

// The record of the account's own user, which is made when it is first asked for, since
// that takes some milliseconds.
type account struct {
	once   sync.Once
	record *userRecord
}

func (s *Server) accountRecord() *userRecord {
	s.account.once.Do(func() {
		u := newUserRecord(adminDatabase, accountUser)
		copy(u.id[:], s.secretOf("account", len(u.id)))
		u.roles = accountRoles
		for _, m := range mechanisms {
			if c, err := m.derive(accountUser, s.o.Key, s.saltOf(m, adminDatabase, accountUser)); err == nil && s.o.Key != "" {
				u.credentials = append(u.credentials, c)
			}
		}
		s.account.record = u
	})
	return s.account.record
}

func isAccount(database, name string) bool { return database == adminDatabase && name == accountUser }

// findUser gives what is kept of a user, nil when there is none.
func (s *Server) findUser(database, name string) (*userRecord, uint64, error) {
	if isAccount(database, name) {
		return s.accountRecord(), 0, nil
	}
	found, err := s.o.Catalog.Resource(catalog.MongoUser, catalog.Owner{}, database+"."+name)
	if isNotFound(err) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, err
	}
	return readUser(found.Body), found.Number, nil
}

// users lists all that are kept, and the account's own.
func (s *Server) users() []*userRecord {
	list := []*userRecord{s.accountRecord()}
	for _, r := range s.o.Catalog.Resources(catalog.MongoUser, catalog.Owner{}) {
		list = append(list, readUser(r.Body))
	}
	return list
}

// maxUserTries bounds how often a change of a user is tried again because another came between.
const maxUserTries = 100

// changeUser changes what is kept of a user, or with remove takes it away.
func (r *request) changeUser(name string, change func(*userRecord) error, remove bool) error {
	if isAccount(r.db, name) {
		return code.New(code.Unauthorized, "The user '%s' belongs to the account and cannot be changed by clients", name)
	}
	cat := r.s.o.Catalog
	for range maxUserTries {
		old, err := cat.Resource(catalog.MongoUser, catalog.Owner{}, r.db+"."+name)
		if isNotFound(err) {
			return code.New(code.UserNotFound, "User '%s@%s' not found", name, r.db)
		}
		if err != nil {
			return err
		}
		if remove {
			err = cat.DeleteResource(r.ctx, old)
		} else {
			u := readUser(old.Body)
			if err := change(u); err != nil {
				return err
			}
			_, err = cat.ReplaceResource(r.ctx, r.now, old, old.Name, u.document())
		}
		if fault.KindOf(err) != fault.Precondition {
			return err
		}
	}
	return code.New(code.OperationFailed, "the user '%s' is being changed too often", name)
}

// rolesOf gives the roles of somebody who has shown who it is.
func (s *Server) rolesOf(u user) ([]role, error) {
	if u.number == 0 {
		return accountRoles, nil
	}
	record, number, err := s.findUser(u.database, u.name)
	if err != nil || record == nil || number != u.number {
		return nil, err
	}
	return record.roles, nil
}
