package command

import (
	"cmp"
	"context"
	"errors"
	"runtime/debug"
	"strings"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/clock"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/expression"
	"github.com/mayflydb/mayfly/internal/mongo/session"
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
	r := request{s: c.s, c: c, arguments: arguments{msg: m, body: m.Body}}
	r.Operation = session.Operation{Node: c.s.Node, Host: &r, Memory: &c.memory, Since: clock.Start(), Stop: c.stopped, Hold: c.hold}
	r.Trace.On = c.s.slow.Load() > 0
	defer r.over()
	c.memory.Begin()
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
	if errors.Is(err, session.ErrHangUp) {
		return false, false
	}
	if err != nil {
		e := labelError(&r, err)
		r.Status = e.Code
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
	frame := a.End()
	a.settle()
	c.memory.End()
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
			c.s.Log.Error("command panicked", "command", r.Name, "panic", p, "stack", string(debug.Stack()))
			err = leaveSession(r, a, code.New(code.InternalError, "An internal error occurred. The server's log has more."))
		}
	}()
	return c.run(r, a)
}

// over is called when the request has its answer.
func (r *request) over() {
	r.Done = true
	r.c.memory.Context = r.s.Running
	r.c.memory.End()
	took := r.Since.Elapsed() - r.Waited
	account := r.counted
	if account == nil {
		account = r.s.unknown
	}
	account.done(int(r.Status), took)
	logRequest(r, took)
}

// complete writes what every answer ends with.
func (c *connection) complete(r *request, a *answer, ok bool) {
	if ok && !r.answered {
		a.Double("ok", 1)
	}
	writeClusterTime(r, a)
}

// run finds the command and lets it answer.
func (c *connection) run(r *request, a *answer) error {
	if err := r.begin(); err != nil {
		return err
	}
	cmd, known := r.s.commands[r.Name]
	if !known {
		return code.New(code.CommandNotFound, "no such command: '%s'", r.Name)
	}
	r.command, r.Name, r.title = cmd, cmd.name, cmd.name
	r.counted = c.s.counts[r.Name]
	r.counted.begun.Add(1)
	if r.msg.Op == wire.OpQuery && !cmd.greets {
		return code.New(code.UnsupportedOpQueryCommand, "Unsupported OP_QUERY command: %s. The client driver may require an upgrade. "+
			"For more details see https://dochub.mongodb.org/core/legacy-opcode-removal", r.Name)
	}
	if err := checkAPI(r); err != nil {
		return err
	}
	if err := checkNames(r); err != nil {
		return err
	}
	if err := r.authorize(); err != nil {
		return err
	}
	if cmd.test && !c.s.o.TestCommands {
		return code.New(code.CommandNotFound, "no such command: '%s'", r.Name)
	}
	if r.help {
		a.String("help", "help for: "+r.Name+" "+cmd.help)
		return nil
	}
	if err := r.checkFields(); err != nil {
		return err
	}
	ctx := c.s.Running
	var cancel context.CancelFunc
	if r.MaxTime > 0 && !cmd.waits && hitFailPoint(r, maxTimeNeverTimeOut) == nil {
		if hitFailPoint(r, maxTimeAlwaysTimeOut) != nil {
			return session.Translate(context.DeadlineExceeded)
		}
		ctx, cancel = context.WithTimeout(ctx, r.MaxTime)
	} else {
		ctx, cancel = context.WithCancel(ctx)
	}
	defer cancel()
	if !c.start(r, cancel) {
		return code.New(code.InterruptedAtShutdown, "interrupted at shutdown")
	}
	defer c.start(nil, nil)
	r.Context, r.cancel, c.memory.Context = ctx, cancel, ctx
	defer r.unwatch()
	if err := applyFailCommand(r); err != nil {
		return err
	}
	err := joinSession(r, a)
	if err == nil && !r.repeated {
		err = cmp.Or(cmd.run(r, a), r.err)
	}
	if err == nil {
		c.s.usage.note(r)
	}
	if err = leaveSession(r, a, err); err == nil && r.severed {
		return session.ErrHangUp
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
	r.At = r.s.o.Clock.Now()
	r.Now = r.At.Unix()
	first := true
	for name, v := range doc.Members(r.body) {
		if first {
			r.Name, r.title, r.arg, first = name, name, v, false
			continue
		}
		if err := r.generic(name, v); err != nil {
			return err
		}
	}
	if first {
		return code.New(code.CommandNotFound, "no such command: ''")
	}
	if alias, ok := aliases[r.Name]; ok {
		r.Name, r.title = alias, alias
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
		return readMaxTime(r, v)
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
		return r.API.Read(name, v)
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
	if r.Strict() {
		if err := checkStableFields(r); err != nil {
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
			return code.New(code.UnknownFieldOfCommand, "BSON field '%s.%s' is an unknown field.", r.Name, name)
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
