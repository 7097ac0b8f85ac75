package copying

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// ErrSame is the error for a container that would be copied onto itself.
var ErrSame = errors.New("the source and the target are the same container, reached by two addresses: " +
	"name another container, or another server")

// checkSame refuses a copy of a container onto itself, whatever the addresses of the endpoints look like. It changes
// nothing. Only a container with the same names can be the same: two names are two containers.
func (o *Options) checkSame(ctx context.Context, p pair, found []name) error {
	for _, from := range found {
		if !o.chosen(from) || o.To.renamed(from) != from {
			continue
		}
		same, err := p.same(ctx, from)
		if err == nil && same {
			err = ErrSame
		}
		if err != nil {
			return fmt.Errorf("%s: %w", from, plainError(err))
		}
	}
	return nil
}

// instanceHeader is how a mayfly says which process it is, in the answer about its account. Without it, mayflies that
// have made the same containers at the same time, or of which one began with a backup of the other, look the same.
const instanceHeader = "X-Mayfly-Instance"

// An instance remembers who answers at an endpoint, and when.
type instance struct {
	*http.Transport
	id   atomic.Pointer[string]
	date atomic.Int64 // of the last answer, in seconds; 0 if answers have none
}

func (i *instance) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := i.Transport.RoundTrip(r)
	if err != nil && isFinal(r, err) {
		return nil, final{err}
	}
	if err == nil {
		if id := answer.Header.Get(instanceHeader); id != "" {
			i.id.Store(&id)
		}
		if date, err := http.ParseTime(answer.Header.Get("Date")); err == nil {
			i.date.Store(date.Unix())
		}
	}
	return answer, err
}

// A final error is one that the client does not try again. The account is the first thing that a client asks for: it
// would ask for a minute, and then say that the time is over.
type final struct{ error }

func (final) NonRetriable()   {}
func (f final) Unwrap() error { return f.error }

func (f final) Error() string {
	if isUntrusted(f.error) {
		return f.error.Error() + ": name its authority with --from-ca or --to-ca, or trust it with --insecure"
	}
	return f.error.Error()
}

func isUntrusted(err error) bool {
	_, untrusted := errors.AsType[*tls.CertificateVerificationError](err)
	return untrusted
}

func isFinal(r *http.Request, err error) bool {
	dial, ok := errors.AsType[*net.OpError](err)
	return isUntrusted(err) || ok && dial.Op == "dial" && strings.Trim(r.URL.Path, "/") == ""
}

// made is what a service gives to a database and a container when it makes them, and changes when they change.
type made struct {
	database, databaseTag, container, containerTag string
	changed                                        time.Time
}

// same compares what the service has given to the container at both endpoints. The first request of a client asks for
// the account, so afterwards both instances are known, unless an endpoint has none.
func (p *nosqlPair) same(ctx context.Context, of name) (bool, error) {
	source, err := madeAt(ctx, p.from, of)
	if err != nil {
		return false, err
	}
	target, err := madeAt(ctx, p.to, of)
	if err != nil {
		if status(err) == http.StatusNotFound {
			err = nil
		}
		return false, err
	}
	if a, b := p.fromInstance.id.Load(), p.toInstance.id.Load(); a != nil && b != nil {
		return *a == *b, nil
	}
	return source.container != "" && source.containerTag != "" && source == target, nil
}

func madeAt(ctx context.Context, client *azcosmos.Client, of name) (m made, err error) {
	database, err := client.NewDatabase(of.db)
	if err != nil {
		return m, err
	}
	d, err := database.Read(ctx, nil)
	if err != nil {
		return m, err
	}
	container, err := client.NewContainer(of.db, of.container)
	if err != nil {
		return m, err
	}
	c, err := container.Read(ctx, nil)
	if err != nil {
		return m, err
	}
	m = made{database: d.DatabaseProperties.ResourceID, container: c.ContainerProperties.ResourceID,
		changed: c.ContainerProperties.LastModified.UTC()}
	if tag := d.DatabaseProperties.ETag; tag != nil {
		m.databaseTag = string(*tag)
	}
	if tag := c.ContainerProperties.ETag; tag != nil {
		m.containerTag = string(*tag)
	}
	return m, nil
}

// A greeting is what a MongoDB server says about itself.
// https://www.mongodb.com/docs/manual/reference/command/hello/
type greeting struct {
	SetName  string   `bson:"setName"`
	Hosts    []string `bson:"hosts"`
	Message  string   `bson:"msg"`
	Topology struct {
		Process bson.ObjectID `bson:"processId"`
	} `bson:"topologyVersion"`
	cluster bson.ObjectID // of sharded clusters
}

func greet(ctx context.Context, client *mongo.Client) (g greeting, err error) {
	err = client.Database("admin").RunCommand(ctx, bson.D{{Key: "hello", Value: 1}}).Decode(&g)
	if err != nil || g.Message != "isdbgrid" {
		return g, err
	}
	var version struct {
		Cluster bson.ObjectID `bson:"clusterId"`
	}
	// Users may lack the right to read it, and others than MongoDB have none.
	if client.Database("config").Collection("version").FindOne(ctx, bson.D{}).Decode(&version) == nil {
		g.cluster = version.Cluster
	}
	return g, nil
}

// same compares servers, and the UUID of the collection. A UUID alone is no proof: a server that began with the files
// of another one has the same.
func (p *mongoPair) same(ctx context.Context, of name) (bool, error) {
	target, err := uuidOf(ctx, p.to, of)
	if err != nil || target == nil {
		return false, err
	}
	source, err := uuidOf(ctx, p.from, of)
	if err != nil || source == nil {
		return false, err
	}
	a, err := greet(ctx, p.from)
	if err != nil {
		return false, err
	}
	b, err := greet(ctx, p.to)
	if err != nil {
		return false, err
	}
	equal := source.Equal(*target) && isRandom(source.Data)
	switch known, other := !a.Topology.Process.IsZero(), !b.Topology.Process.IsZero(); {
	case known && other && a.Topology.Process == b.Topology.Process:
		return true, nil
	case known && other: // two members of a replica set, or two routers of a cluster
		set := a.SetName != "" && a.SetName == b.SetName &&
			slices.ContainsFunc(a.Hosts, func(host string) bool { return slices.Contains(b.Hosts, host) })
		return equal && (set || !a.cluster.IsZero() && a.cluster == b.cluster), nil
	default:
		return equal && known == other, nil
	}
}

// uuidOf is the UUID of a collection, empty if the server gives none, nil if there is no such collection.
func uuidOf(ctx context.Context, client *mongo.Client, of name) (*bson.Binary, error) {
	specs, err := client.Database(of.db).ListCollectionSpecifications(ctx, bson.D{{Key: "name", Value: of.container}})
	if err != nil || len(specs) == 0 {
		return nil, err
	}
	if specs[0].UUID == nil {
		return &bson.Binary{}, nil
	}
	return specs[0].UUID, nil
}

// isRandom reports whether a UUID is made of random bits, as MongoDB makes them. Others may be the same at two servers.
// https://www.rfc-editor.org/rfc/rfc9562#section-5.4
func isRandom(uuid []byte) bool { return len(uuid) == 16 && uuid[6]>>4 == 4 }
