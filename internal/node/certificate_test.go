package node

import (
	"bytes"
	"crypto/x509"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func TestCertificatesAreMadeOnceAndRenewed(t *testing.T) {
	dir := t.TempDir()
	hosts := []string{"localhost", "127.0.0.1", "::1", "db.example"}
	steps := []struct {
		name                    string
		hosts                   []string
		now                     time.Time
		newLeaf, newAuthority   bool
		remove                  string
		notValidFor, alsoServes string
	}{
		{name: "first start", hosts: hosts, now: noon, newLeaf: true, newAuthority: true, notValidFor: "other.example",
			alsoServes: "db.example"},
		{name: "second start", hosts: hosts, now: noon.Add(time.Hour)},
		{name: "fewer names", hosts: hosts[:3], now: noon.Add(2 * time.Hour), alsoServes: "db.example"},
		{name: "another name", hosts: append([]string{"other.example"}, hosts...), now: noon.Add(3 * time.Hour),
			newLeaf: true, alsoServes: "other.example"},
		{name: "another address", hosts: append([]string{"192.0.2.7"}, hosts...), now: noon.Add(4 * time.Hour),
			newLeaf: true, alsoServes: "192.0.2.7"},
		{name: "31 days before its end", hosts: hosts, now: noon.Add(4*time.Hour + leafLife - 31*24*time.Hour)},
		{name: "29 days before its end", hosts: hosts, now: noon.Add(4*time.Hour + leafLife - 29*24*time.Hour),
			newLeaf: true},
		{name: "key of the server lost", hosts: hosts, now: noon.Add(leafLife), remove: "server.key", newLeaf: true},
		{name: "key of the authority lost", hosts: hosts, now: noon.Add(leafLife), remove: "ca.key", newLeaf: true,
			newAuthority: true},
		{name: "authority near its end", hosts: hosts, now: noon.Add(leafLife + authorityLife - 29*24*time.Hour),
			newLeaf: true, newAuthority: true},
	}
	var before certificates
	for _, s := range steps {
		if s.remove != "" {
			if err := os.Remove(filepath.Join(dir, "tls", s.remove)); err != nil {
				t.Fatal(err)
			}
		}
		got, err := ownCertificates(dir, s.hosts, s.now)
		if err != nil {
			t.Fatalf("%s: %v", s.name, err)
		}
		if made := before.server.Leaf == nil || !before.server.Leaf.Equal(got.server.Leaf); made != s.newLeaf {
			t.Errorf("%s: new server certificate %v, want %v", s.name, made, s.newLeaf)
		}
		if made := !bytes.Equal(before.authority, got.authority); made != s.newAuthority {
			t.Errorf("%s: new authority %v, want %v", s.name, made, s.newAuthority)
		}
		for _, h := range append(s.hosts, s.alsoServes) {
			if err := verify(got, h, s.now); h != "" && err != nil {
				t.Errorf("%s: %s: %v", s.name, h, err)
			}
		}
		if s.notValidFor != "" && verify(got, s.notValidFor, s.now) == nil {
			t.Errorf("%s: valid for %s", s.name, s.notValidFor)
		}
		before = got
	}
}

// verify does what a client that trusts the authority does.
func verify(c certificates, host string, now time.Time) error {
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(c.authority)
	_, err := c.server.Leaf.Verify(x509.VerifyOptions{Roots: roots, DNSName: host, CurrentTime: now})
	return err
}

func TestCertificateFiles(t *testing.T) {
	dir := t.TempDir()
	if _, err := ownCertificates(dir, ownHosts(), noon); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(filepath.Join(dir, "tls"))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
		info, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(e.Name(), ".key") && info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v, want 0600", e.Name(), info.Mode().Perm())
		}
	}
	if got, want := strings.Join(names, " "), "ca.key ca.pem server.key server.pem"; got != want {
		t.Errorf("files %s, want %s", got, want)
	}
}

func TestDamagedAuthorityIsNotReplaced(t *testing.T) {
	dir := t.TempDir()
	if _, err := ownCertificates(dir, ownHosts(), noon); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "tls", "ca.pem")
	if err := os.WriteFile(path, []byte("half a"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ownCertificates(dir, ownHosts(), noon); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("error %v, want one that names %s", err, path)
	}
}

func TestCertificatesInMemory(t *testing.T) {
	c, err := ownCertificates("", ownHosts("db.example", "", "0.0.0.0", "::"), noon)
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range []string{"localhost", "127.0.0.1", "::1", "db.example"} {
		if err := verify(c, h, noon); err != nil {
			t.Error(err)
		}
	}
	if len(c.server.Leaf.IPAddresses) != 2 {
		t.Errorf("addresses %v, want the two of loopback", c.server.Leaf.IPAddresses)
	}
}
