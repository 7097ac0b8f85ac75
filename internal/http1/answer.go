package http1

import (
	"fmt"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

const (
	// gathered is how many bytes of an answer are copied together to be written at once. The connection keeps the
	// buffer for its next answer.
	gathered = 4 << 10

	// undeclared is how many bytes of a body without a Content-Length are kept in order to declare it; longer ones are
	// sent in chunks.
	undeclared = 4 << 10
)

// An answer is the http.ResponseWriter of a request. ResponseController's methods work, except Hijack and
// EnableFullDuplex.
type answer struct {
	c       *conn
	header  http.Header
	order   []string // valid names of the header of the answer before, sorted
	status  int      // 0: not known yet
	length  int64    // of the body, as declared; -1: not declared
	written int64    // bytes of the body
	bare    bool     // there is no body
	chunked bool
	pending bool // the head is not complete: it lacks what depends on the body
	typed   bool // the handler has set a Content-Type
	last    bool // the connection ends after the answer
	broken  error
	timed   atomic.Bool // the handler has set a deadline

	out   []byte    // not sent yet
	body  []byte    // the beginning of the body, while pending
	pair  [2][]byte // out and what follows it, while they are sent
	parts net.Buffers
}

func (a *answer) open(c *conn) {
	header := a.header
	if header == nil {
		header = http.Header{}
	}
	clear(header)
	out, body := a.out[:0], a.body[:0]
	if cap(out) > 2*gathered {
		out = nil
	}
	a.c, a.header, a.out, a.body = c, header, out, body
	a.status, a.length, a.written = 0, -1, 0
	a.bare, a.chunked, a.pending, a.typed, a.last, a.broken = false, false, false, false, false, nil
	a.timed.Store(false)
}

// Header is the header of the answer, until WriteHeader.
func (a *answer) Header() http.Header { return a.header }

// WriteHeader begins the answer.
func (a *answer) WriteHeader(status int) {
	if a.status != 0 {
		a.c.logf("http: superfluous WriteHeader(%d)", status)
		return
	}
	if status < 200 || status > 999 {
		panic(fmt.Sprintf("http1: the status %d is not one of a whole answer", status))
	}
	a.status = status
	a.bare = status == http.StatusNoContent || status == http.StatusNotModified
	if !a.c.body.skip() || a.c.server.closing.Load() {
		a.last = true
	}
	a.out = append(a.out, "HTTP/1.1 "...)
	a.out = strconv.AppendInt(a.out, int64(status), 10)
	a.out = append(a.out, ' ')
	if text := http.StatusText(status); text != "" {
		a.out = append(a.out, text...)
	} else {
		a.out = strconv.AppendInt(append(a.out, "status code "...), int64(status), 10)
	}
	a.out = append(a.out, "\r\n"...)
	a.writeHeaders()
	if a.header["Date"] == nil {
		a.line("Date", a.c.server.today.now())
	}
	if a.last {
		a.line("Connection", "close")
	}
	if a.pending = !a.bare && (a.length < 0 || a.length > 0 && !a.typed); !a.pending {
		a.out = append(a.out, "\r\n"...)
	}
}

// writeHeaders writes what the handler has set, in the order of names. Most answers on a connection have the names of
// the one before.
func (a *answer) writeHeaders() {
	start := len(a.out)
	if len(a.order) == len(a.header) && a.writeInOrder() {
		return
	}
	a.out, a.order, a.length, a.typed = a.out[:start], a.order[:0], -1, false
	for name := range a.header {
		if !strings.ContainsAny(name, " \r\n:") {
			a.order = append(a.order, name)
		}
	}
	slices.Sort(a.order)
	a.writeInOrder()
}

// writeInOrder is writeHeaders if the names are those of a.order, and else returns false.
func (a *answer) writeInOrder() bool {
	for _, name := range a.order {
		values, ok := a.header[name]
		if !ok {
			return false
		}
		switch name {
		case "Connection":
			if len(values) > 0 && strings.EqualFold(values[0], "close") {
				a.last = true
			}
			continue
		case "Content-Length":
			n, err := strconv.ParseInt(strings.Join(values, ","), 10, 64)
			if err != nil || n < 0 || a.bare {
				continue
			}
			a.length = n
		case "Content-Type":
			a.typed = true
		case "Transfer-Encoding":
			continue
		}
		for _, value := range values {
			a.line(name, value)
		}
	}
	return true
}

// line writes one header. As in net/http, line breaks within a value become spaces.
func (a *answer) line(name, value string) {
	a.out = append(a.out, name...)
	a.out = append(a.out, ": "...)
	start := len(a.out)
	a.out = append(a.out, value...)
	if strings.IndexByte(value, '\n') >= 0 || strings.IndexByte(value, '\r') >= 0 {
		for i, c := range a.out[start:] {
			if c == '\n' || c == '\r' {
				a.out[start+i] = ' '
			}
		}
	}
	a.out = append(a.out, "\r\n"...)
}

// Write writes a part of the body.
func (a *answer) Write(p []byte) (int, error) {
	if a.status == 0 {
		a.WriteHeader(http.StatusOK)
	}
	switch {
	case len(p) == 0:
		return 0, nil
	case a.bare:
		return 0, http.ErrBodyNotAllowed
	case a.length >= 0 && a.written+int64(len(p)) > a.length:
		a.last = true
		return 0, http.ErrContentLength
	case a.broken != nil:
		return 0, a.broken
	}
	a.written += int64(len(p))
	switch {
	case !a.pending:
		a.add(p)
	case a.length < 0 && len(a.body)+len(p) <= undeclared:
		a.body = append(a.body, p...)
	default:
		a.complete(p)
	}
	if a.broken != nil {
		return 0, a.broken
	}
	return len(p), nil
}

// WriteString is Write without a copy.
func (a *answer) WriteString(s string) (int, error) { return a.Write([]byte(s)) }

// complete ends the head before all of the body is known. next is what the handler writes next.
func (a *answer) complete(next []byte) {
	a.sniff(next)
	if a.length < 0 {
		a.line("Transfer-Encoding", "chunked")
		a.chunked = true
	}
	a.out = append(a.out, "\r\n"...)
	a.pending = false
	a.add(a.body)
	a.add(next)
}

// sniff sets the Content-Type from the beginning of the body if the handler has not.
func (a *answer) sniff(next []byte) {
	if a.typed {
		return
	}
	begin := a.body
	if len(begin) == 0 {
		begin = next
	}
	if len(begin) > 0 {
		a.line("Content-Type", http.DetectContentType(begin))
	}
}

// add writes a part of the body behind what is in a.out.
func (a *answer) add(p []byte) {
	if len(p) == 0 {
		return
	}
	if a.chunked {
		a.out = strconv.AppendInt(a.out, int64(len(p)), 16)
		a.out = append(a.out, "\r\n"...)
	}
	if len(a.out)+len(p) <= gathered {
		a.out = append(a.out, p...)
	} else {
		a.sendWith(p)
	}
	if a.chunked {
		a.out = append(a.out, "\r\n"...)
	}
}

// send writes a.out to the connection.
func (a *answer) send() { a.sendWith(nil) }

// sendWith writes a.out and p to the connection, in one system call where that is possible.
func (a *answer) sendWith(p []byte) {
	if a.broken != nil {
		return
	}
	var err error
	if len(p) == 0 {
		_, err = a.c.raw.Write(a.out)
	} else {
		a.pair = [2][]byte{a.out, p}
		a.parts = a.pair[:]
		_, err = a.parts.WriteTo(a.c.raw)
		a.pair[1] = nil
	}
	if err != nil {
		a.broken, a.last = err, true
		a.c.watch.cancel()
	}
	a.out = a.out[:0]
}

// FlushError sends what has been written.
func (a *answer) FlushError() error {
	if a.status == 0 {
		a.WriteHeader(http.StatusOK)
	}
	if a.pending {
		a.complete(nil)
	}
	a.send()
	return a.broken
}

// Flush is FlushError for handlers that ask for an http.Flusher.
func (a *answer) Flush() { _ = a.FlushError() }

// SetReadDeadline sets the deadline for reading the body. If that has been read, it does nothing.
func (a *answer) SetReadDeadline(t time.Time) error {
	if a.c.body.whole {
		return nil
	}
	return a.c.raw.SetReadDeadline(t)
}

// SetWriteDeadline sets the deadline for writing the answer.
func (a *answer) SetWriteDeadline(t time.Time) error {
	a.timed.Store(true)
	return a.c.raw.SetWriteDeadline(t)
}

// close ends the answer, and returns whether the connection can be used again.
func (a *answer) close() bool {
	if a.status == 0 {
		a.WriteHeader(http.StatusOK)
	}
	if a.pending {
		if a.sniff(nil); a.length < 0 {
			a.line("Content-Length", strconv.Itoa(len(a.body)))
		}
		a.out = append(a.out, "\r\n"...)
		a.out = append(a.out, a.body...)
		a.pending = false
	}
	if a.chunked {
		a.out = append(a.out, "0\r\n\r\n"...)
	}
	a.send()
	if a.broken != nil || a.length >= 0 && a.written != a.length {
		return false
	}
	if a.last && a.c.body.left.Load() > 0 {
		a.c.lingers()
	}
	return !a.last
}
