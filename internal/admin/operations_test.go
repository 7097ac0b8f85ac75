package admin

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mayflydb/mayfly/internal/clock"
	"github.com/mayflydb/mayfly/internal/fault"
)

// A job is work that the test lets go on.
type job struct {
	goOn chan error // what the work ends with
	p    *Operation
}

func begin(t *testing.T, o *Operations, kind string) *job {
	t.Helper()
	j := &job{goOn: make(chan error)}
	p, err := o.Start(t.Context(), kind, "db/c", "items", func(ctx context.Context, p *Operation) (any, error) {
		select {
		case err := <-j.goOn:
			return map[string]int{"found": 1}, err
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	j.p = p
	return j
}

// stateAfter waits until an operation is in a state.
func stateAfter(t *testing.T, o *Operations, id, state string) OperationState {
	t.Helper()
	for {
		_, next := o.since(0, "")
		s, err := o.Get(id)
		if err != nil {
			t.Fatal(err)
		}
		if s.State == state {
			return s
		}
		select {
		case <-next:
		case <-t.Context().Done():
			t.Fatalf("the state is still %q, want %q", s.State, state)
		}
	}
}

func newTestOperations(t *testing.T) *Operations {
	o := newOperations(slog.New(slog.DiscardHandler))
	t.Cleanup(func() { o.close(context.Background()) })
	return o
}

func TestOperationsEnd(t *testing.T) {
	o := newTestOperations(t)
	for _, c := range []struct {
		err         error
		state, kind string
	}{
		{nil, stateDone, ""},
		{fault.New(fault.OutOfSpace, "the disk is full"), stateFailed, "out of space"},
		{errors.New("secret path"), stateFailed, "internal"},
	} {
		j := begin(t, o, "check")
		j.p.Progress(3, 10)
		s, err := o.Get(j.p.ID())
		if err != nil || s.State != stateRunning || s.Done != 3 || s.Total != 10 || s.Ended != nil {
			t.Errorf("%+v, error %v", s, err)
		}
		j.goOn <- c.err
		s = stateAfter(t, o, j.p.ID(), c.state)
		if s.Ended == nil || (s.Error == nil) != (c.err == nil) || s.Error != nil && s.Error.Kind != c.kind {
			t.Errorf("%v: %+v", c.err, s)
		}
		if s.Error != nil && strings.Contains(s.Error.Detail, "secret") {
			t.Errorf("the client learns %q", s.Error.Detail)
		}
	}
	if list := o.List(); len(list) != 3 || list[0].Error == nil || list[2].State != stateDone {
		t.Errorf("%+v, want three, the newest first", list)
	}
}

func TestOperationsAreCancelledAndForgotten(t *testing.T) {
	o := newTestOperations(t)
	j := begin(t, o, "import")
	if s, err := o.Cancel(j.p.ID()); err != nil || s.State != stateCancelling {
		t.Fatalf("%+v, error %v", s, err)
	}
	stateAfter(t, o, j.p.ID(), stateCancelled)
	if s, err := o.Cancel(j.p.ID()); err != nil || s.State != stateCancelled {
		t.Fatalf("%+v, error %v", s, err)
	}
	if _, err := o.Get(j.p.ID()); fault.KindOf(err) != fault.NotFound {
		t.Errorf("it is still there: %v", err)
	}
}

func TestOperationsAreBounded(t *testing.T) {
	o := newTestOperations(t)
	var jobs []*job
	for range maxRunning {
		jobs = append(jobs, begin(t, o, "check"))
	}
	_, err := o.Start(t.Context(), "check", "", "", func(context.Context, *Operation) (any, error) { return nil, nil })
	if fault.KindOf(err) != fault.Busy {
		t.Errorf("one more: %v, want busy", err)
	}
	for _, j := range jobs {
		j.goOn <- nil
		stateAfter(t, o, j.p.ID(), stateDone)
	}
	for range maxEnded + 5 {
		j := begin(t, o, "check")
		j.goOn <- nil
		stateAfter(t, o, j.p.ID(), stateDone)
	}
	if n := len(o.List()); n != maxEnded {
		t.Errorf("%d are shown, want %d", n, maxEnded)
	}
}

func TestOperationsAreForgottenAfterAnHour(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOperations(slog.New(slog.DiscardHandler))
		j := begin(t, o, "check")
		j.goOn <- nil
		synctest.Wait()
		for _, want := range []int{1, 0} {
			if n := len(o.List()); n != want {
				t.Errorf("%d are shown, want %d", n, want)
			}
			if err := clock.Pause(t.Context(), endedTime+time.Second); err != nil {
				t.Fatal(err)
			}
		}
		o.close(context.Background())
	})
}

func TestAPanicEndsTheOperationAlone(t *testing.T) {
	o := newTestOperations(t)
	p, err := o.Start(t.Context(), "check", "", "", func(context.Context, *Operation) (any, error) { panic("no") })
	if err != nil {
		t.Fatal(err)
	}
	if s := stateAfter(t, o, p.ID(), stateFailed); s.Error.Kind != "internal" {
		t.Errorf("%+v", s)
	}
}

func TestCloseEndsOperations(t *testing.T) {
	o := newTestOperations(t)
	j := begin(t, o, "check")
	o.close(t.Context())
	if s, err := o.Get(j.p.ID()); err != nil || s.State != stateCancelled {
		t.Errorf("%+v, error %v", s, err)
	}
	_, err := o.Start(t.Context(), "check", "", "", func(context.Context, *Operation) (any, error) { return nil, nil })
	if fault.KindOf(err) != fault.Unavailable {
		t.Errorf("a new one: %v", err)
	}
}

// events reads server-sent events.
func events(t *testing.T, h http.Handler, path, last string) (
	next func() (id string, s OperationState, ok bool), stop func(),
) {
	t.Helper()
	server := httptest.NewServer(h)
	ctx, cancel := context.WithCancel(t.Context())
	r, err := http.NewRequestWithContext(ctx, "GET", server.URL+Base+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if last != "" {
		r.Header.Set("Last-Event-ID", last)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	if kind := response.Header.Get("Content-Type"); response.StatusCode != 200 || kind != "text/event-stream" {
		t.Fatalf("status %d, type %s", response.StatusCode, kind)
	}
	lines := bufio.NewScanner(response.Body)
	next = func() (id string, s OperationState, ok bool) {
		for lines.Scan() {
			name, value, _ := strings.Cut(lines.Text(), ": ")
			switch name {
			case "id":
				id = value
			case "data":
				if err := json.Unmarshal([]byte(value), &s); err != nil {
					t.Fatal(err)
				}
				return id, s, true
			}
		}
		return "", s, false
	}
	return next, func() { cancel(); response.Body.Close(); server.Close() }
}

func TestEvents(t *testing.T) {
	o, _ := virtualOptions()
	api := New(o)
	a, b := begin(t, api.Operations(), "check"), begin(t, api.Operations(), "import")
	next, stop := events(t, api, "/operations/"+a.p.ID()+"/events", "")
	if _, s, ok := next(); !ok || s.ID != a.p.ID() || s.State != stateRunning {
		t.Errorf("%+v %v", s, ok)
	}
	a.goOn <- nil
	last, s, ok := next()
	if !ok || s.State != stateDone {
		t.Errorf("%+v %v", s, ok)
	}
	if _, s, ok := next(); ok {
		t.Errorf("after the end came %+v", s)
	}
	stop()

	// A client that comes back after the end gets nothing more, and is not kept waiting.
	next, stop = events(t, api, "/operations/"+a.p.ID()+"/events", last)
	if _, s, ok := next(); ok {
		t.Errorf("after the end came %+v", s)
	}
	stop()

	// A client that comes back gets what has changed since, once.
	b.goOn <- nil
	stateAfter(t, api.Operations(), b.p.ID(), stateDone)
	next, stop = events(t, api, "/operations/events", last)
	if _, s, ok := next(); !ok || s.ID != b.p.ID() || s.State != stateDone {
		t.Errorf("after %s: %+v %v", last, s, ok)
	}
	stop()

	// An id of an earlier process says nothing, so everything comes.
	next, stop = events(t, api, "/operations/events", "OTHER-99999")
	for _, want := range []string{a.p.ID(), b.p.ID()} {
		if _, s, ok := next(); !ok || s.ID != want {
			t.Errorf("%+v %v, want %s", s, ok, want)
		}
	}
	api.Close(t.Context())
	if _, s, ok := next(); ok {
		t.Errorf("after Close came %+v", s)
	}
	stop()
}

func TestEventStreamsAreBounded(t *testing.T) {
	o, _ := virtualOptions()
	api := New(o)
	api.admin.operations.streams.Store(maxStreams)
	w := send(api, "GET", "/operations/events", "")
	if p := problemOf(t, w); p.Kind != "busy" || w.Header().Get("Retry-After") == "" {
		t.Errorf("%d %+v", w.Code, p)
	}
	if n := api.admin.operations.streams.Load(); n != maxStreams {
		t.Errorf("%d streams are counted, want %d", n, maxStreams)
	}
}

// pulse counts the heartbeats that are written to it, and fails after some.
type pulse struct {
	http.ResponseWriter
	beats, most int
}

func (p *pulse) Write(text []byte) (int, error) {
	if strings.HasPrefix(string(text), ": alive") {
		if p.beats++; p.beats == p.most {
			return 0, errors.New("the client is gone")
		}
	}
	return len(text), nil
}

func (p *pulse) FlushError() error { return nil }

func TestHeartbeats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOperations(slog.New(slog.DiscardHandler))
		p := &pulse{ResponseWriter: httptest.NewRecorder(), most: 3}
		watch := clock.Start()
		if err := o.stream(t.Context(), newOutflow(p), "", ""); err == nil {
			t.Error("the stream ended without an error")
		}
		if took := watch.Elapsed(); p.beats != 3 || took != 3*heartbeatTime {
			t.Errorf("%d heartbeats in %v", p.beats, took)
		}
	})
}

func TestProgressIsAnnouncedAtMostTenTimesASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOperations(slog.New(slog.DiscardHandler))
		j := begin(t, o, "import")
		before := o.seq
		for i := range int64(1000) {
			j.p.Progress(i, 1000)
			if err := clock.Pause(t.Context(), time.Millisecond); err != nil {
				t.Fatal(err)
			}
		}
		if n := o.seq - before; n < 8 || n > 11 {
			t.Errorf("%d announcements in a second", n)
		}
		o.close(context.Background())
	})
}
