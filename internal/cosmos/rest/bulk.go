package rest

import (
	"context"
	"hash/maphash"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/mayflydb/mayfly/internal/budget"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/clock"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/hint"
	"github.com/mayflydb/mayfly/internal/store"
)

// bulkLanes is how many operations of one bulk request run at the same time: on several processors, and where an
// engine waits for other machines.
const bulkLanes = 16

// bulk runs independent operations, in any partitions. Operations on the same item run in the order of the request.
func bulk(e *exchange, v catalog.View, list []operation) (status int, err error) {
	named, limited, err := e.namedRange(v.State)
	if err != nil {
		return 0, err
	}
	if limited {
		e.serve(named.Number)
	}
	group := e.api.store.NewSyncGroup()
	b := &bulkRun{
		ctx: group.With(e.Context()), budget: e.api.budget, documents: e.api.store, view: v, clock: e.api.clock,
		list: list, results: make([]store.Result, len(list)), minimal: e.minimal(),
	}
	for i := range list {
		if list[i].err == nil {
			list[i].err = list[i].resolvePartition(v.State, &e.grant)
		}
		if list[i].err == nil && limited && !owns(v.State, named.Number, list[i].Key.Partition) {
			list[i].err = e.rangeGone(strconv.Itoa(int(named.Number)))
		}
	}
	done := len(list)
	if strings.EqualFold(strings.TrimSpace(e.given(hBatchContinue)), "false") {
		done = b.runInOrder()
	} else {
		b.runInLanes()
	}
	if err := group.Sync(b.ctx); err != nil {
		return 0, err
	}
	return answerBulk(e, v.Container, list, b.results, done), nil
}

// A bulkRun is the state of a running bulk request. Its methods run in several goroutines, so they do not use the
// exchange, which is not safe for concurrent use.
type bulkRun struct {
	ctx       context.Context
	budget    *budget.Budget
	documents *store.Store
	view      catalog.View
	clock     clock.Clock // read for each operation, because operations may wait for others
	list      []operation
	results   []store.Result
	minimal   bool
	held      atomic.Int64 // bytes of items kept for the answer
}

// resolvePartition parses the partition key of an operation and checks it against the grant: the partition header of
// the request, which was checked before, does not apply to the operations of a bulk request.
func (op *operation) resolvePartition(st *catalog.State, g *grant) (err error) {
	if op.Key.Partition, err = wholePartition(op.partition, st); err != nil || !g.limited {
		return err
	}
	if len(op.Key.Partition) < len(g.partition) {
		return errForbidden
	}
	for i, want := range g.partition {
		if !doc.Equal(op.Key.Partition[i], want) {
			return errForbidden
		}
	}
	return nil
}

// runInOrder runs the operations one by one until the first failure, and returns how many it tried.
func (b *bulkRun) runInOrder() (done int) {
	for i := range b.list {
		b.run(b.ctx, i)
		if b.list[i].err != nil {
			return i + 1
		}
	}
	return len(b.list)
}

// runInLanes runs the operations concurrently. Operations on the same item share a lane, and a lane runs in order.
func (b *bulkRun) runInLanes() {
	var lanes [bulkLanes][]int
	seed := maphash.MakeSeed()
	for i := range b.list {
		lane := b.list[i].hash(seed) % bulkLanes
		lanes[lane] = append(lanes[lane], i)
	}
	var running sync.WaitGroup
	for _, lane := range lanes {
		if len(lane) > 0 {
			running.Go(func() {
				var share budget.Share // a Share is not safe for concurrent use
				b.budget.Open(&share)
				defer share.Close()
				ctx := budget.With(b.ctx, &share)
				for _, i := range lane {
					b.run(ctx, i)
				}
			})
		}
	}
	running.Wait()
}

// hash is equal for operations on the same item, even if their partition keys are spelled differently, as 1 and 1.0
// are.
func (op *operation) hash(seed maphash.Seed) uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	for _, v := range op.Key.Partition {
		if f, ok := doc.AsFloat(v); ok {
			v = doc.Float(f)
		}
		h.WriteByte(byte(v.Type))
		h.Write(v.Data)
	}
	h.WriteString(op.Key.ID)
	return h.Sum64()
}

var errManyBytes = coded{fault.New(fault.TooLarge,
	"The answer to the request is too large. Send this operation again, in another request."), answerTooLarge}

// run does one operation, unless it has failed already or the answer is full. It recovers from panics, because no
// handler does so for this goroutine.
func (b *bulkRun) run(ctx context.Context, i int) {
	op, result := &b.list[i], &b.results[i]
	if op.err != nil {
		return
	}
	defer func() {
		if p := recover(); p != nil {
			op.err = panicked(p)
		}
	}()
	shown := showsBody(op.Verb, b.minimal)
	if shown && b.held.Load() > maxPage {
		op.err = errManyBytes
		return
	}
	if *result, op.err = b.documents.Write(ctx, b.view.Container, b.clock.Now().Unix(), op.Op); op.err != nil {
		return
	}
	op.status, op.ru = outcomeOf(op.Verb, result)
	if writes(op.Verb) {
		op.hint = hint.Written(&b.view.Policy, result.TTL, result.Body)
	}
	if !shown {
		result.Body = nil
	}
	b.held.Add(int64(len(result.Body)))
}

// answerBulk appends one entry for each operation. The first done of them were tried.
func answerBulk(e *exchange, c *catalog.Container, list []operation, results []store.Result, done int) (status int) {
	status = http.StatusOK
	var hints hintSummary
	e.reply = append(e.reply, '[')
	for i := range list {
		if i > 0 {
			e.reply = append(e.reply, ',')
		}
		switch err := list[i].err; {
		case i >= done:
			appendSkipped(e)
		case err != nil:
			status = http.StatusMultiStatus
			e.logInternal(err)
			appendFailure(e, err)
			e.addCharge(1)
		default:
			appendSuccess(e, c, &list[i], &results[i])
			e.tell(c, list[i].hint)
			hints.add(i, list[i].hint)
		}
	}
	hints.send(e)
	e.reply = append(e.reply, ']')
	return status
}

// logInternal logs an internal error that would otherwise only appear inside a larger answer.
func (e *exchange) logInternal(err error) {
	if isInternal(err) {
		e.api.log.Error("operation of a bulk request failed", "path", loggedPath(e.URL.Path), "error", err)
	}
}

// isInternal reports whether a failure is the server's fault.
func isInternal(err error) bool {
	kind := fault.KindOf(err)
	return kind == fault.Internal || kind == fault.Corrupt
}
