package command

import (
	"errors"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
)

func saslContinue(r *request, a *answer) error {
	x := r.c.auth.exchange
	if x == nil {
		return code.New(code.ProtocolError, "No SASL session state found")
	}
	if id, ok := doc.AsInt64Exact(r.get("conversationId")); !ok || id != exchangeID {
		return code.New(code.ProtocolError, "sasl: Mismatched conversation id")
	}
	payload, err := x.readPayload(r.get("payload"))
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
