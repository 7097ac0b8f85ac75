package admin

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/mayflydb/mayfly/internal/clock"
	"github.com/mayflydb/mayfly/internal/fault"
)

// Limits of the streams of events.
const (
	maxStreams    = 64               // at the same time
	heartbeatTime = 15 * time.Second // without news, a comment shows that the connection lives
)

// watchOperations streams the state of one operation or of all of them as server-sent events: first as it is, then
// after each change, at most ten times a second. The stream of one operation ends with it. A client that reconnects
// with Last-Event-ID gets what has changed since; there is nothing to miss, because each event is a whole state.
// https://html.spec.whatwg.org/multipage/server-sent-events.html
func (a *admin) watchOperations(w http.ResponseWriter, r *http.Request) error {
	id := r.PathValue("id")
	if id != "" {
		if _, err := a.operations.Get(id); err != nil {
			return err
		}
	}
	return a.stream(w, r, func(ctx context.Context, out *outflow) {
		_ = a.operations.stream(ctx, out, id, r.Header.Get("Last-Event-ID")) // the client has gone, or the node stops
	})
}

// stream answers with server-sent events, which f sends until its context ends. They end with the client's session,
// too, or with its key.
func (a *admin) stream(w http.ResponseWriter, r *http.Request, f func(context.Context, *outflow)) error {
	if a.operations.streams.Add(1) > maxStreams {
		a.operations.streams.Add(-1)
		return fault.New(fault.Busy, "%d clients read events already", maxStreams)
	}
	defer a.operations.streams.Add(-1)
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Accel-Buffering", "no") // proxies of the kind of nginx pass each event on at once
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(a.operations.over, cancel)()
	out := newOutflow(w)
	if a.Allowed != nil && a.named(r) != "" {
		out.may = func() bool { return a.named(r) != "" }
	}
	f(ctx, out)
	return nil
}

func (o *Operations) stream(ctx context.Context, out *outflow, id, last string) error {
	seen := o.resume(last)
	if err := out.send(": mayfly\n\n"); err != nil {
		return err
	}
	for {
		over := id != "" && !o.runs(id) // asked before the changes, which then have its end
		changes, next := o.since(seen, id)
		for _, c := range changes {
			seen = c.seq
			if err := out.send(o.event(c)); err != nil {
				return err
			}
			if id != "" && c.state.Ended != nil {
				return nil
			}
		}
		if over || id != "" && !o.has(id) {
			return nil
		}
		if err := await(ctx, out, next); err != nil {
			return err
		}
		if err := clock.Pause(ctx, progressTime); err != nil {
			return err
		}
	}
}

// runs reports whether an operation is there and has not ended.
func (o *Operations) runs(id string) bool {
	s, err := o.Get(id)
	return err == nil && s.Ended == nil
}

func (o *Operations) has(id string) bool { _, err := o.Get(id); return err == nil }

// await returns when next is closed, and sends heartbeats until then.
func await(ctx context.Context, out *outflow, next <-chan struct{}) error {
	for {
		beat, cancel := context.WithTimeout(ctx, heartbeatTime)
		select {
		case <-next:
			cancel()
			return nil
		case <-beat.Done():
			cancel()
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := out.send(": alive\n\n"); err != nil {
			return err
		}
	}
}

// event is a change as text: its id says of which process and in which order.
func (o *Operations) event(c change) string {
	data, err := json.Marshal(c.state)
	if err != nil {
		o.log.Error("an operation cannot be encoded as JSON", "kind", c.state.Kind, "error", err)
		c.state.Result = nil
		data, _ = json.Marshal(c.state)
	}
	return fmt.Sprintf("id: %s-%d\nevent: operation\ndata: %s\n\n", o.run, c.seq, data)
}

// resume is the sequence of the event with this id, 0 for an event of an earlier process or none.
func (o *Operations) resume(id string) uint64 {
	run, text, _ := strings.Cut(id, "-")
	seq, err := strconv.ParseUint(text, 10, 64)
	if run != o.run || err != nil {
		return 0
	}
	return seq
}
