package node

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/clock"
	"github.com/mayflydb/mayfly/internal/cosmos/rest"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/store"
)

// local is the API for NoSQL as the admin API calls it: in this process, as the account. It takes paths such as
// /dbs/a/colls/b, and signs the requests itself.
type local struct {
	serve func(http.ResponseWriter, *http.Request) error // why it was ended early
	key   func() string
}

// openLocal makes the API for NoSQL for the admin API. Unlike the others it has no address, so no host names, pages or
// certificates, and it merges partitions itself.
func (n *Node) openLocal(o Options) error {
	api, err := n.newLocal(o)
	if err != nil {
		return fault.Wrap(fault.Invalid, err, "the account settings are not valid")
	}
	n.localAPI = api
	n.local = &local{key: n.Key, serve: func(w http.ResponseWriter, r *http.Request) error {
		ctx, leave := n.gate.enterLong(r.Context()) // a query may be long
		defer leave()
		n.localAPI.ServeHTTP(w, r.WithContext(ctx))
		return whyEnded(ctx, ctx.Err())
	}}
	return nil
}

func (n *Node) newLocal(o Options) (http.Handler, error) {
	return rest.New(rest.Options{
		Catalog: n.catalog, Store: n.store, Clock: n.clock, Budget: n.budget, Keys: n.keys,
		Region: o.Region, Advertise: o.Advertise, Consistency: o.Consistency, Logger: n.log, Hints: n.hints,
		Meter: metered{n, apiNoSQL}, Slow: n.slow, Tracer: o.Tracer,
		Partitions: o.Partitions,
	})
}

// RoundTrip answers a request without a network. The answer is in memory as a whole: a page or an item.
func (l *local) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	if r.Body == nil {
		r.Body = http.NoBody
	}
	r.Proto, r.ProtoMajor, r.ProtoMinor, r.RequestURI = "HTTP/1.1", 1, 1, r.URL.RequestURI()
	r.Host, r.RemoteAddr = "localhost", "127.0.0.1:0"
	date := clock.Wall().UTC().Format(http.TimeFormat)
	r.Header.Set("X-Ms-Date", date)
	r.Header.Set("X-Ms-Version", "2018-12-31")
	r.Header.Set("Authorization", signature(l.key(), r.Method, r.URL, date))
	w := &kept{header: http.Header{}, status: http.StatusOK}
	ended := l.serve(w, r)
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	if ended != nil && w.status >= http.StatusBadRequest { // it may have been done before
		return nil, ended
	}
	return &http.Response{
		Status: http.StatusText(w.status), StatusCode: w.status, Proto: r.Proto, ProtoMajor: 1, ProtoMinor: 1,
		Header: w.canonical(), Body: io.NopCloser(&w.body), ContentLength: int64(w.body.Len()), Request: r,
	}, nil
}

// signature is the Authorization header for a path such as /dbs/a/colls/b/docs:
// learn.microsoft.com/rest/api/cosmos-db/access-control-on-cosmosdb-resources
func signature(key, method string, u *url.URL, date string) string {
	steps := strings.Split(strings.TrimPrefix(u.EscapedPath(), "/"), "/") // an id may have slashes
	kind, link := steps[len(steps)-1], steps[:len(steps)-1]
	if len(steps)%2 == 0 {
		kind, link = steps[len(steps)-2], steps
	}
	signed, _ := url.PathUnescape(strings.Join(link, "/"))
	secret, _ := base64.StdEncoding.DecodeString(key) // chooseKey has checked it
	mac := hmac.New(sha256.New, secret)
	io.WriteString(mac, strings.ToLower(method)+"\n"+kind+"\n"+signed+"\n"+strings.ToLower(date)+"\n\n")
	return url.QueryEscape("type=master&ver=1.0&sig=" + base64.StdEncoding.EncodeToString(mac.Sum(nil)))
}

// kept is an answer in memory.
type kept struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (k *kept) Header() http.Header { return k.header }

func (k *kept) WriteHeader(status int) { k.status = status }

func (k *kept) Write(part []byte) (int, error) { return k.body.Write(part) }

// canonical is the header with names as net/http has them: the API spells them as the service does.
func (k *kept) canonical() http.Header {
	h := http.Header{}
	for name, values := range k.header {
		h[http.CanonicalHeaderKey(name)] = values
	}
	return h
}

// runMongo runs a command of the API for MongoDB as the account.
func (n *Node) runMongo(ctx context.Context, command []byte) ([]byte, error) {
	return n.localMongo.Local(ctx, doc.Doc(command))
}

// presentCatalog is the catalog of the present data.
func (n *Node) presentCatalog() *catalog.Catalog {
	n.gate.Enter()
	defer n.gate.Leave()
	return n.catalog
}

// usage counts the living documents of a container, and their bytes.
func (n *Node) usage(ctx context.Context, c *catalog.Container) (documents, bytes uint64, err error) {
	ctx, leave := n.gate.enterLong(ctx)
	defer leave()
	v, err := c.Enter(ctx, n.clock.Now().Unix())
	if err != nil {
		return 0, 0, whyEnded(ctx, err)
	}
	var u store.Usage
	u, err = n.store.Usage(ctx, v)
	return u.Documents, u.Bytes, whyEnded(ctx, err)
}
