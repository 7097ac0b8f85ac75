package admin

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mayflydb/mayfly/internal/clock"
)

// A stuck client takes parts into a buffer of the server, and never receives what is in the buffer.
type stuck struct {
	*httptest.ResponseRecorder
	over chan struct{} // closed when the deadline to write has come
}

func (s *stuck) SetWriteDeadline(at time.Time) error {
	if !at.After(clock.Wall()) {
		close(s.over)
	}
	return nil
}

func (s *stuck) FlushError() error {
	<-s.over
	return os.ErrDeadlineExceeded
}

var _ http.ResponseWriter = (*stuck)(nil)

// TestCutOffWhileTheBuffersAreSent ends a stream while it waits for the client to receive what is in the buffers, and
// sends nothing afterwards.
func TestCutOffWhileTheBuffersAreSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := &stuck{httptest.NewRecorder(), make(chan struct{})}
		out := newOutflow(client)
		sent := make(chan error, 1)
		go func() { sent <- out.send("part") }()
		synctest.Wait()
		out.CutOff()
		synctest.Wait()
		select {
		case err := <-sent:
			if !errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("%v, want that the deadline has come", err)
			}
		default:
			t.Error("the stream still waits for the client after CutOff")
			close(client.over)
		}
		if err := out.Flush(); !errors.Is(err, errCutOff) {
			t.Errorf("after the end: %v, want %v", err, errCutOff)
		}
		if err := out.send("more"); !errors.Is(err, errCutOff) || client.Body.String() != "part" {
			t.Errorf("after the end: %v, sent %q", err, client.Body.String())
		}
	})
}
