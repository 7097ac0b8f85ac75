package command

import (
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
)

func init() {
	register("killOp", command{run: killOp, help: "Ends a running request.", fields: fieldSet("op"), admin: true, needs: anyAction})
}

// killOp succeeds too when no request has that number, since it may just have ended.
func killOp(r *request, a *answer) error {
	v := r.get("op")
	if v.Type == 0 {
		return code.New(code.MissingFieldOfCommand, "BSON field 'killOp.op' is missing but a required field")
	}
	n, ok := doc.AsInt64Exact(v)
	if !ok {
		return r.wrongType("op", v, "[long, int, decimal, double]")
	}
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	for c := range r.s.connections {
		if err := c.end(r, n); err != nil {
			return err
		}
	}
	a.string("info", "attempting to kill op")
	return nil
}

// end ends the connection's request if it has that number and the asker may do so.
func (c *connection) end(r *request, opid int64) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.running == nil || int64(c.running.opid) != opid {
		return nil
	}
	if r.s.o.Auth && !r.mayKill(c.user) {
		return r.may(serverAction, "")
	}
	c.cancel()
	return nil
}
