package pebble

import (
	"context"

	"github.com/cockroachdb/pebble/v2"

	"github.com/mayflydb/mayfly/internal/fault"
)

// Checkpoint copies the engine to a folder that does not exist, as kv.Checkpointer has it. Tables become hard links;
// the logs are copied, because Pebble writes over those that it no longer needs.
func (e *Engine) Checkpoint(ctx context.Context, dir string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := e.enter(); err != nil {
		return err
	}
	defer e.calls.Leave()
	if e.space == nil {
		return fault.New(fault.Unsupported, "an engine in memory cannot be copied to a folder")
	}
	if err := e.Refuses(); err != nil {
		return err
	}
	if err := e.flush(ctx); err != nil { // so that the copy opens without reading a long log
		return err
	}
	err := e.db.Checkpoint(dir, pebble.WithFlushedWAL())
	switch {
	case err == nil:
		return nil
	case e.broken() != nil:
		return e.broken()
	case noSpace(err):
		return fault.Wrap(fault.OutOfSpace, err, "The disk is full: there is no space for a copy of the data.")
	}
	return fault.Wrap(fault.Internal, err, "cannot copy the data")
}
