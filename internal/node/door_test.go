package node

import (
	"bytes"
	"io"
	"net/http"
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
						t.Errorf("%s %d, error %v, %d bytes; want HTTP/%d and the authority", response.Proto, response.StatusCode, err, len(body), c.want)
					}
				})
			}
			all.Wait()
		})
	}
}
