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

// maxBody is the largest request body in bytes, the service's limit of one item and of
// one batch.
const maxBody = doc.MaxBytes

// bodyPatience is how long a client may take to send a body.
var bodyPatience = 60 * time.Second // a variable for its test

var errTooLarge = fault.New(fault.TooLarge, "Request size is too large. Keep a request below 2 MB.")

// body reads the request's body, once; later calls give the same bytes. They
// belong to the exchange. It fails with fault.TooLarge above maxBody, with
// fault.Timeout when the client is too slow and with fault.Invalid when it stops short.
// A false Content-Length costs no memory: the buffer grows with what arrives.
func (e *exchange) body() ([]byte, error) {
	if e.read {
		return e.request, nil
	}
	if e.ContentLength > maxBody {
		return nil, errTooLarge
	}
	e.hurry()
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

// A huge item may have a hundred thousand index entries. It waits for its turn before it is parsed, so that those that wait hold
// little more than its text.
const (
	hugeItem     = 512 << 10 // bytes of text
	hugeItemTime = 500 * time.Nanosecond
)

// hurry gives the client some time for what is still to come of its body,
// which the server reads even when no handler does. The server lifts it before the next request.
func (e *exchange) hurry() {
	if !e.read && e.ContentLength != 0 {
		http.NewResponseController(e.writer).SetReadDeadline(clock.Wall().Add(bodyPatience))
	}
}

// promptPiece is how long a piece may take to arrive when its client has sent it already.
const promptPiece = 2 * time.Millisecond

// receive reads the body into e.request, up to maxBody.
func (e *exchange) receive() error {
	fresh, watch := 0, clock.Start()
	for {
		if len(e.request) == cap(e.request) {
			if err := e.enlarge(); err != nil {
				return err
			}
			watch = clock.Start()
		}
		n, err := e.Body.Read(e.request[len(e.request):cap(e.request)])
		e.request = e.request[:len(e.request)+n]
		if fresh += n; fresh >= piece {
			e.share.Progress()
			if watch.Elapsed() > promptPiece {
				e.share.Rest() // it waits for its client, and not for its turn
			} else if err := e.share.Yield(e.Context()); err != nil {
				return err
			}
			fresh, watch = 0, clock.Start()
		}
		switch {
		case err == nil && len(e.request) <= maxBody:
			continue
		case !e.share.Keep() && err != io.EOF:
			return errCut
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

// enlarge makes the buffer of the body larger: to what the client said if that is little, else with what arrives,
// whatever was said. It waits for the memory, and meanwhile nothing is read.
func (e *exchange) enlarge() error {
	if !e.share.Keep() {
		return errCut
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
		e.share.Lend(e.cutBody)
	}
	return nil
}
