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

// How long the scripts of one request may take, as in the service. Some time before
// the end their collection accepts no more operations, so that they can return
// how far they came.
const (
	scriptTime = 5 * time.Second
	scriptLate = 4 * time.Second
)

// scriptTries is how often scripts that meet other writes are run from their start.
const scriptTries = 10

var errNoPartition = fault.New(fault.Invalid, "PartitionKey value must be supplied for this operation. "+
	"Send it in the header x-ms-documentdb-partitionkey.")

// executeProcedure runs a stored procedure with the parameters in the body.
func executeProcedure(e *exchange) (int, error) {
	_, r, err := procedures.find(e)
	if err != nil {
		return 0, err
	}
	body, err := e.lateBody()
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
	partition, err := pointPartition(e, v.State)
	if err != nil {
		return 0, err
	}
	program, err := e.compiled(r)
	if err != nil {
		return 0, err
	}
	var result script.Result
	done, err := e.transactScripts(partition, []*script.Program{program}, func(c *scriptCollection, host script.Host) (err error) {
		result, err = program.RunProcedure(c.ctx, text, host)
		return err
	})
	e.sendLog(result.Log)
	if err != nil {
		return 0, err
	}
	e.charge(done.ru)
	if result.Body == nil {
		result.Body = []byte(`""`) // as the service says nothing
	}
	e.reply = append(e.reply, done.settled(result.Body, done.results)...)
	return http.StatusOK, nil
}

// enterScript begins a request that runs a script.
func (e *exchange) enterScript() (catalog.View, error) {
	if err := e.checkIntendedRID(); err != nil {
		return catalog.View{}, err
	}
	return e.itemView()
}

// sendLog gives back what scripts have logged, percent-encoded throughout: some
// clients take a plus sign for a space.
func (e *exchange) sendLog(text string) {
	if e.flag(hScriptLogging) {
		e.set(outScriptLog, strings.ReplaceAll(url.QueryEscape(text), "+", "%20"))
	}
}

// A transacted is a transaction of scripts that is through.
type transacted struct {
	*scriptCollection
	results []store.Result // of its operations, as in shown
}

// transactScripts calls run, whose scripts work on one partition, and makes
// what they have done so, all or nothing. When another write has come between, it
// calls run again from the start, and lets no other scripts of the partition come between.
// The programs that run calls wait here for a turn on a processor, which they have until they end.
func (e *exchange) transactScripts(partition []doc.Value, programs []*script.Program, run func(c *scriptCollection, host script.Host) error) (transacted, error) {
	s := e.newScripting(programs)
	defer s.close()
	if err := s.hold(); err != nil {
		return transacted{}, err
	}
	ctx, cancel := context.WithTimeout(s.ctx, scriptTime)
	defer cancel()
	watch := clock.Start()
	turn, held := turnOf(e.container, partition), false
	for try := 1; ; try++ {
		if !held && (try > 1 || e.door.turns.contended(turn)) {
			s.share.Rest()
			back, err := e.door.turns.take(ctx, turn)
			if err != nil {
				return transacted{}, err
			}
			defer back()
			held = true
		}
		if err := s.hold(); err != nil { // the commit of the try before has ended the turn
			return transacted{}, err
		}
		e.look()
		v, err := e.view()
		if err != nil {
			return transacted{}, err
		}
		c := e.newScriptCollection(ctx, v, partition, watch)
		host := e.scriptHost(c)
		host.Others, host.Room = s.others, s.room
		ran := clock.Start()
		results, err := c.transact(host, run)
		s.took(ran.Elapsed())
		if err == nil {
			return transacted{c, results}, nil
		}
		if fault.KindOf(err) != fault.Conflict || try == scriptTries {
			return transacted{}, scriptFault(err)
		}
	}
}

// transact is one attempt. fault.Conflict asks for another one; a script that
// failed may have done so because of what another write had left half done.
func (c *scriptCollection) transact(host script.Host, run func(c *scriptCollection, host script.Host) error) ([]store.Result, error) {
	defer c.functions.close()
	defer c.tx.Rollback()
	if err := run(c, host); err != nil {
		if stale := c.tx.Confirm(c.ctx); fault.KindOf(stale) == fault.Conflict {
			return nil, stale
		}
		return nil, err
	}
	c.arrive()
	return c.tx.Commit(c.ctx)
}

// arrive makes the present instant that of the commit: what a script has written after seconds
// must not be that much older. If a document that it depends on has expired since, and nobody was told,
// the commit is as of the instant when the script began.
func (c *scriptCollection) arrive() {
	if now := c.door.clock.Now().Unix(); c.tx.Wrote() && c.tx.Lives(now) {
		c.view.Container.Enter(c.ctx, now) // the commit finds out when the container or the request is gone
	}
}

// newScriptCollection begins a transaction on one partition.
func (e *exchange) newScriptCollection(ctx context.Context, v catalog.View, partition []doc.Value, watch clock.Stopwatch) *scriptCollection {
	c := &scriptCollection{
		ctx: ctx, door: e.door, view: v, partition: partition,
		tx: e.door.store.Begin(v), fresh: map[uint64]string{}, ru: 1,
		functions: e.door.functionsOf(ctx, v.Container),
	}
	var base access.Scope
	if !isMongo(v.State) { // which has one partition
		base = access.Partition(partition)
	}
	c.env = e.environment(v, base, question{})
	c.env.Function = c.functions.find
	c.stop = func() error {
		if c.late() {
			return exec.ErrLate
		}
		return ctx.Err()
	}
	c.env.Stop = c.stop // of the share that has the turn
	c.late = func() bool { return watch.Elapsed() > scriptLate || c.tx.Full() }
	return c
}

// scriptHost is what the scripts of the request run in. It outlives the exchange.
func (e *exchange) scriptHost(c *scriptCollection) script.Host {
	headers := e.Header
	return script.Host{
		Collection: c,
		Late:       c.late,
		Now:        e.door.clock.Now,
		Status:     scriptStatus,
		Header: func(name string) string {
			if !strings.HasPrefix(strings.ToLower(name), "x-ms-") {
				return "" // credentials above all
			}
			return headers.Get(name)
		},
		Logging: e.flag(hScriptLogging),
		Quota:   quota,
	}
}

// scriptFault gives an exception of a script its number as substatus.
func scriptFault(err error) error {
	if ex, ok := errors.AsType[*script.Exception](err); ok && ex.Number != 0 {
		return coded{err, ex.Number}
	}
	return err
}
