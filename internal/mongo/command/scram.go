package command

import (
	"crypto/hmac"
	"crypto/md5"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"strings"
	"sync"

	"github.com/xdg-go/scram"
	"github.com/xdg-go/stringprep"

	"github.com/mayflydb/mayfly/internal/mongo/code"
)

// A mechanism is a way for a client to show that it knows a password without sending it.
// https://github.com/mongodb/specifications/blob/master/source/auth/auth.md
type mechanism struct {
	name       string
	hash       func() hash.Hash
	generator  scram.HashGeneratorFcn
	saltBytes  int
	iterations int
	// prepare makes of a password what the mechanism takes for it.
	prepare func(user, password string) (string, error)
}

// mechanisms are those that the server has, as many iterations as MongoDB's.
var mechanisms = []*mechanism{
	{name: "SCRAM-SHA-1", hash: sha1.New, generator: scram.SHA1, saltBytes: 16, iterations: 10_000, prepare: digestPassword},
	{name: "SCRAM-SHA-256", hash: sha256.New, generator: scram.SHA256, saltBytes: 28, iterations: 15_000, prepare: prepPassword},
}

func mechanismNames() (names []string) {
	for _, m := range mechanisms {
		names = append(names, m.name)
	}
	return names
}

// mechanismOf finds by name; nil when the server does not have it.
func mechanismOf(name string) *mechanism {
	for _, m := range mechanisms {
		if m.name == name {
			return m
		}
	}
	return nil
}

// digestPassword is what SCRAM-SHA-1 has for a password, so that it could be used with the
// stored digests of servers before it.
func digestPassword(user, password string) (string, error) {
	sum := md5.Sum([]byte(user + ":mongo:" + password))
	return hex.EncodeToString(sum[:]), nil
}

func prepPassword(_, password string) (string, error) {
	prepared, err := stringprep.SASLprep.Prepare(password)
	if err != nil {
		return "", code.New(code.BadValue, "the password has characters that SASLprep does not allow")
	}
	return prepared, nil
}

// A credential is what is kept of a password for one mechanism. The password cannot be had from it.
type credential struct {
	mechanism  *mechanism
	iterations int
	salt       []byte
	stored     []byte
	server     []byte
}

// derive makes the credential of a password.
func (m *mechanism) derive(user, password string, salt []byte) (credential, error) {
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
	return credential{mechanism: m, iterations: m.iterations, salt: salt, stored: stored.Sum(nil), server: sign(m.hash, salted, "Server Key")}, nil
}

func sign(h func() hash.Hash, key []byte, text string) []byte {
	mac := hmac.New(h, key)
	mac.Write([]byte(text))
	return mac.Sum(nil)
}

// deriveAll makes the credentials of a password for some mechanisms, each with a salt of its own.
func deriveAll(user, password string, wanted []*mechanism) (list []credential, err error) {
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
	return scram.StoredCredentials{KeyFactors: scram.KeyFactors{Salt: string(c.salt), Iters: c.iterations}, StoredKey: c.stored, ServerKey: c.server}
}

// A secret is what the server knows and clients do not.
type secret struct {
	once sync.Once
	key  []byte
}

// of gives a number of bytes that a client cannot tell from random ones, always the same for
// the same text, also after a restart with the same account key.
func (s *Server) secretOf(text string, n int) []byte {
	s.secret.once.Do(func() {
		s.secret.key = sign(sha256.New, []byte(s.o.Key), "mayfly: salts")
		if s.o.Key == "" {
			_, _ = rand.Read(s.secret.key)
		}
	})
	return sign(sha256.New, s.secret.key, text)[:n]
}

// A conversation is an authentication that has begun.
type conversation struct {
	mechanism *mechanism
	steps     *scram.ServerConversation
	user      user
	proof     *proof
	known     bool // there is a proof that is right
	skipEmpty bool // the client wants no empty exchange at the end
	text      bool // payloads are strings in base 64
	proven    bool
}

var errName = errors.New("the user name is not escaped as SCRAM demands")

// converse begins a conversation.
func (s *Server) converse(m *mechanism, database string) (*conversation, error) {
	v := &conversation{mechanism: m}
	server, err := m.generator.NewServer(func(escaped string) (scram.StoredCredentials, error) {
		name, ok := unescapeName(escaped)
		if !ok {
			return scram.StoredCredentials{}, errName
		}
		v.user = user{database: strings.Clone(database), name: strings.Clone(name)}
		p, number, known, err := s.proofOf(m, database, v.user.name)
		if err != nil {
			return scram.StoredCredentials{}, err
		}
		v.proof, v.known, v.user.number = p, known, number
		return p.shown.scram(), nil
	})
	if err != nil {
		return nil, err
	}
	v.steps = server.NewConversation()
	return v, nil
}

// unescapeName undoes what SCRAM does to a comma and an equals sign.
// https://www.rfc-editor.org/rfc/rfc5802#section-5.1
func unescapeName(text string) (string, bool) {
	if text == "" || strings.Count(text, "=") != strings.Count(text, "=2C")+strings.Count(text, "=3D") {
		return "", false
	}
	return strings.NewReplacer("=2C", ",", "=3D", "=").Replace(text), true
}

// begin answers the first step.
func (v *conversation) begin(payload string) (string, error) {
	reply, err := v.steps.Step(payload)
	if err != nil {
		return "", err
	}
	if other, ok := unescapeName(v.steps.AuthzID()); v.steps.AuthzID() != "" && (!ok || other != v.user.name) {
		return "", errors.New("a user may not act for another")
	}
	return reply, nil
}

// end answers the last step, with which the client shows that it knows the password.
func (v *conversation) end(payload string) (reply string, err error) {
	err = v.proof.check(func() (err error) {
		reply, err = v.steps.Step(payload)
		if v.proven = err == nil && v.steps.Valid() && v.known; !v.proven && err == nil {
			err = errors.New("the proof is not right")
		}
		return err
	})
	return reply, err
}
