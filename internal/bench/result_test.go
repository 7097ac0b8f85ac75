package bench

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"
)

// failing is a target whose calls fail, each for another reason.
type failing struct{ calls int }

func (f *failing) Create(context.Context, Document, int) error { return f.fail() }
func (f *failing) Read(context.Context, string) error          { return f.fail() }
func (f *failing) Update(context.Context, Document) error      { return f.fail() }
func (f *failing) Query(context.Context, int) error            { return f.fail() }
func (f *failing) Kind(err error) string                       { return err.Error() }
func (f *failing) Close(context.Context) error                 { return nil }

func (f *failing) fail() error {
	f.calls++
	return fmt.Errorf("reason %d", f.calls)
}

func TestSummary(t *testing.T) {
	r, target := newResult(), &failing{}
	for i := range 100 {
		r.record(opRead, time.Duration(i+1)*time.Millisecond, nil, target)
	}
	r.record(opExpired, time.Millisecond, nil, target)
	r.record(opExpired, time.Hour, errExpiredSeen, target)
	r.record(opCreate, time.Second, errors.New("429"), target)
	r.Elapsed = 2 * time.Second
	turn := newResult()
	turn.record(opRead, time.Millisecond, nil, target)
	turn.Elapsed = 2 * time.Second
	r.Add(turn)
	s := r.Summary("here")
	if s.ExpiredSeen != 1 || s.ExpiredGone != 1 || s.Errors["429"] != 1 || s.Seconds != 4 || len(s.Rows) != 3 {
		t.Errorf("%+v", s)
	}
	all, read := s.Rows[0], s.Rows[1]
	if all.Calls != 103 || all.PerSecond != 103.0/4 || read.Operation != "read" || read.Calls != 101 {
		t.Errorf("%+v, %+v", all, read)
	}
	if read.P50 < 49 || read.P50 > 51 || read.Max < 100 || read.Max > 101 || all.Max < 59_000 {
		t.Errorf("%+v, %+v", all, read)
	}
}

func TestKindsOfErrorsAreBounded(t *testing.T) {
	target := &failing{}
	r, err := Run(t.Context(), target, Options{Clients: 1, Duration: 50 * time.Millisecond, Bytes: 1})
	if err != nil || target.calls <= kinds {
		t.Fatalf("%d calls, error %v", target.calls, err)
	}
	if len(r.Errors) != kinds+1 || r.Errors["other"] == 0 {
		t.Errorf("%d kinds of errors, %d others, want %d and some", len(r.Errors), r.Errors["other"], kinds)
	}
}
