package command

import (
	"encoding/base64"
	"strings"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
)

func init() {
	register("saslStart", command{run: saslStart, help: "Begins to show who the client is.", fields: fieldSet("mechanism payload autoAuthorize options db"), open: true, secret: true})
}

func saslStart(r *request, a *answer) error {
	if r.c.auth.failures >= maxFailures {
		return errHangUp
	}
	if r.c.auth.conversation != nil {
		r.c.auth.failures++ // it has given up the one before
	}
	v, payload, err := r.c.startConversation(r.db, r.body)
	if err != nil {
		return err
	}
	v.write(a, payload, false)
	return nil
}

// startConversation takes the first step of an authentication that a saslStart or a handshake asks for.
func (c *connection) startConversation(database string, d doc.Doc) (*conversation, string, error) {
	c.auth.conversation = nil
	name, _ := doc.AsString(doc.Lookup(d, "mechanism"))
	m := mechanismOf(name)
	if m == nil {
		return nil, "", code.New(code.MechanismUnavailable, "Received authentication for mechanism %.50s which is unknown or not enabled", name)
	}
	v, err := c.s.converse(m, database)
	if err != nil {
		return nil, "", err
	}
	payload, err := v.readPayload(doc.Lookup(d, "payload"))
	if err != nil {
		return nil, "", err
	}
	v.skipEmpty, _ = doc.AsBool(doc.Lookup(docMember(d, "options"), "skipEmptyExchange"))
	reply, err := v.begin(payload)
	if err != nil {
		return nil, "", c.deny(m.name, database, v.user.name, err)
	}
	c.auth.conversation = v
	return v, reply, nil
}

// readPayload gives a copy of what the client has sent.
func (v *conversation) readPayload(payload doc.Value) (string, error) {
	if _, data, ok := payload.BinaryOK(); ok {
		return string(data), nil
	}
	text, ok := doc.AsString(payload)
	if !ok {
		return "", code.New(code.TypeMismatch, "BSON field 'payload' is the wrong type '%s', expected types '[binData, string']", code.TypeName(payload))
	}
	data, err := base64.StdEncoding.DecodeString(strings.TrimSpace(text))
	if err != nil {
		return "", code.New(code.BadValue, "the payload is not in base 64")
	}
	v.text = true
	return string(data), nil
}

// write answers a step.
func (v *conversation) write(a *answer, payload string, done bool) {
	a.int32("conversationId", conversationID)
	a.bool("done", done)
	if v.text {
		a.string("payload", base64.StdEncoding.EncodeToString([]byte(payload)))
		return
	}
	a.buf = bsoncore.AppendBinaryElement(a.buf, "payload", 0, []byte(payload))
}

// conversationID is that of every conversation: a connection has one at a time.
const conversationID = 1
