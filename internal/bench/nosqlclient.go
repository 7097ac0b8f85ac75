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
	"io"
	"net"
	"net/http"
	"net/url"
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
	in  *bufio.Reader
	out bytes.Buffer
}

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
}

// A nosqlAnswer is an answer with success.
type nosqlAnswer struct {
	body         []byte
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
	return &connection{Conn: conn, in: bufio.NewReader(conn)}, nil
}

// exchange writes a request and reads its answer. The connection can carry another one if reusable is true.
func (c *nosqlClient) exchange(conn *connection, r nosqlRequest) (_ nosqlAnswer, reusable bool, _ error) {
	conn.out.Reset()
	c.write(&conn.out, r)
	if _, err := conn.Write(conn.out.Bytes()); err != nil {
		return nosqlAnswer{}, false, err
	}
	answer, err := http.ReadResponse(conn.in, nil)
	if err != nil {
		return nosqlAnswer{}, false, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer))
	if err != nil {
		return nosqlAnswer{}, false, err
	}
	reusable = !answer.Close && len(text) < maxAnswer
	if answer.StatusCode >= http.StatusBadRequest {
		return nosqlAnswer{}, reusable, &refusal{answer.StatusCode, string(text[:min(len(text), 200)])}
	}
	return nosqlAnswer{text, answer.Header.Get(continuationHeader)}, reusable, nil
}

// write writes a request with the headers that prove that the sender has the key, as
// https://learn.microsoft.com/rest/api/cosmos-db/access-control-on-cosmosdb-resources says.
func (c *nosqlClient) write(out *bytes.Buffer, r nosqlRequest) {
	date := strings.ToLower(clock.Wall().UTC().Format(http.TimeFormat))
	mac := hmac.New(sha256.New, c.key)
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
