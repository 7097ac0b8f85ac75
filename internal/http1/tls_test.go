package http1

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
)

// Over TLS, clients get HTTP/1.1 or HTTP/2 as they choose, and handlers see the state of TLS whoever reads the request.
func TestTLS(t *testing.T) {
	example := httptest.NewUnstartedServer(nil) // it makes a certificate
	example.StartTLS()
	defer example.Close()
	config := &tls.Config{Certificates: example.TLS.Certificates, NextProtos: []string{"http/1.1", "h2"}}
	roots := x509.NewCertPool()
	roots.AddCert(example.Certificate())

	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		fmt.Fprintf(w, "%s TLS %v %q %v", r.Proto, r.TLS != nil && r.TLS.HandshakeComplete, body, err)
	})
	_, address := startOn(t, handler, nil, func(l net.Listener) net.Listener { return tls.NewListener(l, config) })
	client := func(protocol string) *http.Client {
		p := new(http.Protocols)
		p.SetHTTP1(protocol == "HTTP/1.1")
		p.SetHTTP2(protocol == "HTTP/2.0")
		trust := &tls.Config{RootCAs: roots, ServerName: "example.com"}
		transport := &http.Transport{TLSClientConfig: trust, Protocols: p}
		t.Cleanup(transport.CloseIdleConnections)
		return &http.Client{Transport: transport}
	}
	for _, protocol := range []string{"HTTP/1.1", "HTTP/2.0"} {
		c := client(protocol)
		for range 2 { // the first chunked request moves the connection
			for _, body := range []io.Reader{strings.NewReader("x"), io.MultiReader(strings.NewReader("x"))} {
				resp, err := c.Post("https://"+address, "text/plain", body)
				if err != nil {
					t.Fatal(err)
				}
				answer, _ := io.ReadAll(resp.Body)
				resp.Body.Close()
				if want := protocol + ` TLS true "x" <nil>`; string(answer) != want {
					t.Errorf("answer %q, want %q", answer, want)
				}
			}
		}
	}
	resp, err := http.Get("http://" + address)
	if err != nil || resp.StatusCode != http.StatusBadRequest {
		t.Errorf("a plain request: %v, %v, want 400", resp, err)
	}
}

// Shutdown does not wait for a client that has not begun to speak TLS.
func TestShutdownDuringHandshake(t *testing.T) {
	config := &tls.Config{GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return nil, nil }}
	arrived := make(chan bool, 1)
	s, address := startOn(t, http.HandlerFunc(told), func(s *Server) {
		s.Arrived = func(ctx context.Context, _ net.Conn) context.Context { arrived <- true; return ctx }
	}, func(l net.Listener) net.Listener { return tls.NewListener(l, config) })
	conn := dial(t, address)
	<-arrived
	if err := s.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := conn.Read(make([]byte, 1)); err == nil || os.IsTimeout(err) {
		t.Errorf("the connection: %v, want its end", err)
	}
}

// Plain HTTP/2 goes to net/http.
func TestPlainHTTP2(t *testing.T) {
	_, address := start(t, http.HandlerFunc(told), nil)
	p := new(http.Protocols)
	p.SetUnencryptedHTTP2(true)
	transport := &http.Transport{Protocols: p}
	defer transport.CloseIdleConnections()
	resp, err := (&http.Client{Transport: transport}).Get("http://" + address)
	if err != nil || resp.Proto != "HTTP/2.0" {
		t.Errorf("%v, %v, want HTTP/2.0", resp, err)
	}
}
