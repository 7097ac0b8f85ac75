package command

import (
	"context"
	"errors"
	"runtime/debug"
	"strings"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/clock"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/expression"
	"github.com/mayflydb/mayfly/internal/mongo/wire"
)

// handle answers one request; false ends the connection.
func (c *connection) handle(m *wire.Message) bool {
	for {
		goOn, follows := c.answer(m)
		if !follows {
			return goOn
		}
		if m.ID = c.replyID; c.flush() != nil {
			return false
		}
	}
}

// answer answers a request once. Another answer follows that one when the client lets it.
func (c *connection) answer(m *wire.Message) (goOn, follows bool) {
	r := request{s: c.s, c: c, msg: m, body: m.Body, since: clock.Start()}
	defer r.over()
	c.memory.begin()
	silent := m.MoreToCome()
	var a *answer
	if silent {
		a = newAnswer(nil)
	} else {
		c.replyID++
		a = newAnswer(c.writer.Begin(m, c.replyID, 0))
		a.memory = &c.memory
	}
	err := c.guarded(&r, a)
	if errors.Is(err, errHangUp) {
		return false, false
	}
	if err != nil {
		e := r.label(err)
		r.status = e.Code
		a.fail(e)
	}
	c.complete(&r, a, err == nil)
	if silent {
		return true, false
	}
	follows = err == nil && r.more
	if follows {
		a.promise()
	}
	frame := a.end()
	a.settle()
	c.memory.over()
	if err := c.writer.End(frame); err != nil {
		if e, ok := errors.AsType[*wire.Error](err); ok && !e.Fatal {
			c.refuse(m, e)
			return true, false
		}
		return false, false
	}
	return true, follows
}

// guarded runs a command. A defect in one must not end the process for everybody.
func (c *connection) guarded(r *request, a *answer) (err error) {
	defer func() {
		if p := recover(); p != nil {
			c.s.log.Error("command panicked", "command", r.name, "panic", p, "stack", string(debug.Stack()))
			err = r.leave(a, code.New(code.InternalError, "An internal error occurred. See the log of the server."))
		}
	}()
	return c.run(r, a)
}

// errHangUp ends the connection without an answer: what a fail point asks for.
var errHangUp = errors.New("hang up")

// over is called when the request has its answer.
func (r *request) over() {
	r.done = true
	r.c.memory.ctx = r.s.running
	r.c.memory.over()
	took := r.since.Elapsed() - r.waited
	account := r.counted
	if account == nil {
		account = r.s.unknown
	}
	account.done(int(r.status), took)
	r.log(took)
}

// complete writes what every answer ends with.
func (c *connection) complete(r *request, a *answer, ok bool) {
	if ok && !r.answered {
		a.double("ok", 1)
	}
	r.gossip(a)
}

// run finds the command and lets it answer.
func (c *connection) run(r *request, a *answer) error {
	if err := r.begin(); err != nil {
		return err
	}
	cmd, known := c.s.commands[r.name]
	if !known {
		return code.New(code.CommandNotFound, "no such command: '%s'", r.name)
	}
	r.command, r.name = cmd, cmd.name
	r.counted = c.s.counts[r.name]
	r.counted.begun.Add(1)
	if r.msg.Op == wire.OpQuery && !cmd.greets {
		return code.New(code.UnsupportedOpQueryCommand, "Unsupported OP_QUERY command: %s. The client driver may require an upgrade. "+
			"For more details see https://dochub.mongodb.org/core/legacy-opcode-removal", r.name)
	}
	if err := r.checkAPI(); err != nil {
		return err
	}
	if err := r.checkNames(); err != nil {
		return err
	}
	if err := r.authorize(); err != nil {
		return err
	}
	if cmd.test && !c.s.o.TestCommands {
		return code.New(code.CommandNotFound, "no such command: '%s'", r.name)
	}
	if r.help {
		a.string("help", "help for: "+r.name+" "+cmd.help)
		return nil
	}
	if err := r.checkFields(); err != nil {
		return err
	}
	ctx, cancel := c.s.running, context.CancelFunc(func() {})
	if r.maxTime > 0 && !cmd.waits && r.hit(maxTimeNeverTimeOut) == nil {
		if r.hit(maxTimeAlwaysTimeOut) != nil {
			return translate(context.DeadlineExceeded)
		}
		ctx, cancel = context.WithTimeout(ctx, r.maxTime)
	} else {
		ctx, cancel = context.WithCancel(ctx)
	}
	defer cancel()
	if !c.start(r, cancel) {
		return code.New(code.InterruptedAtShutdown, "interrupted at shutdown")
	}
	defer c.start(nil, nil)
	r.ctx, r.cancel, c.memory.ctx = ctx, cancel, ctx
	defer r.unwatch()
	if err := r.fails(); err != nil {
		return err
	}
	err := r.join(a)
	if err == nil && !r.repeated {
		err = cmpOr(cmd.run(r, a), r.err)
	}
	if err == nil {
		c.s.usage.note(r)
	}
	if err = r.leave(a, err); err == nil && r.severed {
		return errHangUp
	}
	return err
}

