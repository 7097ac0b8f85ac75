package command

import (
	"errors"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
)

func init() {
	register("saslContinue", command{run: saslContinue, help: "Goes on showing who the client is.", fields: fieldSet("conversationId payload"), open: true, secret: true})
}

func saslContinue(r *request, a *answer) error {
	v := r.c.auth.conversation
	if v == nil {
		return code.New(code.ProtocolError, "No SASL session state found")
	}
	if id, ok := doc.AsInt64Exact(r.get("conversationId")); !ok || id != conversationID {
		return code.New(code.ProtocolError, "sasl: Mismatched conversation id")
	}
	payload, err := v.readPayload(r.get("payload"))
	if err != nil {
		return err
	}
	if v.proven {
		if payload != "" {
			return r.c.deny(v.mechanism.name, v.user.database, v.user.name, errors.New("the last step is not empty"))
		}
		v.write(a, "", true)
		return r.c.become(v.user)
	}
	reply, err := v.end(payload)
	if err != nil {
		return r.c.deny(v.mechanism.name, v.user.database, v.user.name, err)
	}
	if v.skipEmpty {
		v.write(a, reply, true)
		return r.c.become(v.user)
	}
	v.write(a, reply, false)
	return nil
}
