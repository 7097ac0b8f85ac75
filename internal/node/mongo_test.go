package node

import (
	"crypto/x509"
	"encoding/pem"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mayflydb/mayfly/internal/clock"
	"github.com/mayflydb/mayfly/internal/fault"
)

// TestMongoURI compares the connection string with what the API answers: plain connections too, unless
// the certificate is the operator's own. A client finds out by itself that there is a replica set.
func TestMongoURI(t *testing.T) {
	own := pemFiles(t)
	for name, c := range map[string]struct {
		tls     TLS
		replSet string
		want    string
	}{
		"no TLS":            {TLS{Off: true}, "", ""},
		"TLS and plain":     {TLS{}, "", ""},
		"a set":             {TLS{Off: true}, "globaldb", ""},
		"TLS only":          {own, "", "?tls=true"},
		"TLS only, and set": {own, "globaldb", "?tls=true"},
	} {
		t.Run(name, func(t *testing.T) {
			n := start(t, Options{TLS: c.tls, Mongo: Mongo{Address: "127.0.0.1:0", ReplSet: c.replSet}})
			if got, want := n.MongoURI(), "mongodb://"+n.mongo.address()+"/"+c.want; got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
}

// pemFiles are a certificate and its key in two files.
func pemFiles(t *testing.T) TLS {
	t.Helper()
	c, err := ownCertificates("", []string{"localhost"}, clock.Wall())
	if err != nil {
		t.Fatal(err)
	}
	key, err := x509.MarshalPKCS8PrivateKey(c.server.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	files := TLS{Cert: filepath.Join(dir, "cert.pem"), Key: filepath.Join(dir, "key.pem")}
	for path, b := range map[string]*pem.Block{
		files.Cert: {Type: "CERTIFICATE", Bytes: c.server.Certificate[0]},
		files.Key:  {Type: "PRIVATE KEY", Bytes: key},
	} {
		if err := os.WriteFile(path, pem.EncodeToMemory(b), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return files
}

// TestEmulator holds what an emulator opens on an address that other machines reach.
func TestEmulator(t *testing.T) {
	const everywhere = "0.0.0.0:0"
	own := strings.Repeat("k", 43) + "="
	for name, c := range map[string]struct {
		options Options
		auth    bool
		refused bool
	}{
		"well-known key": {Options{Emulator: true, AllowWellKnownKey: true}, false, false},
		"well-known key, given": {Options{Emulator: true, AllowWellKnownKey: true, Key: WellKnownKey},
			false, false},
		"well-known key, passwords wanted": {Options{Emulator: true, AllowWellKnownKey: true,
			Mongo: Mongo{Auth: "on"}}, true, false},
		"a key of its own": {Options{Emulator: true, AllowWellKnownKey: true, Key: own}, true, false},
		"a key of its own, no passwords": {Options{Emulator: true, Key: own, Mongo: Mongo{Auth: "off"}}, false,
			false},
		"no emulator":                       {Options{AllowWellKnownKey: true}, true, false},
		"no emulator, no passwords":         {Options{AllowWellKnownKey: true, Mongo: Mongo{Auth: "off"}}, false, true},
		"well-known key given, not allowed": {Options{Emulator: true, Key: WellKnownKey}, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			o := c.options
			o.Mongo.Address, o.Engine = everywhere, memory(t)
			n, err := Start(t.Context(), o)
			if c.refused {
				if fault.KindOf(err) != fault.Invalid {
					t.Errorf("error %v, want the options refused", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			defer n.Close(t.Context())
			if n.MongoAuth() != c.auth {
				t.Errorf("asks MongoDB clients for passwords: %v, want %v", n.MongoAuth(), c.auth)
			}
		})
	}
}
