package node

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/mayflydb/mayfly/internal/clock"
)

// startSniffer serves "plain" or "tls", whichever the connection was.
func startSniffer(t *testing.T) (address string, trust *tls.Config) {
	c, err := ownCertificates("", ownHosts(), clock.Wall())
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(c.authority)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.TLS != nil {
			io.WriteString(w, "tls")
			return
		}
		io.WriteString(w, "plain")
	})}
	go server.Serve(listenMixed(l, &tls.Config{Certificates: []tls.Certificate{c.server}}))
	t.Cleanup(func() { server.Close() })
	return l.Addr().String(), &tls.Config{RootCAs: roots}
}

func TestOnePortForBoth(t *testing.T) {
	address, trust := startSniffer(t)
	silent, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()

	client := &http.Client{Transport: &http.Transport{TLSClientConfig: trust, DisableKeepAlives: true}}
	for scheme, want := range map[string]string{"http": "plain", "https": "tls"} {
		response, err := client.Get(scheme + "://" + address)
		if err != nil {
			t.Errorf("%s beside a silent client: %v", scheme, err)
			continue
		}
		got, _ := io.ReadAll(response.Body)
		response.Body.Close()
		if string(got) != want {
			t.Errorf("%s: served as %s, want %s", scheme, got, want)
		}
	}
}

func TestNonsenseIsAnsweredAsHTTP(t *testing.T) {
	address, _ := startSniffer(t)
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, "\x00\x01\x02\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(conn).ReadString('\n')
	if err != nil || !strings.Contains(line, "400") {
		t.Errorf("answer %q, error %v, want a 400", line, err)
	}
}

func TestCloseDropsSilentClients(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := listenMixed(l, nil).(*mixedListener)
	client, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	server, remote := net.Pipe() // one that the listener has certainly accepted
	if !s.await(server) {
		t.Fatal("closed already")
	}
	go s.detect(server)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := remote.Read(make([]byte, 1)); err == nil {
		t.Error("the silent connection is still open")
	}
	if _, err := s.Accept(); err == nil {
		t.Error("accepts after Close")
	}
	if s.await(remote) {
		t.Error("waits for connections after Close")
	}
}
