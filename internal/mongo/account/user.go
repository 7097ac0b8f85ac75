package account

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/keyring"
	"github.com/mayflydb/mayfly/internal/mongo/code"
)

// An Identity is who a client has proven to be. It can be compared, and be the key of a map.
type Identity struct {
	Database string
	Name     string
	// Number identifies the user's record, so that a later user of the same name is somebody else. It is 0 for all
	// names that an account key has opened.
	Number uint64
	// Key is that account key, whose rights they have; nil for a user.
	Key *keyring.Key
}

// String is the identity in words, for people.
func (id Identity) String() string {
	name := id.Name + "@" + id.Database
	if id.Key != nil {
		name += " by key " + string(id.Key.Name)
	}
	return name
}

// Digest stands for the identity in the ids of sessions. The zero value, of clients without authentication, has one
// too. mongodb/specifications: source/sessions/driver-sessions.md
func (id Identity) Digest() [sha256.Size]byte {
	if id.Name == "" {
		return sha256.Sum256(nil)
	}
	return sha256.Sum256([]byte(id.Name + "@" + id.Database))
}

// A User is what is kept of a user, as a document like those in MongoDB's admin.system.users.
// https://www.mongodb.com/docs/v7.0/reference/system-users-collection/
type User struct {
	Database   string
	Name       string
	Roles      []Role
	CustomData doc.Doc // nil for none

	id          [16]byte // a random UUID, so that a later user of the same name has another one
	credentials []credential
}

// Limits in bytes.
const (
	maxName     = 256
	maxPassword = 1024
)

// uuidSubtype is the kind of binary data that a UUID is. https://bsonspec.org/spec.html
const uuidSubtype = 4

// NewUser makes a user that is not kept yet, without a password and roles.
func NewUser(database, name string) *User {
	u := &User{Database: database, Name: name}
	_, _ = rand.Read(u.id[:])
	u.id[6], u.id[8] = u.id[6]&0x0f|0x40, u.id[8]&0x3f|0x80 // version and variant: RFC 9562 section 5.4
	return u
}

// CheckName refuses names that a user cannot have.
func CheckName(name string) error {
	switch {
	case name == "":
		return code.New(code.BadValue, "User document needs 'user' field to be non-empty")
	case len(name) > maxName || strings.IndexByte(name, 0) >= 0:
		return code.New(code.BadValue, "The name of a user must have at most %d bytes and no null characters.", maxName)
	}
	return nil
}

// CheckPassword refuses passwords that a user cannot have.
func CheckPassword(password string) error {
	switch {
	case password == "":
		return code.New(code.BadValue, "Password cannot be empty")
	case len(password) > maxPassword:
		return code.New(code.BadValue, "A password must have at most %d bytes.", maxPassword)
	}
	return nil
}

// Mechanisms are those by which the user can prove its password.
func (u *User) Mechanisms() (list []*Mechanism) {
	for _, c := range u.credentials {
		list = append(list, c.mechanism)
	}
	return list
}

// SetPassword replaces the credentials of the user by those of a password, for some mechanisms.
func (u *User) SetPassword(password string, wanted []*Mechanism) (err error) {
	u.credentials, err = deriveAll(u.Name, password, wanted)
	return err
}

// KeepMechanisms drops the credentials for all mechanisms but some. Without the password none can be added.
func (u *User) KeepMechanisms(wanted []*Mechanism) error {
	present := u.Mechanisms()
	for _, m := range wanted {
		if !slices.Contains(present, m) {
			return code.New(code.BadValue, "mechanisms field must be a subset of previously set mechanisms")
		}
	}
	u.credentials = slices.DeleteFunc(u.credentials, func(c credential) bool {
		return !slices.Contains(wanted, c.mechanism)
	})
	return nil
}

// Describe gives the members that say who the user is.
func (u *User) Describe() doc.Doc { return u.identity().Build() }

func (u *User) identity() *bsoncore.DocumentBuilder {
	return bsoncore.NewDocumentBuilder().
		AppendString("_id", u.Database+"."+u.Name).
		AppendBinary("userId", uuidSubtype, u.id[:]).
		AppendString("user", u.Name).
		AppendString("db", u.Database)
}

// Credentials gives what is kept of the password, by mechanism.
func (u *User) Credentials() doc.Doc {
	d := bsoncore.NewDocumentBuilder()
	for _, c := range u.credentials {
		d.AppendDocument(c.mechanism.Name, bsoncore.NewDocumentBuilder().
			AppendInt32("iterationCount", int32(c.iterations)).
			AppendString("salt", base64.StdEncoding.EncodeToString(c.salt)).
			AppendString("storedKey", base64.StdEncoding.EncodeToString(c.stored)).
			AppendString("serverKey", base64.StdEncoding.EncodeToString(c.server)).
			Build())
	}
	return d.Build()
}

// document is the user as it is kept.
func (u *User) document() doc.Doc {
	d := u.identity().
		AppendDocument("credentials", u.Credentials()).
		AppendValue("roles", ListRoles(u.Roles))
	if u.CustomData != nil {
		d.AppendDocument("customData", u.CustomData)
	}
	return d.Build()
}

// readUser reads what document has made. The user owns its memory.
func readUser(body doc.Doc) *User {
	body = bytes.Clone(body)
	u := &User{Name: text(body, "user"), Database: text(body, "db")}
	u.CustomData, _ = doc.AsDoc(doc.Lookup(body, "customData"))
	if _, id, ok := doc.Lookup(body, "userId").BinaryOK(); ok {
		copy(u.id[:], id)
	}
	credentials, _ := doc.AsDoc(doc.Lookup(body, "credentials"))
	for name, v := range doc.Members(credentials) {
		if d, ok := doc.AsDoc(v); ok && MechanismNamed(name) != nil {
			u.credentials = append(u.credentials, readCredential(MechanismNamed(name), d))
		}
	}
	for v := range doc.Elements(doc.Lookup(body, "roles")) {
		if d, ok := doc.AsDoc(v); ok {
			u.Roles = append(u.Roles, Role{Name: text(d, "role"), Database: text(d, "db")})
		}
	}
	return u
}

func readCredential(m *Mechanism, d doc.Doc) credential {
	decoded := func(name string) []byte {
		b, _ := base64.StdEncoding.DecodeString(text(d, name))
		return b
	}
	n, _ := doc.AsInt(doc.Lookup(d, "iterationCount"))
	return credential{
		mechanism: m, iterations: int(n),
		salt: decoded("salt"), stored: decoded("storedKey"), server: decoded("serverKey"),
	}
}

// text gives a member that is a string, "" if it is something else.
func text(d doc.Doc, name string) string {
	s, _ := doc.AsString(doc.Lookup(d, name))
	return s
}