// start notes which request runs, if any, and how to end it; false when the connection is being ended.
func (c *connection) start(r *request, cancel context.CancelFunc) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cancel, c.running = cancel, r
	if r != nil {
		r.opid = c.s.lastOp.Add(1)
	}
	return !c.gone
}

// begin reads what every command has.
func (r *request) begin() error {
	r.at = r.s.o.Clock.Now()
	r.now = r.at.Unix()
	first := true
	for name, v := range doc.Members(r.body) {
		if first {
			r.name, r.arg, first = name, v, false
			continue
		}
		if err := r.generic(name, v); err != nil {
			return err
		}
	}
	if first {
		return code.New(code.CommandNotFound, "no such command: ''")
	}
	if alias, ok := aliases[r.name]; ok {
		r.name = alias
	}
	if r.msg.Op == wire.OpQuery {
		db, rest, _ := strings.Cut(r.msg.Collection, ".")
		if rest != "$cmd" {
			return code.New(code.UnsupportedOpQueryCommand, "Unsupported OP_QUERY command: query. The client driver may require an upgrade. "+
				"For more details see https://dochub.mongodb.org/core/legacy-opcode-removal")
		}
		r.db = strings.Clone(db)
	}
	if r.db == "" {
		return code.New(code.MissingFieldOfCommand, "OP_MSG requests require a $db argument")
	}
	return checkDatabaseName(r.db)
}

// generic takes in a member that any command may have.
func (r *request) generic(name string, v doc.Value) error {
	switch name {
	case "$db":
		s, ok := doc.AsString(v)
		if !ok {
			return r.wrongType(name, v, "string")
		}
		r.db = strings.Clone(s)
	case "maxTimeMS":
		return r.readMaxTime(v)
	case "lsid":
		r.lsid = v
	case "txnNumber":
		n, ok := doc.AsInt64Exact(v)
		if !ok || v.Type != bsoncore.TypeInt64 {
			return r.wrongType(name, v, "long")
		}
		r.txnNumber, r.hasTxn = n, true
	case "autocommit":
		r.autocommit = v
	case "startTransaction":
		r.startsTxn = v
	case "$clusterTime":
		r.gossiped = v
	case "help":
		r.help = expression.Truthy(v)
	case "readConcern":
		r.readConcern = v
	case "writeConcern":
		r.writeConcern = v
	case "apiVersion", "apiStrict", "apiDeprecationErrors":
		return r.api.read(name, v)
	}
	return nil
}

// genericFields are members that every command takes, whether it has a use for them or not.
var genericFields = fieldSet(`$db $readPreference $clusterTime $audit $client $configTime $topologyTime $queryOptions lsid txnNumber autocommit
	startTransaction stmtId stmtIds comment maxTimeMS maxAwaitTimeMS apiVersion apiStrict apiDeprecationErrors readConcern writeConcern
	bypassDocumentValidation bypassEmptyTsReplacement rawData errorsOnly mayBypassWriteBlocking allowImplicitCollectionCreation
	isTimeseriesNamespace databaseVersion shardVersion readOnce`)

// checkFields refuses members that the command does not have.
func (r *request) checkFields() error {
	if r.strict() {
		if err := r.checkStableFields(); err != nil {
			return err
		}
	}
	if r.command.loose {
		return nil
	}
	first := true
	for name := range doc.Members(r.body) {
		if first {
			first = false
			continue
		}
		if !r.command.fields[name] && !genericFields[name] {
			return code.New(code.UnknownFieldOfCommand, "BSON field '%s.%s' is an unknown field.", r.name, name)
		}
	}
	return nil
}

func fieldSet(text string) map[string]bool {
	set := map[string]bool{}
	for _, name := range strings.Fields(text) {
		set[name] = true
	}
	return set
}
