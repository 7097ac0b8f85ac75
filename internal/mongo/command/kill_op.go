package command

import (
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/account"
	"github.com/mayflydb/mayfly/internal/mongo/code"
)

// killOp ends a request of the same user, or any request if the user has the right to. A user with that right gets ok
// even if no request has the number, because it may just have ended. For other users an unknown number and a request of
// somebody else fail alike, so that they learn nothing about numbers
// (mongodb/mongo: src/mongo/db/commands/kill_op_cmd_base.cpp, checkAuthForCommand).
func killOp(r *request, a *answer) error {
	v := r.Get("op")
	if v.Type == 0 {
		return code.New(code.MissingFieldOfCommand, "BSON field 'killOp.op' is missing but a required field")
	}
	n, ok := doc.AsInt64Exact(v)
	if !ok {
		return r.WrongType("op", v, "[long, int, decimal, double]")
	}
	if !endOperation(r, n) {
		if err := r.May(account.Administer, ""); err != nil {
			return err
		}
	}
	a.String("info", "attempting to kill op")
	return nil
}

// endOperation ends the request with that number. It reports false if there is none that the client may end.
func endOperation(r *request, opid int64) bool {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	for c := range r.s.connections {
		if c.end(r, opid) {
			return true
		}
	}
	return false
}

// end ends the connection's request if it has that number and the asker may do so.
func (c *connection) end(r *request, opid int64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.running == nil || int64(c.running.Number) != opid || r.s.o.Auth && !r.mayKill(c.user) {
		return false
	}
	c.cancel()
	return true
}
