package rest

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/clock"
	"github.com/mayflydb/mayfly/internal/cosmos/script"
	"github.com/mayflydb/mayfly/internal/cosmos/sql/exec"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/store"
)

// Time limits for the scripts of one request, the same as the service's. From scriptLate on their collection accepts
// no more operations, so that they can still return how far they came. They are variables for tests.
var (
	scriptTime = 5 * time.Second
	scriptLate = 4 * time.Second
)

// scriptTries is how often scripts are run again from the start after a conflict with another write.
const scriptTries = 10

var errNoPartition = fault.New(fault.Invalid, "PartitionKey value must be supplied for this operation. "+
	"Send it in the header x-ms-documentdb-partitionkey.")

// executeProcedure runs a stored procedure with the parameters in the body.
func executeProcedure(e *exchange) (int, error) {
	_, r, err := procedures.find(e)
	if err != nil {
		return 0, err
	}
	body, err := e.bodyThenClock()
	if err != nil {
		return 0, err
	}
	text, err := payloadText(body)
	if err != nil {
		return 0, err
	}
	if text = bytes.Clone(text); len(text) == 0 {
		text = []byte("[]")
	}
	v, err := e.enterScript()
	if err != nil {
		return 0, err
	}
	if e.given(hPartitionKey) == "" && !hasSystemKey(v.State) {
		return 0, errNoPartition
	}
	partition, err := e.onePartition(v.State)
	if err != nil {
		return 0, err
	}
	program, err := e.compiled(r)
	if err != nil {
		return 0, err
	}
	var result script.Result
	done, err := e.transactScripts(partition, []*script.Program{program}, func(c *scriptCollection,
		host script.Host) (err error) {
		result, err = program.RunProcedure(c.ctx, text, host)
		return err
	})
	e.sendLog(result.Log)
	if err != nil {
		return 0, err
	}
	e.charge(done.ru)
	if result.Body == nil {
		result.Body = []byte(`""`) // the service's answer to a procedure that sets no body
	}
	e.reply = append(e.reply, done.withCommitted(result.Body, done.results)...)
	return http.StatusOK, nil
}

// enterScript begins a request that runs a script.
func (e *exchange) enterScript() (catalog.View, error) {
	if err := e.checkIntendedRID(); err != nil {
		return catalog.View{}, err
	}
	return e.itemView()
}

// sendLog returns the log output of scripts. It percent-encodes spaces too, because some clients do not decode a plus
// sign.
func (e *exchange) sendLog(text string) {
	if e.flag(hScriptLogging) {
		e.set(outScriptLog, strings.ReplaceAll(url.QueryEscape(text), "+", "%20"))
	}
}

// A scriptOutcome is a committed transaction of scripts.
type scriptOutcome struct {
	*scriptCollection
	results []store.Result // of its operations, parallel to shown
}

// transactScripts calls run, whose scripts work on one partition, and commits their operations together. After a
// conflict with another write it calls run again from the start, and then keeps other scripts of the partition out.
// Scripts wait here for a turn on a processor, and keep it until they end.
func (e *exchange) transactScripts(partition []doc.Value, programs []*script.Program, run func(c *scriptCollection,
	host script.Host) error) (scriptOutcome, error) {
	s := e.newScriptShares(programs)
	defer s.close()
	if err := s.hold(); err != nil {
		return scriptOutcome{}, err
	}
	ctx, cancel := context.WithTimeout(s.ctx, scriptTime)
	defer cancel()
	watch := clock.Start()
	turn, held := lockKeyOf(e.container, partition), false
	for try := 1; ; try++ {
		if !held && (try > 1 || e.api.partitionLocks.locked(turn)) {
			s.share.Rest()
			back, err := e.api.partitionLocks.lock(ctx, turn)
			if err != nil {
				return scriptOutcome{}, err
			}
			defer back()
			held = true
		}
		if err := s.hold(); err != nil { // the commit of the previous try has ended the turn
			return scriptOutcome{}, err
		}
		e.readClock()
		v, err := e.view()
		if err != nil {
			return scriptOutcome{}, err
		}
		c, err := e.newScriptCollection(ctx, v, partition, watch)
		if err != nil {
			return scriptOutcome{}, err
		}
		host := e.scriptHost(c)
		host.OthersMemory, host.Reserve = s.othersMemory, s.reserve
		ran := clock.Start()
		results, err := c.transact(host, run)
		s.took(ran.Elapsed())
		if err == nil {
			return scriptOutcome{c, results}, nil
		}
		if fault.KindOf(err) != fault.Conflict || try == scriptTries {
			return scriptOutcome{}, scriptFault(err)
		}
	}
}

// transact is one attempt. fault.Conflict asks for another one, also when the script itself failed: it may have
// failed because it saw only part of another write.
func (c *scriptCollection) transact(host script.Host, run func(c *scriptCollection,
	host script.Host) error) ([]store.Result, error) {
	defer c.functions.close()
	defer c.tx.Rollback()
	if err := run(c, host); err != nil {
		switch stale := c.tx.Confirm(c.ctx); fault.KindOf(stale) {
		case fault.Conflict, fault.Unavailable:
			return nil, stale
		}
		return nil, err
	}
	c.advanceToNow()
	return c.tx.Commit(c.ctx)
}

// advanceToNow moves the transaction to the present instant, so that documents written by a script that ran for
// seconds are not that much older. If a document that the transaction depends on has expired since, the commit keeps
// the instant at which the script began.
func (c *scriptCollection) advanceToNow() {
	if now := c.api.clock.Now().Unix(); c.tx.Wrote() && c.tx.Lives(now) {
		c.view.Container.Enter(c.ctx, now) // an error would be found by the commit too
	}
}

// newScriptCollection begins a transaction on one partition.
func (e *exchange) newScriptCollection(ctx context.Context, v catalog.View, partition []doc.Value,
	watch clock.Stopwatch) (*scriptCollection, error) {
	tx, err := e.api.store.Begin(ctx, v)
	if err != nil {
		return nil, err
	}
	c := &scriptCollection{
		ctx: ctx, api: e.api, view: v, partition: partition,
		tx: tx, newIDs: map[uint64]string{}, ru: 1,
		functions: e.api.functionsOf(ctx, v.Container, e.instantIn(v)),
	}
	var base access.Scope
	if !isMongo(v.State) { // which has one partition
		base = access.Partition(partition)
	}
	c.env = e.environment(v, base, queryRequest{})
	c.env.Function = c.functions.find
	c.stop = func() error {
		if c.late() {
			return exec.ErrLate
		}
		return ctx.Err()
	}
	c.env.Stop = c.stop // ctx has the share that holds the turn
	c.late = func() bool { return watch.Elapsed() > scriptLate || c.tx.Full() }
	return c, nil
}

// scriptHost is the environment of the request's scripts. It outlives the exchange.
func (e *exchange) scriptHost(c *scriptCollection) script.Host {
	headers := e.Header
	return script.Host{
		Collection: c,
		Late:       c.late,
		Now:        e.api.timeFrom(e.instantIn(c.view)),
		Status:     scriptStatus,
		Header: func(name string) string {
			if !strings.HasPrefix(strings.ToLower(name), "x-ms-") {
				return "" // above all, do not show credentials
			}
			return headers.Get(name)
		},
		Logging: e.flag(hScriptLogging),
		Quota:   quota,
	}
}

// scriptFault adds the number of a script's exception as the substatus.
func scriptFault(err error) error {
	if ex, ok := errors.AsType[*script.Exception](err); ok && ex.Number != 0 {
		return coded{err, ex.Number}
	}
	return err
}
