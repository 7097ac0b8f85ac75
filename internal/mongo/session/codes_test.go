package session

import (
	"context"
	"testing"

	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/mongo/code"
)

// A write whose end is unknown is told as such, also if the time of its command is over: that it has not been written
// would be more than is known.
func TestUnknownEndsAreTold(t *testing.T) {
	for _, c := range []struct {
		err  error
		want code.Code
	}{
		{fault.Wrap(fault.Undetermined, context.DeadlineExceeded, "It may be stored."), code.WriteConcernTimeout},
		{fault.Wrap(fault.Unavailable, context.DeadlineExceeded, "Nothing is stored."), code.MaxTimeMSExpired},
		{fault.New(fault.Unavailable, "Nothing is stored."), code.ShutdownInProgress},
	} {
		got := Translate(c.err)
		if got.Code != c.want {
			t.Errorf("%v: code %d, want %d", c.err, got.Code, c.want)
		}
		if unknown := fault.KindOf(c.err) == fault.Undetermined; Undetermined(got) != unknown {
			t.Errorf("%v: undetermined is %v", c.err, !unknown)
		}
	}
}
