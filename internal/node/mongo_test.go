package node

import (
	"crypto/x509"
	"encoding/pem"
	"os"
	"path/filepath"
	"testing"

	"github.com/mayflydb/mayfly/internal/clock"
)

// TestMongoURI holds the connection string to what the door answers: plain connections too, unless
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
