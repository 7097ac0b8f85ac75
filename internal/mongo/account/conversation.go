package account

import (
	"crypto/hmac"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"strings"

	"github.com/xdg-go/scram"
)

// A Conversation is a SCRAM authentication that has begun: the client says who it is, the server answers with a salt,
// the client proves that it knows the password, and the server that it does.
// https://www.rfc-editor.org/rfc/rfc5802
type Conversation struct {
	Mechanism *Mechanism
	User      Identity // whom the client has named in the first step; it has proven that once Proven is set
	Proven    bool

	steps *scram.ServerConversation
	proof *proof
	first string // the first message of the client, without its header, and the answer: what the proof is made from
}

var errName = errors.New("the user name is not escaped as SCRAM demands")

// Converse begins a conversation with a client that wants to be a user of a database.
func (a *Accounts) Converse(m *Mechanism, database string) (*Conversation, error) {
	v := &Conversation{Mechanism: m}
	server, err := m.generator.NewServer(func(escaped string) (scram.StoredCredentials, error) {
		name, ok := unescapeName(escaped)
		if !ok {
			return scram.StoredCredentials{}, errName
		}
		// Clones, because both share memory with what the client has sent.
		v.User = Identity{Database: strings.Clone(database), Name: strings.Clone(name)}
		var err error
		if v.proof, v.User.Number, err = a.proofOf(m, v.User.Database, v.User.Name); err != nil {
			return scram.StoredCredentials{}, err
		}
		return v.proof.shown.scram(), nil
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

// First answers the first step.
func (v *Conversation) First(payload string) (reply string, err error) {
	if reply, err = v.steps.Step(payload); err != nil {
		return "", err
	}
	if other, ok := unescapeName(v.steps.AuthzID()); v.steps.AuthzID() != "" && (!ok || other != v.User.Name) {
		return "", errors.New("a user may not act for another")
	}
	if parts := strings.SplitN(payload, ",", 3); len(parts) == 3 { // flags, user to act for, the message
		v.first = parts[2] + "," + reply
	}
	return reply, nil
}

// LacksCredential reports, after the first step, that the user exists and has no credential for the mechanism.
func (v *Conversation) LacksCredential() bool { return v.User.Number != 0 && !v.proof.possible }

// Last answers the second step, in which the client proves that it knows the password.
func (v *Conversation) Last(payload string) (reply string, err error) {
	key, err := v.proof.check(func(c credential) bool { return v.provenBy(c, payload) }, func() (err error) {
		reply, err = v.steps.Step(payload)
		// A blank credential has keys of zeros. That no proof is right for it is not left to the library.
		if v.Proven = err == nil && v.steps.Valid() && v.proof.possible; !v.Proven && err == nil {
			err = errors.New("the proof is not right")
		}
		return err
	})
	if err == nil {
		v.User.Key = key
	}
	return reply, err
}

// provenBy reports whether the client has made the proof in its last message with the password of a credential. The
// conversation checks the proof again.
// https://www.rfc-editor.org/rfc/rfc5802#section-3
func (v *Conversation) provenBy(c credential, payload string) bool {
	message, text, _ := strings.Cut(payload, ",p=")
	proof, err := base64.StdEncoding.DecodeString(text)
	hash := v.Mechanism.hash
	if err != nil || len(proof) != hash().Size() {
		return false
	}
	signature := sign(hash, c.stored, v.first+","+message)
	subtle.XORBytes(proof, proof, signature)
	own := hash()
	own.Write(proof)
	return hmac.Equal(own.Sum(nil), c.stored)
}
