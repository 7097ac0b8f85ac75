package bench

import (
	"bufio"
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"hash"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mayflydb/mayfly/internal/clock"
)

const (
	// maxConnections is how many idle connections are kept: there are not more clients.
	maxConnections = 1000
	// maxAnswer is the most bytes that are read of an answer.
	maxAnswer = 64 << 20
)

// trusting is the configuration of TLS. authority is a certificate in PEM that is trusted in addition to those of the
// system; nil adds none.
func trusting(authority []byte) *tls.Config {
	if authority == nil {
		return &tls.Config{}
	}
	roots, err := x509.SystemCertPool()
	if err != nil {
		roots = x509.NewCertPool()
	}
	roots.AppendCertsFromPEM(authority)
	return &tls.Config{RootCAs: roots}
}

// A nosqlClient sends plain requests of the REST API, signed with the key of an account. It writes them to connections
// of its own and reads answers in the same goroutine, which costs half of what http.Client does: the client shares the
// processors with the server that it measures.
type nosqlClient struct {
	endpoint *url.URL
	key      []byte
	dial     interface {
		DialContext(ctx context.Context, network, address string) (net.Conn, error)
	}
	idle chan *connection
}

// A connection carries one request at a time.
type connection struct {
	net.Conn
	in     *bufio.Reader
	out    bytes.Buffer
	text   []byte // of the last answer
	signer hash.Hash
}

// headBytes is the most bytes of a line in the head of an answer.
const headBytes = 32 << 10

func newNoSQLClient(endpoint, key string, authority []byte) (*nosqlClient, error) {
	secret, err := base64.StdEncoding.DecodeString(key)
	if err != nil {
		return nil, fmt.Errorf("the key is not base64: %w", err)
	}
	u, err := url.Parse(endpoint)
	if err != nil || u.Hostname() == "" {
		return nil, fmt.Errorf("%q is not a URL of an endpoint", endpoint)
	}
	c := &nosqlClient{endpoint: u, key: secret, dial: &net.Dialer{}, idle: make(chan *connection, maxConnections)}
	port := "80"
	if u.Scheme == "https" {
		c.dial, port = &tls.Dialer{Config: trusting(authority)}, "443"
	}
	if u.Port() == "" {
		u.Host = net.JoinHostPort(u.Hostname(), port)
	}
	return c, nil
}

// A nosqlRequest is what send sends.
type nosqlRequest struct {
	method, path string // the path begins after the slash of the root
	// kind and resource are what the signature is for: a type such as "docs", and the link of a resource.
	kind, resource string
	body           []byte
	headers        []string // in pairs of name and value
	text           bool     // the body of the answer is wanted
}

// A nosqlAnswer is an answer with success.
type nosqlAnswer struct {
	body         []byte // if the request asks for it
	continuation string
}

// A refusal is an answer that is not a success.
type refusal struct {
	status int
	text   string
}

func (r *refusal) Error() string { return fmt.Sprintf("status %d: %s", r.status, r.text) }

