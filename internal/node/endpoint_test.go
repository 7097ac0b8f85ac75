package node

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
)

// Who can speak HTTP/1.1 does, and who can only speak HTTP/2 is understood:
// azure_data_cosmos for Rust begins so and does not fall back
// (Azure/azure-sdk-for-rust: sdk/cosmos/azure_data_cosmos_driver/src/driver/transport/http_client_factory.rs).
func TestHTTPVersions(t *testing.T) {
	n := start(t, Options{NoSQL: "127.0.0.1:0"})
	speaks := func(set ...func(*http.Protocols, bool)) *http.Client {
		protocols := new(http.Protocols)
		for _, set := range set {
			set(protocols, true)
		}
		transport := &http.Transport{TLSClientConfig: trusting(n), Protocols: protocols}
		t.Cleanup(transport.CloseIdleConnections)
		return &http.Client{Transport: transport}
	}
	var (
		one   = (*http.Protocols).SetHTTP1
		two   = (*http.Protocols).SetHTTP2
		plain = (*http.Protocols).SetUnencryptedHTTP2
	)
	for _, c := range []struct {
		name, url string
		client    *http.Client
		want      int
	}{
		{"https, 1.1", n.Endpoint(), speaks(one), 1},
		{"https, 1.1 and 2", n.Endpoint(), speaks(one, two), 1},
		{"https, 2", n.Endpoint(), speaks(two), 2},
		{"http, 1.1", n.PlainEndpoint(), speaks(one), 1},
		{"http, 2 without asking", n.PlainEndpoint(), speaks(plain), 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			var all sync.WaitGroup
			for range 8 { // on one connection, when it is HTTP/2
				all.Go(func() {
					response, err := c.client.Get(strings.TrimSuffix(c.url, "/") + "/_mayfly/ca.pem")
					if err != nil {
						t.Error(err)
						return
					}
					defer response.Body.Close()
					body, err := io.ReadAll(response.Body)
					if err != nil || response.ProtoMajor != c.want || !bytes.Equal(body, n.CA()) {
						t.Errorf("%s %d, error %v, %d bytes; want HTTP/%d and the authority", response.Proto,
							response.StatusCode, err, len(body), c.want)
					}
				})
			}
			all.Wait()
		})
	}
}

// TestLengthBesideChunks sends what a proxy that goes by the Content-Length takes for one request and a server that
// goes by the chunks for two: the second is not answered on the same connection (RFC 9112, 6.1).
func TestLengthBesideChunks(t *testing.T) {
	n := start(t, Options{NoSQL: "127.0.0.1:0", Admin: "127.0.0.1:0"})
	smuggled := "GET /ready HTTP/1.1\r\nHost: localhost\r\n\r\n"
	for _, d := range []*endpoint{n.nosql, n.admin} {
		for _, c := range []struct {
			name, headers, body string
			answers             int
		}{
			{"both", fmt.Sprintf("Content-Length: %d\r\nTransfer-Encoding: chunked\r\n", len(smuggled)+5), "0\r\n\r\n",
				1},
			{"both, the other way round",
				fmt.Sprintf("Transfer-Encoding: chunked\r\nContent-Length: %d\r\n", len(smuggled)+5), "0\r\n\r\n", 1},
			{"chunks", "Transfer-Encoding: chunked\r\n", "2\r\n{}\r\n0\r\n\r\n", 1},
			{"a length", "Content-Length: 2\r\n", "{}", 2},
			{"two lengths", "Content-Length: 2\r\nContent-Length: 3\r\n", "{}", 1},
			{"another encoding", "Transfer-Encoding: gzip, chunked\r\n", "0\r\n\r\n", 1},
		} {
			conn, err := net.Dial("tcp", d.address())
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(conn,
				"GET /ready HTTP/1.1\r\nHost: localhost\r\n%s\r\n%sGET /ready HTTP/1.1\r\nHost: "+
					"localhost\r\nConnection: close\r\n\r\n", c.headers, c.body)
			text, err := io.ReadAll(conn)
			conn.Close()
			if answers := strings.Count(string(text), "HTTP/1.1 "); answers != c.answers {
				t.Errorf("%s, %s: %d answers, want %d, error %v: %s", d.name, c.name, answers, c.answers, err, text)
			}
		}
	}
}

// TestCipherSuites offers one suite of TLS 1.2 at a time.
func TestCipherSuites(t *testing.T) {
	n := start(t, Options{NoSQL: "127.0.0.1:0"})
	offered := map[uint16]bool{} // and whether a certificate with a key on a curve goes with it
	for _, suite := range append(tls.CipherSuites(), tls.InsecureCipherSuites()...) {
		if slices.Contains(suite.SupportedVersions, tls.VersionTLS12) {
			offered[suite.ID] = strings.Contains(suite.Name, "ECDHE_ECDSA") && !strings.Contains(suite.Name, "CBC") &&
				!strings.Contains(suite.Name, "RC4")
		}
	}
	for suite, want := range offered {
		config := &tls.Config{InsecureSkipVerify: true, MaxVersion: tls.VersionTLS12, CipherSuites: []uint16{suite}}
		conn, err := tls.Dial("tcp", n.nosql.address(), config)
		if (err == nil) != want {
			t.Errorf("%s: error %v, want it taken: %v", tls.CipherSuiteName(suite), err, want)
		}
		if err == nil {
			conn.Close()
		}
	}
}
