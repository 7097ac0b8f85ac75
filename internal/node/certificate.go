package node

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// Life spans of certificates. Apple's clients refuse a server certificate that is valid
// for more than 825 days (https://support.apple.com/103769).
const (
	authorityLife = 10 * 365 * 24 * time.Hour
	leafLife      = 800 * 24 * time.Hour
	renewBefore   = 30 * 24 * time.Hour
)

// The folder of the certificates in the data folder, and the names of their files without extension.
const (
	tlsFolder     = "tls"
	authorityName = "ca"
	leafName      = "server"
)

// certificates are the certificate that the APIs present, and its authority.
type certificates struct {
	server    tls.Certificate
	authority []byte // PEM; nil if the operator gave the certificate
}

// A pair is a certificate with its private key.
type pair struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// ownCertificates returns a certificate for hosts, which are names or addresses, signed by an authority of its own.
// Both are kept in dir. It makes what is missing or about to expire at now. An empty dir keeps nothing.
func ownCertificates(dir string, hosts []string, now time.Time) (certificates, error) {
	if dir != "" {
		dir = filepath.Join(dir, tlsFolder)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return certificates{}, err
		}
	}
	authority, err := loadPair(dir, authorityName)
	switch {
	case err == nil && now.Before(authority.cert.NotAfter.Add(-renewBefore)):
	case err == nil || errors.Is(err, fs.ErrNotExist):
		if authority, err = newAuthority(now); err == nil {
			err = authority.save(dir, authorityName)
		}
	default: // clients trust the authority, so the operator decides whether to replace it
		err = fmt.Errorf("%w; remove the folder to have new certificates made, which clients then have to trust", err)
	}
	if err != nil {
		return certificates{}, fmt.Errorf("certificate authority: %w", err)
	}
	leaf, err := loadPair(dir, leafName)
	if err != nil || !leaf.serves(hosts, authority, now) {
		if leaf, err = newLeaf(authority, hosts, now); err == nil {
			err = leaf.save(dir, leafName)
		}
	}
	if err != nil {
		return certificates{}, fmt.Errorf("certificate: %w", err)
	}
	return certificates{
		server:    tls.Certificate{Certificate: [][]byte{leaf.cert.Raw}, PrivateKey: leaf.key, Leaf: leaf.cert},
		authority: certificatePEM(authority.cert),
	}, nil
}

// ownHosts are the names and addresses by which a machine reaches itself, and extra ones.
func ownHosts(extra ...string) []string {
	hosts := []string{"localhost", "127.0.0.1", "::1"}
	if name, err := os.Hostname(); err == nil {
		extra = append(extra, name)
	}
	for _, h := range extra {
		if ip := net.ParseIP(h); h != "" && (ip == nil || !ip.IsUnspecified()) && !slices.Contains(hosts, h) {
			hosts = append(hosts, h)
		}
	}
	return hosts
}

// serves reports whether a server certificate can still be used for hosts.
func (p pair) serves(hosts []string, authority pair, now time.Time) bool {
	names, addresses := split(hosts)
	for _, n := range names {
		if !slices.Contains(p.cert.DNSNames, n) {
			return false
		}
	}
	for _, a := range addresses {
		if !slices.ContainsFunc(p.cert.IPAddresses, a.Equal) {
			return false
		}
	}
	return now.Before(p.cert.NotAfter.Add(-renewBefore)) && p.cert.CheckSignatureFrom(authority.cert) == nil
}

func newAuthority(now time.Time) (pair, error) {
	name, _ := os.Hostname()
	return sign(pair{}, &x509.Certificate{
		Subject:               pkix.Name{Organization: []string{"mayfly"}, CommonName: "mayfly authority on " + name},
		NotBefore:             now.Add(-time.Hour), // the clock of a client may be behind
		NotAfter:              now.Add(authorityLife),
		KeyUsage:              x509.KeyUsageCertSign | x509.KeyUsageCRLSign,
		BasicConstraintsValid: true,
		IsCA:                  true,
		MaxPathLenZero:        true,
	})
}

func newLeaf(authority pair, hosts []string, now time.Time) (pair, error) {
	names, addresses := split(hosts)
	return sign(authority, &x509.Certificate{
		Subject:     pkix.Name{Organization: []string{"mayfly"}, CommonName: "localhost"},
		NotBefore:   now.Add(-time.Hour),
		NotAfter:    now.Add(leafLife),
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		DNSNames:    names,
		IPAddresses: addresses,
	})
}

// sign makes a key and a certificate for it, signed by parent, or by itself if parent is empty.
func sign(parent pair, template *x509.Certificate) (pair, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return pair{}, err
	}
	if parent.key == nil {
		parent = pair{template, key}
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, parent.cert, key.Public(), parent.key)
	if err != nil {
		return pair{}, err
	}
	cert, err := x509.ParseCertificate(raw)
	return pair{cert, key}, err
}

func split(hosts []string) (names []string, addresses []net.IP) {
	for _, h := range hosts {
		if ip := net.ParseIP(h); ip != nil {
			addresses = append(addresses, ip)
		} else {
			names = append(names, h)
		}
	}
	return names, addresses
}

// loadPair reads name.pem and name.key. It fails with fs.ErrNotExist if one of them is absent or dir is empty.
func loadPair(dir, name string) (pair, error) {
	if dir == "" {
		return pair{}, fs.ErrNotExist
	}
	path := filepath.Join(dir, name)
	loaded, err := tls.LoadX509KeyPair(path+".pem", path+".key")
	if err != nil {
		return pair{}, fmt.Errorf("%s.pem: %w", path, err)
	}
	key, ok := loaded.PrivateKey.(*ecdsa.PrivateKey)
	if !ok {
		return pair{}, fmt.Errorf("%s.key: not an ECDSA key", path)
	}
	return pair{loaded.Leaf, key}, nil
}

// save writes a pair, in an order in which a certificate on disk always has its key, even after a crash.
func (p pair) save(dir, name string) error {
	if dir == "" {
		return nil
	}
	path := filepath.Join(dir, name)
	raw, err := x509.MarshalPKCS8PrivateKey(p.key)
	if err != nil {
		return err
	}
	if err := os.Remove(path + ".pem"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := writeFile(path+".key", pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: raw})); err != nil {
		return err
	}
	return writeFile(path+".pem", certificatePEM(p.cert))
}

func certificatePEM(c *x509.Certificate) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Raw})
}

// chain is the certificate of the server, then those of its authorities, in PEM.
func (c certificates) chain() (text []byte) {
	for _, raw := range c.server.Certificate {
		text = append(text, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: raw})...)
	}
	return text
}
