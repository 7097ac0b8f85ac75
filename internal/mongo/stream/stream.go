package stream

import (
	"bytes"
	"context"
	"errors"
	"time"

	"github.com/mayflydb/mayfly/internal/budget"
	"github.com/mayflydb/mayfly/internal/clock"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/pipeline"
	"github.com/mayflydb/mayfly/internal/mongo/session"
	"github.com/mayflydb/mayfly/internal/store"
)

// A Stream is the producer of a change stream: it reads the log, and keeps nothing of it but
// how far it has come.
type Stream struct {
	Options
	session.Holding
	node  *session.Node
	scope Scope
	rest  *pipeline.Pipeline // what comes behind $changeStream
	env   *pipeline.Env

	last   token  // how far the stream has come
	ending bool   // an invalidate comes next, and nothing after it
	wall   int64  // of the event that ends the stream
	buf    []byte // of the event in the making
}

// Bounds on how long one request reads the log or waits for it.
const (
	awaitTime  = time.Second // unless the client says otherwise
	checkEvery = 256         // entries, between two looks at the watch
)

// errLost says that a stream cannot be gone on with.
var errLost = code.New(code.ChangeStreamHistoryLost,
	"Resume of change stream was not possible, as the resume point may no longer be in the oplog.")

// New opens a change stream in an operation. rest is the pipeline behind $changeStream, vars are the values of its
// variables.
func New(
	o *session.Operation, options Options, scope Scope, rest *pipeline.Pipeline, vars []doc.Value,
) (*Stream, error) {
	s := &Stream{node: o.Node, Options: options, scope: scope, rest: rest}
	s.env = &pipeline.Env{Now: o.At, ClusterTime: doc.Clone(o.ClusterTime()), Random: session.Random, Vars: vars}
	// Only to find errors of the pipeline when the stream is opened, not at its first event.
	if _, err := rest.Each(o.Context, s.env); err != nil {
		return nil, err
	}
	return s, s.begin(o.Context)
}

// begin finds out where in the log the stream starts.
func (s *Stream) begin(ctx context.Context) error {
	oldest, err := s.node.Store.LogOldest(ctx)
	if err != nil {
		return err
	}
	newest, err := s.node.Store.LogNewest(ctx)
	switch {
	case err != nil:
		return err
	case s.resumeAfter.Type != 0:
		err = s.resume(ctx, "resumeAfter", s.resumeAfter)
	case s.startAfter.Type != 0:
		err = s.resume(ctx, "startAfter", s.startAfter)
	case s.startAt.Type != 0:
		s.last = token{before(s.startAt), behind}
	default:
		s.last = token{newest, behind}
	}
	s.resumeAfter, s.startAfter, s.startAt = doc.Value{}, doc.Value{}, doc.Value{} // they are the request's memory
	// The log is trimmed at its old end. Events may be missing between the start and the oldest entry.
	if err == nil && s.last.time < oldest {
		err = errLost
	}
	return err
}

// before is the last time that is not at or after a BSON timestamp.
func before(v doc.Value) store.LogTime {
	seconds, ordinal := timestampOf(v)
	at := store.LogTime(seconds)<<32 | store.LogTime(ordinal)
	if ordinal == 0 { // no entry has it
		return at
	}
	return at - 1
}

func timestampOf(v doc.Value) (seconds, ordinal uint32) {
	t, i, _ := v.TimestampOK()
	return t, i
}

// resume goes on behind a token. That of an event is good only for streams that have it.
func (s *Stream) resume(ctx context.Context, option string, v doc.Value) (err error) {
	if s.last, err = parseToken(option, v); err != nil {
		return err
	}
	switch {
	case s.last.part == ofInvalidate && option == "resumeAfter":
		return code.New(code.InvalidResumeToken,
			"Attempting to resume a change stream using 'resumeAfter' is not allowed from an invalidate notification.")
	case s.last.part != ofEvent || s.last.time == 0:
		return nil
	}
	// Read from just before the token: its entry must exist, and must be one that this stream shows.
	for e, err := range s.node.Store.Log(ctx, s.last.time-1) {
		switch {
		case errors.Is(err, store.ErrLogTrimmed):
			return errLost
		case err != nil:
			return err
		case e.Time == s.last.time && s.scope.sees(&e):
			s.ending, s.wall = s.scope.ends(&e), e.Wall
			return nil
		}
		break
	}
	return code.New(code.ChangeStreamFatalError, "cannot resume stream; the resume token was not found. %s", s.last)
}

// Token is the stream's postBatchResumeToken.
func (s *Stream) Token() doc.Value { return doc.Object(s.last.document()) }

// Stop has nothing to give up.
func (s *Stream) Stop() {}

