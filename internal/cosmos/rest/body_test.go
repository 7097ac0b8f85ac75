package rest

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

func TestBodies(t *testing.T) {
	d := newTestAPI(t)
	for _, c := range []struct {
		name, body string
		status     int
		text       string
	}{
		{"none", "", 400, "request payload is invalid"},
		{"no JSON", "{", 400, "request payload is invalid"},
		{"an array", "[]", 400, "request payload is invalid"},
		{"not UTF-8", "{\"id\":\"\xff\"}", 400, "request payload is invalid"},
		{"two values", `{"id":"a"}{}`, 400, "request payload is invalid"},
		{"deep", strings.Repeat(`{"a":`, 500) + "1" + strings.Repeat("}", 500), 400, "request payload is invalid"},
		{"at the limit", `{"id":"large","x":"` + strings.Repeat("y", maxBody-21) + `"}`, 201, ""},
		{"over the limit", `{"id":"large","x":"` + strings.Repeat("y", maxBody-20) + `"}`, 413,
			"Request size is too large"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d.do("POST", "/dbs", c.body).want(c.status).says(c.text)
		})
	}
}

// A body without a declared length is read up to the limit and no further.
func TestChunkedBodyIsBounded(t *testing.T) {
	d := newTestAPI(t)
	r := newRequest("POST", "/dbs", "")
	sent := &counter{}
	r.Body, r.ContentLength = io.NopCloser(sent), -1
	signRequest(r)
	d.send(r).want(413)
	if sent.n > 2*maxBody {
		t.Errorf("%d bytes were read", sent.n)
	}
}

// A counter is an endless reader of spaces.
type counter struct{ n int }

func (c *counter) Read(p []byte) (int, error) {
	c.n += len(p)
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}

// overTheWire sends the head of a request and then rest, and returns the answer.
func overTheWire(t *testing.T, d *testAPI, length int, rest string, closeAfter bool) *http.Response {
	t.Helper()
	s := httptest.NewServer(d.api)
	t.Cleanup(s.Close)
	c, err := net.Dial("tcp", s.Listener.Addr().String())
	must(t, err)
	t.Cleanup(func() { c.Close() })
	r := newRequest("POST", "/dbs", "")
	signRequest(r)
	var head bytes.Buffer
	fmt.Fprintf(&head, "POST /dbs HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n", length)
	r.Header.Write(&head)
	head.WriteString("\r\n" + rest)
	_, err = c.Write(head.Bytes())
	must(t, err)
	if closeAfter {
		must(t, c.(*net.TCPConn).CloseWrite())
	}
	answer, err := http.ReadResponse(bufio.NewReader(c), nil)
	must(t, err)
	return answer
}

func TestBodyThatStopsShort(t *testing.T) {
	if got := overTheWire(t, newTestAPI(t), 1000, `{"id":`, true).StatusCode; got != 400 && got != 408 {
		t.Errorf("status %d", got)
	}
}

func TestSlowBody(t *testing.T) {
	defer func(old time.Duration) { bodyTimeout = old }(bodyTimeout)
	bodyTimeout = 20 * time.Millisecond
	if got := overTheWire(t, newTestAPI(t), 1000, `{"id":`, false).StatusCode; got != 408 {
		t.Errorf("status %d", got)
	}
}

func TestFalseLengthCostsNothing(t *testing.T) {
	if got := overTheWire(t, newTestAPI(t), 1<<40, `{"id":`, false).StatusCode; got != 413 {
		t.Errorf("status %d", got)
	}
}