// send fails with a *refusal if the answer is not a success.
func (c *nosqlClient) send(ctx context.Context, r nosqlRequest) (nosqlAnswer, error) {
	conn, err := c.connect(ctx)
	if err != nil {
		return nosqlAnswer{}, err
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	answer, reusable, err := c.exchange(conn, r)
	if !stop() || !reusable {
		_ = conn.Close()
		return answer, err
	}
	select {
	case c.idle <- conn:
	default:
		_ = conn.Close()
	}
	return answer, err
}

func (c *nosqlClient) connect(ctx context.Context) (*connection, error) {
	select {
	case conn := <-c.idle:
		return conn, nil
	default:
	}
	conn, err := c.dial.DialContext(ctx, "tcp", c.endpoint.Host)
	if err != nil {
		return nil, err
	}
	return &connection{Conn: conn, in: bufio.NewReaderSize(conn, headBytes), signer: hmac.New(sha256.New, c.key)}, nil
}

// exchange writes a request and reads its answer. The connection can carry another one if reusable is true.
func (c *nosqlClient) exchange(conn *connection, r nosqlRequest) (_ nosqlAnswer, reusable bool, _ error) {
	conn.out.Reset()
	c.write(conn, r)
	if _, err := conn.Write(conn.out.Bytes()); err != nil {
		return nosqlAnswer{}, false, err
	}
	h, err := readHead(conn.in)
	if err == nil {
		err = conn.readText(h)
	}
	if err != nil {
		return nosqlAnswer{}, false, err
	}
	if h.status >= http.StatusBadRequest {
		return nosqlAnswer{}, !h.last, &refusal{h.status, string(conn.text[:min(len(conn.text), 200)])}
	}
	answer := nosqlAnswer{continuation: h.continuation}
	if r.text {
		answer.body = bytes.Clone(conn.text)
	}
	return answer, !h.last, nil
}

// A head is what the client needs of the head of an answer. http.ReadResponse, which makes a map of all headers, takes
// a third of the processor time of a client.
type head struct {
	status       int
	length       int64 // -1 if it is not declared
	chunked      bool
	last         bool // the server closes the connection
	continuation string
}

func readHead(in *bufio.Reader) (h head, err error) {
	line, err := readLine(in)
	if err != nil {
		return h, err
	}
	if len(line) < len("HTTP/1.1 200") || !bytes.HasPrefix(line, []byte("HTTP/1.1 ")) {
		return h, fmt.Errorf("the answer begins with %q", line)
	}
	if h.status, err = strconv.Atoi(string(line[9:12])); err != nil {
		return h, fmt.Errorf("the answer begins with %q", line)
	}
	h.length = -1
	for {
		if line, err = readLine(in); err != nil || len(line) == 0 {
			return h, err
		}
		name, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimSpace(value)
		switch {
		case bytes.EqualFold(name, []byte("Content-Length")):
			if h.length, err = strconv.ParseInt(string(value), 10, 64); err != nil || h.length < 0 {
				return h, fmt.Errorf("the answer has %q", line)
			}
		case bytes.EqualFold(name, []byte("Transfer-Encoding")):
			h.chunked = bytes.EqualFold(value, []byte("chunked"))
		case bytes.EqualFold(name, []byte("Connection")):
			h.last = bytes.EqualFold(value, []byte("close"))
		case bytes.EqualFold(name, []byte(continuationHeader)):
			h.continuation = string(value)
		}
	}
}

// readLine reads a line without its end. It is valid until the next read.
func readLine(in *bufio.Reader) ([]byte, error) {
	line, err := in.ReadSlice('\n')
	if err != nil {
		return nil, err
	}
	return bytes.TrimRight(line, "\r\n"), nil
}

// readText reads the body of an answer.
func (conn *connection) readText(h head) (err error) {
	switch {
	case h.status == http.StatusNoContent || h.status == http.StatusNotModified:
		conn.text = conn.text[:0]
		return nil
	case h.chunked:
		if conn.text, err = io.ReadAll(io.LimitReader(httputil.NewChunkedReader(conn.in), maxAnswer)); err != nil {
			return err
		}
		for line := []byte{0}; len(line) > 0 && err == nil; { // the trailers
			line, err = readLine(conn.in)
		}
		return err
	case h.length < 0 || h.length > maxAnswer:
		return fmt.Errorf("an answer with status %d declares a length of %d", h.status, h.length)
	}
	conn.text = slices.Grow(conn.text[:0], int(h.length))[:h.length]
	_, err = io.ReadFull(conn.in, conn.text)
	return err
}

// write writes a request with the headers that prove that the sender has the key, as
// https://learn.microsoft.com/rest/api/cosmos-db/access-control-on-cosmosdb-resources says.
func (c *nosqlClient) write(conn *connection, r nosqlRequest) {
	out, mac := &conn.out, conn.signer
	mac.Reset()
	date := strings.ToLower(clock.Wall().UTC().Format(http.TimeFormat))
	for _, line := range []string{strings.ToLower(r.method), r.kind, r.resource, date, ""} {
		_, _ = io.WriteString(mac, line+"\n")
	}
	signature := url.QueryEscape("type=master&ver=1.0&sig=" + base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	out.WriteString(r.method + " " + strings.TrimSuffix(c.endpoint.Path, "/") + "/" + r.path + " HTTP/1.1\r\n")
	header := func(name, value string) { out.WriteString(name + ": " + value + "\r\n") }
	header("Host", c.endpoint.Host)
	header("Authorization", signature)
	header("x-ms-date", date)
	header("x-ms-version", "2018-12-31")
	header("Content-Length", strconv.Itoa(len(r.body)))
	for i := 0; i < len(r.headers); i += 2 {
		header(r.headers[i], r.headers[i+1])
	}
	out.WriteString("\r\n")
	out.Write(r.body)
}
