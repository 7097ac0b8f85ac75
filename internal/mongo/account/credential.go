package account

import (
	"crypto/hmac"
	"crypto/md5"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"hash"

	"github.com/xdg-go/scram"
	"github.com/xdg-go/stringprep"

	"github.com/mayflydb/mayfly/internal/mongo/code"
)

// A Mechanism is a way for a client to prove that it knows a password without sending it.
// https://github.com/mongodb/specifications/blob/master/source/auth/auth.md
type Mechanism struct {
	Name string

	hash       func() hash.Hash
	generator  scram.HashGeneratorFcn
	saltBytes  int
	iterations int
	// prepare turns a password into what the mechanism takes for it.
	prepare func(user, password string) (string, error)
}

// Mechanisms are those that the server has, with as many iterations as MongoDB's.
var Mechanisms = []*Mechanism{
	{
		Name: "SCRAM-SHA-1", hash: sha1.New, generator: scram.SHA1, prepare: digestPassword,
		saltBytes: 16, iterations: 10_000,
	},
	{
		Name: "SCRAM-SHA-256", hash: sha256.New, generator: scram.SHA256, prepare: prepPassword,
		saltBytes: 28, iterations: 15_000,
	},
}

// MechanismNames gives the names of mechanisms.
func MechanismNames(list []*Mechanism) (names []string) {
	for _, m := range list {
		names = append(names, m.Name)
	}
	return names
}

// MechanismNamed finds a mechanism; nil if the server does not have it.
func MechanismNamed(name string) *Mechanism {
	for _, m := range Mechanisms {
		if m.Name == name {
			return m
		}
	}
	return nil
}

// digestPassword is what SCRAM-SHA-1 takes for a password: the MD5 digest that servers before it stored, so that they
// could go over to SCRAM without knowing the password.
func digestPassword(user, password string) (string, error) {
	sum := md5.Sum([]byte(user + ":mongo:" + password))
	return hex.EncodeToString(sum[:]), nil
}

func prepPassword(_, password string) (string, error) {
	prepared, err := stringprep.SASLprep.Prepare(password)
	if err != nil {
		return "", code.New(code.BadValue, "The password has characters that SASLprep does not allow.")
	}
	return prepared, nil
}

// A credential is what is kept of a password for one mechanism. The password cannot be computed from it.
// https://www.rfc-editor.org/rfc/rfc5802#section-3
type credential struct {
	mechanism  *Mechanism
	iterations int
	salt       []byte
	stored     []byte
	server     []byte
}

// derive makes the credential of a password.
func (m *Mechanism) derive(user, password string, salt []byte) (credential, error) {
	prepared, err := m.prepare(user, password)
	if err != nil {
		return credential{}, err
	}
	salted, err := pbkdf2.Key(m.hash, prepared, salt, m.iterations, m.hash().Size())
	if err != nil {
		return credential{}, err
	}
	stored := m.hash()
	stored.Write(sign(m.hash, salted, "Client Key"))
	return credential{
		mechanism: m, iterations: m.iterations,
		salt: salt, stored: stored.Sum(nil), server: sign(m.hash, salted, "Server Key"),
	}, nil
}

func sign(h func() hash.Hash, key []byte, text string) []byte {
	mac := hmac.New(h, key)
	mac.Write([]byte(text))
	return mac.Sum(nil)
}

// deriveAll makes the credentials of a password for some mechanisms, each with a salt of its own.
func deriveAll(user, password string, wanted []*Mechanism) (list []credential, err error) {
	for _, m := range wanted {
		salt := make([]byte, m.saltBytes)
		_, _ = rand.Read(salt)
		c, err := m.derive(user, password, salt)
		if err != nil {
			return nil, err
		}
		list = append(list, c)
	}
	return list, nil
}

func (c credential) scram() scram.StoredCredentials {
	return scram.StoredCredentials{
		KeyFactors: scram.KeyFactors{Salt: string(c.salt), Iters: c.iterations},
		StoredKey:  c.stored, ServerKey: c.server,
	}
}
