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
	if size := int(e.ContentLength) + 1; cap(e.request) < size {
		e.request = make([]byte, 0, min(size, maxPooled))
	}
	var err error
	if e.request, err = readAll(e.request, e.Body, maxBody); err != nil {
		e.put(outConnection, valueClose)
		return nil, err
	}
	e.read = true
	http.NewResponseController(e.writer).SetReadDeadline(time.Time{})
	return e.request, nil
}

// hurry gives the client some time for what is still to come of its body,
// which the server reads even when no handler does. The server lifts it before the next request.
func (e *exchange) hurry() {
	if !e.read && e.ContentLength != 0 {
		http.NewResponseController(e.writer).SetReadDeadline(clock.Wall().Add(bodyPatience))
	}
}

// readAll appends what r holds to buf, up to limit bytes.
func readAll(buf []byte, r io.Reader, limit int) ([]byte, error) {
	for {
		if len(buf) == cap(buf) {
			buf = append(buf, 0)[:len(buf)]
		}
		n, err := r.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		switch {
		case len(buf) > limit:
			return buf[:0], errTooLarge
		case err == io.EOF:
			return buf, nil
		case errors.Is(err, os.ErrDeadlineExceeded):
			return buf[:0], fault.Wrap(fault.Timeout, err, "The request's body did not arrive in time.")
		case err != nil:
			return buf[:0], fault.Wrap(fault.Invalid, err, "The request's body ended early.")
		}
	}
}
