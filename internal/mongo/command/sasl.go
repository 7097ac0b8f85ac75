package command

import (
	"encoding/base64"
	"errors"
	"strings"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/account"
	"github.com/mayflydb/mayfly/internal/mongo/call"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/session"
)

// An exchange is a conversation over saslStart and saslContinue.
// https://github.com/mongodb/specifications/blob/master/source/auth/auth.md
type exchange struct {
	*account.Conversation
	skipEmpty bool // the client wants no empty step at the end
	text      bool // payloads are strings in base 64
}

// exchangeID is the id of every exchange: a connection has one at a time.
const exchangeID = 1

func saslStart(r *request, a *answer) error {
	if r.c.auth.failures >= maxFailures {
		return session.ErrHangUp
	}
	if r.c.auth.exchange != nil {
		r.c.auth.failures++ // it has abandoned the one before
	}
	x, reply, err := r.c.startExchange(r.DB, r.Body)
	if err != nil {
		return err
	}
	x.write(a, reply, false)
	return nil
}

// startExchange takes the first step of an authentication that a saslStart or a handshake asks for.
func (c *connection) startExchange(database string, d doc.Doc) (x *exchange, reply string, err error) {
	c.auth.exchange = nil
	name, _ := doc.AsString(doc.Lookup(d, "mechanism"))
	m := account.MechanismNamed(name)
	if m == nil {
		return nil, "", code.New(code.MechanismUnavailable,
			"Received authentication for mechanism %.50s which is unknown or not enabled", name)
	}
	conversation, err := c.s.accounts.Converse(m, database)
	if err != nil {
		return nil, "", err
	}
	x = &exchange{Conversation: conversation}
	payload, err := x.readPayload(doc.Lookup(d, "payload"))
	if err != nil {
		return nil, "", err
	}
	x.skipEmpty, _ = doc.AsBool(doc.Lookup(call.Member(d, "options"), "skipEmptyExchange"))
	if reply, err = x.First(payload); err != nil {
		return nil, "", c.deny(m.Name, account.Identity{Database: database, Name: x.User.Name}, err)
	}
	c.auth.exchange = x
	return x, reply, nil
}

// readPayload gives a copy of what the client has sent.
func (x *exchange) readPayload(payload doc.Value) (string, error) {
	if _, data, ok := payload.BinaryOK(); ok {
		return string(data), nil
	}
	text, ok := doc.AsString(payload)
	if !ok {
		return "", code.New(code.TypeMismatch,
			"BSON field 'payload' is the wrong type '%s', expected types '[binData, string']", code.TypeName(payload))
	}
	data, err := base64.StdEncoding.DecodeString(strings.TrimSpace(text))
	if err != nil {
		return "", code.New(code.BadValue, "the payload is not in base 64")
	}
	x.text = true
	return string(data), nil
}

// write answers a step, in the form in which the client has sent it.
func (x *exchange) write(a *answer, payload string, done bool) {
	a.Int32("conversationId", exchangeID)
	a.Bool("done", done)
	if x.text {
		a.String("payload", base64.StdEncoding.EncodeToString([]byte(payload)))
		return
	}
	a.Binary("payload", session.GenericBinary, []byte(payload))
}

func saslContinue(r *request, a *answer) error {
	x := r.c.auth.exchange
	if x == nil {
		return code.New(code.ProtocolError, "No SASL session state found")
	}
	if id, ok := doc.AsInt64Exact(r.Get("conversationId")); !ok || id != exchangeID {
		return code.New(code.ProtocolError, "sasl: Mismatched conversation id")
	}
	payload, err := x.readPayload(r.Get("payload"))
	if err != nil {
		return err
	}
	if x.Proven {
		if payload != "" {
			return r.c.deny(x.Mechanism.Name, x.User, errors.New("the last step is not empty"))
		}
		x.write(a, "", true)
		return r.c.logIn(x.User)
	}
	reply, err := x.Last(payload)
	if err != nil {
		return r.c.deny(x.Mechanism.Name, x.User, err)
	}
	x.write(a, reply, x.skipEmpty)
	if x.skipEmpty {
		return r.c.logIn(x.User)
	}
	return nil
}
