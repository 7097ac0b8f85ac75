// Package remote is a client of the admin API of a running mayfly. It finds the server, sends the key, reads answers
// within limits, and turns problems into errors that say what a program may do about them: the server cannot be
// reached, refuses, or does not have what was named. It knows no resource of the API.
package remote

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Prefix is the path of the first version of the API.
const Prefix = "/_mayfly/v1"

const (
	// maxAnswer is the largest answer that is not a stream: a page of items, which the server bounds to a few MiB.
	maxAnswer = 64 << 20
	// dialTime is how long a connection may take: a server that is there answers in milliseconds.
	dialTime = 10 * time.Second
)

// Options say where a server is, and who asks.
type Options struct {
	// Address is host:port, or a URL with the scheme http or https. Without a scheme it is http.
	Address string
	// Key is the account key, or another key that the server knows; empty sends none.
	Key string
	// Authority is a certificate in PEM that is trusted in addition to those of the system; nil adds none.
	Authority []byte
}

// A Client sends requests to one server. It is safe for concurrent use.
type Client struct {
	base string // scheme and host
	key  string
	http *http.Client
}

// New is a client. It sends nothing.
func New(o Options) (*Client, error) {
	if !strings.Contains(o.Address, "://") {
		o.Address = "http://" + o.Address
	}
	u, err := url.Parse(o.Address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("%q is not the address of an admin API, such as localhost:8080", o.Address)
	}
	transport := &http.Transport{
		DialContext:         (&net.Dialer{Timeout: dialTime}).DialContext,
		TLSHandshakeTimeout: dialTime,
		DisableCompression:  true, // nothing of the API is compressed
	}
	if o.Authority != nil {
		roots, err := x509.SystemCertPool()
		if err != nil {
			roots = x509.NewCertPool()
		}
		if !roots.AppendCertsFromPEM(o.Authority) {
			return nil, fmt.Errorf("the certificate of the authority cannot be read")
		}
		transport.TLSClientConfig = &tls.Config{RootCAs: roots}
	}
	client := &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse // the API has no redirects, and the key is for this server alone
	}}
	return &Client{u.Scheme + "://" + u.Host, o.Key, client}, nil
}

// Address is the URL of the server.
func (c *Client) Address() string { return c.base }

// Path is a path of the API made of segments, which may contain any character.
func Path(segments ...string) string {
	var b strings.Builder
	b.WriteString(Prefix)
	for _, s := range segments {
		b.WriteByte('/')
		switch s {
		case ".", "..": // else a client or a proxy would resolve them
			b.WriteString(strings.ReplaceAll(s, ".", "%2E"))
		default:
			b.WriteString(url.PathEscape(s))
		}
	}
	return b.String()
}

// Get requests a path, which may have a query, and decodes the answer.
func (c *Client) Get(ctx context.Context, path string, answer any) error {
	return c.Call(ctx, http.MethodGet, path, nil, answer)
}

// Call sends a request with body as JSON, none if it is nil, and decodes the answer unless answer is nil. It does not
// wait for an operation that the request starts: see Run.
func (c *Client) Call(ctx context.Context, method, path string, body, answer any) error {
	response, err := c.send(ctx, method, path, body)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	text, err := readAll(response.Body)
	if err != nil {
		return fmt.Errorf("the answer of %s cannot be read: %w", c.base, err)
	}
	if answer == nil || len(bytes.TrimSpace(text)) == 0 {
		return nil
	}
	if raw, ok := answer.(*json.RawMessage); ok {
		*raw = text
		return nil
	}
	if err := json.Unmarshal(text, answer); err != nil {
		return fmt.Errorf("the answer of %s to %s %s cannot be read: %w", c.base, method, path, err)
	}
	return nil
}

func (c *Client) send(ctx context.Context, method, path string, body any) (*http.Response, error) {
	if body == nil {
		return c.Stream(ctx, method, path, "", nil)
	}
	text, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	return c.Stream(ctx, method, path, "application/json", bytes.NewReader(text))
}

// Stream sends a request whose body or answer may be of any size, such as a backup. It returns an answer with a status
// of success; the caller closes its body. Any other answer is an error.
func (c *Client) Stream(
	ctx context.Context, method, path, contentType string, body io.Reader,
) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, method, c.base+path, body)
	if err != nil {
		return nil, err
	}
	if c.key != "" {
		r.Header.Set("Authorization", "Bearer "+c.key)
	}
	if contentType != "" {
		r.Header.Set("Content-Type", contentType)
	}
	response, err := c.http.Do(r)
	if err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, &Unreachable{c.base, reason(err)}
	}
	if response.StatusCode >= 200 && response.StatusCode < 300 {
		return response, nil
	}
	defer response.Body.Close()
	return nil, problemOf(response)
}

// reason leaves out of an error what repeats the request.
func reason(err error) error {
	if u, ok := err.(*url.Error); ok {
		return u.Err
	}
	return err
}

func readAll(in io.Reader) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(in, maxAnswer+1))
	if err == nil && len(text) > maxAnswer {
		err = fmt.Errorf("it is larger than %d MiB", maxAnswer>>20)
	}
	return text, err
}
