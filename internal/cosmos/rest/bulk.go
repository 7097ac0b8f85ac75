package rest

import (
	"context"
	"hash/maphash"
	"net/http"
	"strings"
	"sync"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/store"
)

// bulkLanes is how many operations of one bulk request are under way at a time.
// They share commits, so that a request does not wait for one disk write each.
const bulkLanes = 16

// bulk does operations each by itself, in any partitions. Those on the same
// item are done in their order.
func bulk(e *exchange, v catalog.View, list []operation) (status int, err error) {
	if err := checkRangeID(e); err != nil {
		return 0, err
	}
	results := make([]store.Result, len(list))
	for i := range list {
		if list[i].err == nil {
			list[i].err = list[i].place(v.State, &e.grant)
		}
	}
	done := len(list)
	if strings.EqualFold(strings.TrimSpace(e.given(hBatchContinue)), "false") {
		done = inOrder(e, v, list, results)
	} else {
		inLanes(e, v, list, results)
	}
	return answerBulk(e, v.Container, list, results, done), nil
}

// place reads the partition key of an operation. The grant has seen that of the
// request only, which says nothing here.
func (op *operation) place(st *catalog.State, g *grant) (err error) {
	if op.Key.Partition, err = wholePartition(op.partition, st); err != nil || !g.limited {
		return err
	}
	for i, want := range g.partition {
		if !doc.Equal(op.Key.Partition[i], want) {
			return errForbidden
		}
	}
	return nil
}

// inOrder stops behind the first failure and returns how many operations were tried.
func inOrder(e *exchange, v catalog.View, list []operation, results []store.Result) (done int) {
	for i := range list {
		list[i].run(e.Context(), e.door.store, v, &results[i])
		if list[i].err != nil {
			return i + 1
		}
	}
	return len(list)
}

// inLanes does the operations at the same time, except that those on one item
// share a lane.
func inLanes(e *exchange, v catalog.View, list []operation, results []store.Result) {
	var lanes [bulkLanes][]int
	seed := maphash.MakeSeed()
	for i := range list {
		lane := list[i].hash(seed) % bulkLanes
		lanes[lane] = append(lanes[lane], i)
	}
	ctx, documents := e.Context(), e.door.store
	var running sync.WaitGroup
	for _, lane := range lanes {
		if len(lane) > 0 {
			running.Go(func() {
				for _, i := range lane {
					list[i].run(ctx, documents, v, &results[i])
				}
			})
		}
	}
	running.Wait()
}

// hash is the same for operations on the same item, also when their partition
// keys only look different, as 1 and 1.0 do.
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

// run does one operation unless it has failed already. It never panics: no
// handler would catch that.
func (op *operation) run(ctx context.Context, documents *store.Store, v catalog.View, result *store.Result) {
	if op.err != nil {
		return
	}
	defer func() {
		if p := recover(); p != nil {
			op.err = panicked(p)
		}
	}()
	*result, op.err = documents.Write(ctx, v.Container, v.Now, op.Op)
}

// answerBulk writes the entry of each operation, of which the first done were tried.
func answerBulk(e *exchange, c *catalog.Container, list []operation, results []store.Result, done int) (status int) {
	status = http.StatusOK
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
			e.addCharge(appendSuccess(e, c, list[i].Verb, &results[i]))
		}
	}
	e.reply = append(e.reply, ']')
	return status
}

// logInternal keeps a failure inside a larger answer from going unseen.
func (e *exchange) logInternal(err error) {
	if isInternal(err) {
		e.door.log.Error("operation of a bulk request failed", "path", e.URL.Path, "error", err)
	}
}

// isInternal reports whether a failure is no fault of the request.
func isInternal(err error) bool {
	kind := fault.KindOf(err)
	return kind == fault.Internal || kind == fault.Corrupt
}
