package command

import (
	"cmp"
	"context"
	"errors"
	"runtime/debug"
	"strings"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/clock"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/call"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/failpoint"
	"github.com/mayflydb/mayfly/internal/mongo/monitor"
	"github.com/mayflydb/mayfly/internal/mongo/session"
	"github.com/mayflydb/mayfly/internal/mongo/wire"
)

// handle answers one request; false ends the connection.
func (c *connection) handle(m *wire.Message) bool {
	c.traffic.In.Add(int64(m.Bytes))
	c.traffic.Requests.Add(1)
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
	c.requests.Add(1)
	r := request{s: c.s, c: c, anonymous: c.s.o.Auth && c.user == nil}
	r.Message, r.Body, r.Client = m, m.Body, &r
	r.Operation = session.Operation{
		Node: c.s.Node, Host: &r, Memory: &c.memory, Since: clock.Start(), Stop: c.stopped, Hold: c.hold,
		Planned: &c.planned,
	}
	if c.balanced {
		r.Connection = c.id
	}
	r.Trace.On = c.s.monitor.Slow() > 0 || c.s.monitor.Profiler.On()
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
	err := c.perform(&r, a)
	if errors.Is(err, session.ErrHangUp) {
		return false, false
	}
	if silent {
		return true, false
	}
	follows = err == nil && r.more
	if follows {
		a.promise()
	}
	frame := a.End()
	if r.Trace.On {
		r.Trace.Answered(doc.Doc(frame[a.Start():]))
	}
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

// perform runs a command and writes its answer, within the gate.
func (c *connection) perform(r *request, a *answer) error {
	c.s.o.Gate.Enter()
	defer c.s.o.Gate.Leave()
	err := c.guarded(r, a)
	if errors.Is(err, session.ErrHangUp) {
		return err
	}
	if err != nil {
		e := call.LabelError(&r.Request, err)
		r.Status = e.Code
		if session.Undetermined(e) && (r.Traits.Retryable || call.Confirms(&r.Request)) {
			a.unknown(r, e)
			c.complete(r, a, true)
			return err
		}
		a.fail(e)
	}
	c.complete(r, a, err == nil)
	return err
}

// guarded runs a command. A defect in one must not end the process for everybody.
func (c *connection) guarded(r *request, a *answer) (err error) {
	defer func() {
		if p := recover(); p != nil {
			c.s.monitor.Failures.Defects.Add(1)
			c.s.Log.Error("command panicked", "command", r.Name, "panic", p, "stack", string(debug.Stack()))
			err = leaveSession(r, a, code.New(code.InternalError,
				"An internal error occurred. The server's log has more."))
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
	counter, known := r.counter, r.counter != nil
	if !known {
		counter = r.s.monitor.Requests.Unknown
	}
	counter.Done(int(r.Status), took)
	if r.Status != 0 {
		r.s.monitor.Failures.Requests.Add(1)
	}
	r.s.monitor.LogRequest(&r.Request, known, r.c.id, took)
	if known && !r.anonymous && r.s.monitor.Profiler.On() {
		from := r.c.described()
		r.s.monitor.Profiler.Record(&r.Request, &from, took)
	}
	monitor.EndSpan(&r.span, &r.Request)
}

// complete writes what every answer ends with.
func (c *connection) complete(r *request, a *answer, ok bool) {
	if ok && !r.answered {
		a.Double("ok", 1)
	}
	call.WriteClusterTime(c.base, &r.Request, &a.Writer)
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
	r.use(cmd)
	r.counter = c.s.monitor.Requests.Of(r.Name)
	r.counter.Begun.Add(1)
	if r.Message.Op == wire.OpQuery && !cmd.greets {
		return code.New(code.UnsupportedOpQueryCommand,
			"Unsupported OP_QUERY command: %s. The client driver may require an upgrade. "+
				"For more details see https://dochub.mongodb.org/core/legacy-opcode-removal", r.Name)
	}
	if err := call.CheckAPI(&r.Request, r.s.parameters.RequiresAPI()); err != nil {
		return err
	}
	if err := call.CheckNames(&r.Request); err != nil {
		return err
	}
	// A handshake that names no user asks for nothing that a change of the catalog could concern.
	if !cmd.greets || r.Get("saslSupportedMechs").Type != 0 || r.Get("speculativeAuthenticate").Type != 0 {
		var guess *catalog.Container
		if name := r.ContainerName(); name != "" && r.Node.Shares {
			guess, _ = r.Node.Find(r.DB, name) // whoever uses it looks again
		}
		var err error
		if r.Moment, err = r.Node.Catalog.Begin(c.base, r.At, guess); err != nil {
			return session.Translate(err)
		}
		r.At, r.Now = r.Moment.Time, r.Moment.Time.Unix()
	}
	if err := r.authorize(); err != nil {
		return err
	}
	if cmd.test && !c.s.o.TestCommands {
		return code.New(code.CommandNotFound, "no such command: '%s'", r.Name)
	}
	if r.Help {
		a.String("help", "help for: "+r.Name+" "+cmd.help)
		return nil
	}
	if err := r.checkFields(); err != nil {
		return err
	}
	ctx := c.base
	var cancel context.CancelFunc
	if r.MaxTime > 0 && !cmd.waits && r.s.failing.Hit(&r.Request, failpoint.MaxTimeNeverTimeOut) == nil {
		if r.s.failing.Hit(&r.Request, failpoint.MaxTimeAlwaysTimeOut) != nil {
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
	ctx = r.startSpan(ctx)
	r.Context, r.cancel, c.memory.Context = ctx, cancel, ctx
	defer r.unwatch()
	if err := r.s.failing.FailCommand(&r.Request); err != nil {
		return err
	}
	err := joinSession(r, a)
	if err == nil && !r.Repeated {
		err = r.settle(cmp.Or(cmd.run(r, a), r.Err))
	}
	if err == nil {
		c.s.monitor.Usage.Note(&r.Request)
	}
	if err = leaveSession(r, a, err); err == nil && r.severed {
		return session.ErrHangUp
	}
	return err
}

// settle waits until what the answer rests on is durable, and returns the error that the command has then. A write that
// has found nothing to do rests on what others have written, as in MongoDB.
func (r *request) settle(err error) error {
	if lost := r.Sync(); lost != nil && !session.Undetermined(err) {
		return lost
	}
	if writes := r.command.write || r.SyncGroup != nil; writes && err == nil && r.Transaction == nil && !r.Settled {
		return r.Node.Store.SyncSeen(r.Context)
	}
	return err
}

// use makes the request one of a command in the table.
func (r *request) use(cmd command) {
	r.command, r.Name, r.Title = cmd, cmd.name, cmd.name
	r.Traits = call.Traits{
		Needs: cmd.needs, Transactional: cmd.txn, Retryable: cmd.write, Deprecated: cmd.deprecated, Secret: cmd.secret,
	}
}

// start notes which request runs, if any, and how to end it; false when the connection is being ended.
func (c *connection) start(r *request, cancel context.CancelFunc) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cancel, c.running = cancel, r
	c.planned.Store(nil)
	if r != nil {
		r.Number = c.s.lastOp.Add(1)
	}
	return !c.gone
}

// begin reads what every command has.
func (r *request) begin() error {
	r.At = r.s.o.Clock.Now()
	r.Now = r.At.Unix()
	first := true
	for name, v := range doc.Members(r.Body) {
		if first {
			r.Name, r.Title, r.Arg, first = name, name, v, false
			continue
		}
		if err := r.ReadGeneric(name, v); err != nil {
			return err
		}
	}
	if first {
		return code.New(code.CommandNotFound, "no such command: ''")
	}
	if alias, ok := aliases[r.Name]; ok {
		r.Name, r.Title = alias, alias
	}
	if r.Message.Op == wire.OpQuery {
		db, rest, _ := strings.Cut(r.Message.Collection, ".")
		if rest != "$cmd" {
			return code.New(code.UnsupportedOpQueryCommand,
				"Unsupported OP_QUERY command: query. The client driver may require an upgrade. "+
					"For more details see https://dochub.mongodb.org/core/legacy-opcode-removal")
		}
		r.DB = strings.Clone(db)
	}
	if r.DB == "" {
		return code.New(code.MissingFieldOfCommand, "OP_MSG requests require a $db argument")
	}
	return call.CheckDatabaseName(r.DB)
}

// checkFields refuses members that the command does not have.
func (r *request) checkFields() error {
	if r.Strict() {
		if err := call.CheckStableFields(&r.Request); err != nil {
			return err
		}
	}
	if r.command.loose {
		return nil
	}
	first := true
	for name := range doc.Members(r.Body) {
		if first {
			first = false
			continue
		}
		if !r.command.fields[name] && !call.GenericFields[name] {
			return code.New(code.UnknownFieldOfCommand, "BSON field '%s.%s' is an unknown field.", r.Name, name)
		}
	}
	return nil
}
