package rest

import (
	"errors"
	"io"
	"net/http"
	"os"
	"time"

	"github.com/mayflydb/mayfly/internal/clock"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/fault"
)

// maxBody is the largest request body in bytes: the service's limit for one item and for one batch.
const maxBody = doc.MaxBytes

// bodyTimeout is how long a client may take to send a body. It is a variable so that tests can change it.
var bodyTimeout = 60 * time.Second

var errTooLarge = fault.New(fault.TooLarge, "Request size is too large. Keep a request below 2 MB.")

// body reads the request's body. Later calls return the same bytes, which belong to the exchange. It fails with
// fault.TooLarge above maxBody, with fault.Timeout if the client is too slow and with fault.Invalid if the client
// stops early. A false Content-Length costs no memory: the buffer grows with the bytes that arrive.
func (e *exchange) body() ([]byte, error) {
	if e.read {
		return e.request, nil
	}
	if e.ContentLength > maxBody {
		return nil, errTooLarge
	}
	e.setBodyDeadline()
	if err := e.receive(); err != nil {
		e.put(outConnection, valueClose)
		return nil, err
	}
	e.read = true
	http.NewResponseController(e.writer).SetReadDeadline(time.Time{})
	if e.writesItem && len(e.request) >= hugeItem {
		if err := e.share.Hold(e.Context(), time.Duration(len(e.request))*hugeItemTime); err != nil {
			return nil, err
		}
	}
	if err := e.share.Take(e.Context(), int64(parsedFactor*len(e.request))); err != nil {
		return nil, err
	}
	return e.request, nil
}

// A huge item can have a hundred thousand index entries. It waits for its turn before it is parsed, so that waiting
// requests hold little more than the text of their items.
const (
	hugeItem     = 512 << 10 // bytes of text
	hugeItemTime = 500 * time.Nanosecond
)

// setBodyDeadline sets a deadline for the rest of the body. The server reads that rest even if no handler does, and
// lifts the deadline before the next request.
func (e *exchange) setBodyDeadline() {
	if !e.read && e.ContentLength != 0 {
		http.NewResponseController(e.writer).SetReadDeadline(clock.Wall().Add(bodyTimeout))
	}
}

// promptRead is the longest time in which a piece of the body arrives if the client has already sent it.
const promptRead = 2 * time.Millisecond

// receive reads the body into e.request, up to maxBody bytes.
func (e *exchange) receive() error {
	fresh, watch := 0, clock.Start()
	for {
		if len(e.request) == cap(e.request) {
			if err := e.growBody(); err != nil {
				return err
			}
			watch = clock.Start()
		}
		n, err := e.Body.Read(e.request[len(e.request):cap(e.request)])
		e.request = e.request[:len(e.request)+n]
		if fresh += n; fresh >= piece {
			e.share.Progress()
			if watch.Elapsed() > promptRead {
				e.share.Rest() // the request waits for its client, not for a processor
			} else if err := e.share.Yield(e.Context()); err != nil {
				return err
			}
			fresh, watch = 0, clock.Start()
		}
		switch {
		case err == nil && len(e.request) <= maxBody:
			continue
		case !e.share.Keep() && err != io.EOF:
			return errBodyCut
		case len(e.request) > maxBody:
			return errTooLarge
		case err == io.EOF:
			return nil
		case errors.Is(err, os.ErrDeadlineExceeded):
			return fault.Wrap(fault.Timeout, err, "The request's body did not arrive in time.")
		}
		return fault.Wrap(fault.Invalid, err, "The request's body ended early.")
	}
}

// growBody grows the body's buffer: to Content-Length if that is small, else in proportion to what has arrived,
// whatever Content-Length says. It reads nothing while it waits for memory.
func (e *exchange) growBody() error {
	if !e.share.Keep() {
		return errBodyCut
	}
	size := max(2*cap(e.request), 4<<10)
	if all := int(e.ContentLength) + 1; all > cap(e.request) && (all < size || all <= maxPooled) {
		size = all
	}
	size = min(size, maxBody+1)
	if err := e.share.Take(e.Context(), int64(size-cap(e.request))); err != nil {
		return err
	}
	if err := e.share.Yield(e.Context()); err != nil {
		return err
	}
	e.request = append(make([]byte, 0, size), e.request...)
	if e.share.Held() > piece {
		e.share.Lend(e.abortBody)
	}
	return nil
}
