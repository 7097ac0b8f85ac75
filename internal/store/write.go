package store

import (
	"cmp"
	"context"
	"slices"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/fault"
)

// maxAttempts bounds how often a write is tried again after a conflict. Every failed attempt means that another write
// went through, so the store as a whole makes progress; the limit is for the one that always loses.
const maxAttempts = 1_000

// Write does one operation. Its error is the operation's.
func (s *Store) Write(ctx context.Context, c *catalog.Container, now expiry.Stamp, op Op) (Result, error) {
	ops, results := [1]Op{op}, [1]Result{}
	if err := s.write(ctx, c, now, ops[:], results[:]); err != nil {
		if e, ok := err.(*BatchError); ok {
			err = e.Err
		}
		return Result{}, err
	}
	return results[0], nil
}

// WriteAll does operations in order, all of them or none. A *BatchError names the first that failed. Later operations
// see what earlier ones have done.
func (s *Store) WriteAll(ctx context.Context, c *catalog.Container, now expiry.Stamp, ops []Op) ([]Result, error) {
	results := make([]Result, len(ops))
	if err := s.write(ctx, c, now, ops, results); err != nil {
		return nil, err
	}
	return results, nil
}

// writeUntilDone tries until no other write comes between its reads and its commit. It enters the container again for
// each attempt: the state may be another one, and the instant must not be before a deadline that others have been told
// of. A write that turns out to be large waits for a lane from then on, see lanes.
func (s *Store) writeUntilDone(
	ctx context.Context, c *catalog.Container, now expiry.Stamp, ops []Op, results []Result,
) error {
	heavy, alone := heavy(ops), false
	receipt := s.receiptOf(ctx)
	for range maxAttempts {
		if err := ctx.Err(); err != nil {
			return err
		}
		if heavy && !alone {
			leave, err := s.lanes.enter(ctx, c.ID, ops[0].Key.ID)
			if err != nil {
				return err
			}
			defer leave()
			alone = true
		}
		v, err := c.Enter(ctx, now)
		if err != nil {
			return err
		}
		large, err := s.attempt(ctx, v, ops, results, receipt)
		heavy = heavy || large
		if err == nil || !receipt.retries(err) {
			return err
		}
	}
	return errManyWrites
}

var errManyWrites = fault.New(fault.Conflict, "Too many writes of the same document at once. Try again.")

// attempt does the operations once; fault.Conflict asks for another attempt. large reports whether the write turned out
// to be a large one.
func (s *Store) attempt(
	ctx context.Context, v catalog.View, ops []Op, results []Result, receipt *Receipt,
) (large bool, err error) {
	ws, err := s.begin(ctx, v)
	if err != nil {
		return false, err
	}
	ws.ctx = ctx
	defer ws.end()
	r, err := receipt.begin(ctx, ws.view.Reader)
	if err != nil {
		return false, err
	}
	for i := range ops {
		if err := ws.fetchAhead(ctx, ops, i); err != nil {
			return false, err
		}
		if err := ws.do(ctx, &ops[i], &results[i]); err != nil {
			// A failure is an answer too: it must rest on a state that existed, or it is tried again.
			if unconfirmed := ws.confirm(ctx); unconfirmed != nil {
				return false, unconfirmed
			}
			return false, cmp.Or(s.rest(ctx, ops[i:i+1]), error(&BatchError{Index: i, Err: err}))
		}
	}
	writes := ws.writes()
	if writes {
		r.end(&ws.b, ws.v.Now)
	}
	if err = ws.commit(ctx); err == nil && !writes {
		err = s.rest(ctx, ops)
	}
	return ws.share != nil, err
}

// rest makes durable what the outcome of operations that write nothing rests on, or leaves that to their group: a
// client that is told that a document is there, or has the value already, must not lose it in a crash. Reads may.
func (s *Store) rest(ctx context.Context, ops []Op) error {
	if !slices.ContainsFunc(ops, func(op Op) bool { return op.Verb != Read }) {
		return nil
	}
	if g := groupOf(ctx); g != nil {
		g.rests.Store(true)
		return nil
	}
	return s.SyncSeen(ctx)
}

// heavy reports whether the bodies of operations make a large write before anything is read.
func heavy(ops []Op) bool {
	n := 0
	for i := range ops {
		n += len(ops[i].Body)
	}
	return n >= largeBody
}
