package copying_test

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/mayflydb/mayfly/internal/copying"
	"github.com/mayflydb/mayfly/internal/node"
)

const unknown = "certificate signed by unknown authority"

// Certificates of their own are trusted by their authority or not at all, and a wrong one is refused at once.
func TestCertificates(t *testing.T) {
	from, to := startBox(t, node.TLS{}), startBox(t, node.TLS{})
	c := from.create("shop", azcosmos.ContainerProperties{ID: "carts"})
	put(t, c, "k", `{"id":"a","pk":"k"}`)
	for _, side := range []struct {
		name           string
		from, to       []byte
		insecure, want bool
	}{
		{"none", nil, nil, false, false},
		{"of the source only", from.n.CA(), nil, false, false},
		{"swapped", to.n.CA(), from.n.CA(), false, false},
		{"right", from.n.CA(), to.n.CA(), false, true},
		{"insecure", nil, nil, true, true},
	} {
		t.Run(side.name, func(t *testing.T) { // one after the other: two of them make the same container
			source, target := from.nosql("shop"), to.nosql("")
			source.Authority, target.Authority = side.from, side.to
			source.Insecure, target.Insecure = side.insecure, side.insecure
			if !strings.HasPrefix(source.URL, "https:") {
				t.Fatal(source.URL)
			}
			start := time.Now()
			result, err := copying.Run(t.Context(), copying.Options{From: source, To: target})
			switch {
			case side.want && (err != nil || result.Containers[0].Written != 1):
				t.Error(result, err)
			case !side.want && (err == nil || !strings.Contains(err.Error(), unknown) ||
				!strings.Contains(err.Error(), "--to-ca")):
				t.Errorf("error %v", err)
			case time.Since(start) > 10*time.Second:
				t.Error("after", time.Since(start))
			}
		})
	}
}

func TestCertificatesOfMongoDB(t *testing.T) {
	from, to := startBox(t, node.TLS{}), startBox(t, node.TLS{})
	_, err := from.db("shop").Collection("visits").InsertOne(t.Context(), bson.D{{Key: "_id", Value: 1}})
	from.ok(err)
	dir := t.TempDir()
	file := func(name string, pem []byte) string {
		name = filepath.Join(dir, name)
		from.ok(os.WriteFile(name, pem, 0o600))
		return name
	}
	right, wrong := file("right.pem", to.n.CA()), file("wrong.pem", from.n.CA())
	for _, side := range []struct {
		name, query string
		authority   []byte
		insecure    bool
		want        bool
	}{
		{"none", "tls=true", nil, false, false},
		{"wrong in the URI", "tls=true&tlsCAFile=" + wrong, nil, false, false},
		{"wrong", "tls=true", from.n.CA(), false, false},
		{"right in the URI", "tls=true&tlsCAFile=" + right, nil, false, true},
		{"right", "tls=true", to.n.CA(), false, true},
		{"insecure", "tls=true", nil, true, true},
		{"insecure in the URI", "tls=true&tlsInsecure=true", nil, false, true},
		{"plain", "tls=false", nil, false, true},
	} {
		t.Run(side.name, func(t *testing.T) {
			target := to.mongo("")
			target.URL, _, _ = strings.Cut(target.URL, "?")
			target.URL += "?authSource=admin&serverSelectionTimeoutMS=500&" + side.query
			target.Authority, target.Insecure = side.authority, side.insecure
			result, err := copying.Run(t.Context(), copying.Options{From: from.mongo("shop"), To: target})
			switch {
			case side.want && (err != nil || result.Containers[0].Written != 1):
				t.Error(result, err)
			case !side.want && (err == nil || !strings.Contains(err.Error(), unknown)):
				t.Errorf("error %v", err)
			}
		})
	}
}

// An address where nobody listens is said at once.
func TestUnreachable(t *testing.T) {
	from := newBox(t)
	from.create("shop", azcosmos.ContainerProperties{ID: "carts"})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	from.ok(err)
	from.ok(l.Close())
	e, err := copying.ParseEndpoint("http://" + l.Addr().String())
	from.ok(err)
	e.Key = from.n.Key()
	start := time.Now()
	_, err = copying.Run(t.Context(), copying.Options{From: from.nosql("shop"), To: e})
	if err == nil || !copying.Unreachable(err) || time.Since(start) > 10*time.Second {
		t.Errorf("after %v: %v", time.Since(start), err)
	}
}