// Fill adds events to a batch. A getMore waits until there are some, up to its maxTimeMS.
func (s *Stream) Fill(o *session.Operation, b *session.Batch) (done bool, err error) {
	if b.Full() {
		return false, nil
	}
	patience, watch := awaitTime, clock.Start()
	if o.MaxTime > 0 {
		patience = o.MaxTime
	}
	for {
		// Taken before reading, so that an entry written in between ends the wait at once.
		grown := s.node.Store.LogChanged()
		done, err = s.read(o, b, watch, patience)
		if done || err != nil || b.Err != nil || b.Count > 0 || o.Name != "getMore" {
			break
		}
		left := patience - watch.Elapsed()
		if left <= 0 || !o.Host.Wait(grown, left) {
			break
		}
		if err = o.Context.Err(); err != nil {
			break
		}
	}
	// An open stream may idle for hours, and should not keep the buffer of its largest event.
	if cap(s.buf) > budget.FreeBytes {
		s.buf = nil
	}
	return done, err
}

// read adds what the log has by now.
func (s *Stream) read(
	o *session.Operation, b *session.Batch, watch clock.Stopwatch, patience time.Duration,
) (done bool, err error) {
	env := *s.env
	env.Meter = o.Work() // of the request that reads the stream now
	each, err := s.rest.Each(o.Context, &env)
	if err != nil {
		return false, err
	}
	if s.ending {
		return s.end(b, each)
	}
	n := 0
	for e, err := range s.node.Store.Log(o.Context, s.last.time) {
		if errors.Is(err, store.ErrLogTrimmed) {
			err = errLost
		}
		if err == nil {
			err = s.take(o, b, &e, each)
		}
		switch {
		// the next batch meets the error again
		case err == errNoRoom, err != nil && b.Count > 0 && o.Context.Err() == nil:
			return false, nil
		case err != nil:
			return false, err
		case s.ending:
			return s.end(b, each)
		}
		if n++; b.Full() || n%checkEvery == 0 && watch.Elapsed() > patience {
			return false, nil
		}
	}
	return false, nil
}

// errNoRoom says that a batch is full.
var errNoRoom = errors.New("no room")

// mapping is the pipeline behind $changeStream, for one event.
type mapping = func(doc.Doc) (doc.Doc, bool, error)

// take deals with one entry of the log.
func (s *Stream) take(o *session.Operation, b *session.Batch, e *store.LogEntry, each mapping) error {
	now := token{e.Time, behind}
	// Entries that the stream does not show still move its token, so that a quiet stream does not fall off the log's
	// old end.
	if s.scope.sees(e) && s.shows(e.Kind) {
		size := 3 * (len(e.Full) + len(e.Note) + len(e.Label)) // in the event, and in what the pipeline makes of that
		if err := o.Take(size); err != nil {
			if b.Count == 0 {
				b.Err = err // else the client asks for the rest
			}
			return errNoRoom
		}
		defer o.Give(size)
		event, err := s.event(o, e)
		if err != nil {
			return err
		}
		added, err := s.add(b, event, token{e.Time, ofEvent}, each)
		if err != nil {
			return err
		}
		if s.ending = s.scope.ends(e); s.ending {
			s.wall = e.Wall
		}
		if added || s.ending {
			now.part = ofEvent
		}
	}
	s.last = now
	return nil
}

// end adds the invalidate, which is the last event of all.
func (s *Stream) end(b *session.Batch, each mapping) (done bool, err error) {
	t := token{s.last.time, ofInvalidate}
	_, err = s.add(b, s.invalidate(t), t, each)
	if err == errNoRoom {
		return false, nil
	}
	if err == nil {
		s.last = t
	}
	return err == nil, err
}

// sameID reports whether two documents have the same _id.
func sameID(a, b doc.Doc) bool {
	x, y := doc.Lookup(a, "_id"), doc.Lookup(b, "_id")
	return x.Type == y.Type && bytes.Equal(x.Data, y.Data)
}

// add passes an event through the pipeline and into the batch; errNoRoom when that is full.
func (s *Stream) add(b *session.Batch, event doc.Doc, t token, each mapping) (added bool, err error) {
	out, keep, err := each(event)
	switch {
	case err != nil || !keep:
		return false, err
	// The _id is the resume token. A stream with another one could not be resumed.
	case !sameID(out, event):
		return false, code.New(code.ChangeStreamFatalError,
			"Encountered an event whose _id field, which contains the resume token, was modified by the pipeline. "+
				"Modifying the _id field of an event makes it impossible to resume the stream from that point. Only "+
				"transformations that retain the unmodified _id field are allowed. Expected: { \"_id\" : { \"_data\" "+
				": \"%s\" } }", t)
	case len(out) > pipeline.MaxDocumentBytes:
		return false, code.New(code.BSONObjectTooLarge,
			"BSONObj size: %d is invalid. Size must be between 0 and %d(16MB): an event of the change stream is "+
				"larger than a document may be",
			len(out), pipeline.MaxDocumentBytes)
	case !b.Add(out):
		return false, errNoRoom
	}
	return true, nil
}
