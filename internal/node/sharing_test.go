package node

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/kv/kvtest"
	inmemory "github.com/mayflydb/mayfly/internal/kv/memory"
)

// startSharing starts nodes that share their data, as several processes do.
func startSharing(t *testing.T, count int) (*kvtest.Cluster, []*Node) {
	t.Helper()
	cluster := kvtest.NewCluster(inmemory.New(), time.Date(2030, 1, 1, 12, 0, 0, 0, time.UTC))
	t.Cleanup(func() {
		if err := cluster.Close(); err != nil {
			t.Error(err)
		}
	})
	var nodes []*Node
	for range count {
		nodes = append(nodes, start(t, Options{
			Engine: cluster.Process(), NoSQL: "127.0.0.1:0", Admin: "127.0.0.1:0",
			Mongo: Mongo{Address: "127.0.0.1:0"}, TLS: TLS{Off: true}, Key: WellKnownKey,
		}))
	}
	return cluster, nodes
}

// nosql sends a request to the API for NoSQL and returns what it answers.
func nosql(t *testing.T, n *Node, method, path, partition, body string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, "http://localhost"+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if partition != "" {
		r.Header.Set("X-Ms-Documentdb-Partitionkey", fmt.Sprintf("[%q]", partition))
	}
	response, err := n.local.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(text)
}

// TestNodesShareNoSQL creates, uses, changes, deletes and creates again over the API for NoSQL, each step through the
// other node.
func TestNodesShareNoSQL(t *testing.T) {
	cluster, nodes := startSharing(t, 2)
	turn := 0
	step := func(method, path, partition, body string, want int, part string) {
		t.Helper()
		turn++
		code, text := nosql(t, nodes[turn%2], method, path, partition, body)
		if code != want || !strings.Contains(text, part) {
			t.Errorf("%s %s: %d %s, want %d with %q", method, path, code, text, want, part)
		}
	}
	container := func(more string) string {
		return fmt.Sprintf(`{"id":"c","partitionKey":{"paths":["/p"],"kind":"Hash"}%s}`, more)
	}
	step("POST", "/dbs", "", `{"id":"d"}`, 201, "")
	step("POST", "/dbs/d/colls", "", container(""), 201, "")
	step("POST", "/dbs/d/colls/c/docs", "x", `{"id":"one","p":"x"}`, 201, "")
	step("GET", "/dbs/d/colls/c/docs/one", "x", "", 200, `"one"`)
	step("PUT", "/dbs/d/colls/c", "", container(`,"defaultTtl":60`), 200, "60")
	cluster.Move(59 * time.Second)
	step("GET", "/dbs/d/colls/c/docs/one", "x", "", 200, `"one"`)
	step("GET", "/dbs/d/colls/c/docs/one", "x", "", 200, `"one"`)
	cluster.Move(time.Second)
	step("GET", "/dbs/d/colls/c/docs/one", "x", "", 404, "")
	step("GET", "/dbs/d/colls/c/docs/one", "x", "", 404, "")
	step("POST", "/dbs/d/colls/c/docs", "x", `{"id":"two","p":"x"}`, 201, "")
	step("DELETE", "/dbs/d/colls/c", "", "", 204, "")
	step("GET", "/dbs/d/colls/c/docs/two", "x", "", 404, "")
	step("POST", "/dbs/d/colls", "", container(""), 201, "")
	step("GET", "/dbs/d/colls/c/docs/two", "x", "", 404, "")
	step("POST", "/dbs/d/colls/c/docs", "x", `{"id":"three","p":"x"}`, 201, "")
	step("GET", "/dbs/d/colls/c/docs", "", "", 200, `"three"`)
	step("DELETE", "/dbs/d", "", "", 204, "")
	step("GET", "/dbs/d/colls/c", "", "", 404, "")
}

// TestNodesShareAdmin looks through one node at what another one has made and deleted, over the admin API.
func TestNodesShareAdmin(t *testing.T) {
	_, nodes := startSharing(t, 2)
	see := func(path string, want int, part string) {
		t.Helper()
		code, text := get(t, nodes[1].AdminURL()+"_mayfly/v1"+path)
		if code != want || !strings.Contains(text, part) {
			t.Errorf("GET %s: %d %s, want %d with %q", path, code, text, want, part)
		}
	}
	do := func(method, path, body string) {
		t.Helper()
		if code, text := nosql(t, nodes[0], method, path, "", body); code >= 300 {
			t.Errorf("%s %s: %d %s", method, path, code, text)
		}
	}
	do("POST", "/dbs", `{"id":"d"}`)
	see("/databases", 200, `"d"`)
	do("POST", "/dbs/d/colls", `{"id":"c","partitionKey":{"paths":["/p"],"kind":"Hash"}}`)
	see("/databases/d/containers/c", 200, `"c"`)
	do("DELETE", "/dbs/d/colls/c", "")
	see("/databases/d/containers/c", 404, "")
	do("DELETE", "/dbs/d", "")
	see("/databases/d", 404, "")
}

// TestNodesShareMongo makes a TTL index through one node. The other one obeys it at once.
func TestNodesShareMongo(t *testing.T) {
	cluster, nodes := startSharing(t, 2)
	ctx := context.Background()
	var collections []*mongo.Collection
	for _, n := range nodes {
		client, err := mongo.Connect(options.Client().ApplyURI(n.MongoURI()).SetDirect(true))
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := client.Disconnect(ctx); err != nil {
				t.Error(err)
			}
		}()
		collections = append(collections, client.Database("d").Collection("c"))
	}
	a, b := collections[0], collections[1]
	born := cluster.Now()
	if _, err := a.InsertOne(ctx, bson.M{"_id": 1, "at": born}); err != nil {
		t.Fatal(err)
	}
	if _, err := b.InsertOne(ctx, bson.M{"_id": 2, "at": born.Add(time.Hour)}); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Indexes().CreateOne(ctx, mongo.IndexModel{
		Keys: bson.D{{Key: "at", Value: 1}}, Options: options.Index().SetExpireAfterSeconds(30),
	}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		after time.Duration
		want  int64
	}{{29 * time.Second, 2}, {time.Second, 1}, {time.Hour, 0}} {
		cluster.Move(c.after)
		for i, x := range collections {
			if got, err := x.CountDocuments(ctx, bson.M{}); err != nil || got != c.want {
				t.Errorf("node %d counts %d, %v, want %d", i, got, err, c.want)
			}
		}
	}
}

// TestNodesShareTransactionTime reads in a transaction what has just died by the engine's clock.
func TestNodesShareTransactionTime(t *testing.T) {
	cluster, nodes := startSharing(t, 1)
	ctx := t.Context()
	client, err := mongo.Connect(options.Client().ApplyURI(nodes[0].MongoURI()).SetDirect(true))
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := client.Disconnect(context.Background()); err != nil {
			t.Error(err)
		}
	}()
	c := client.Database("d").Collection("c")
	if _, err := c.InsertOne(ctx, bson.M{"_id": 1, "at": cluster.Now()}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Indexes().CreateOne(ctx, mongo.IndexModel{
		Keys: bson.D{{Key: "at", Value: 1}}, Options: options.Index().SetExpireAfterSeconds(3600),
	}); err != nil {
		t.Fatal(err)
	}
	cluster.Move(time.Hour)
	s, err := client.StartSession()
	if err != nil {
		t.Fatal(err)
	}
	defer s.EndSession(ctx)
	if _, err := s.WithTransaction(ctx, func(ctx context.Context) (any, error) {
		if got, err := c.CountDocuments(ctx, bson.M{}); err != nil || got != 0 {
			t.Errorf("a transaction counts %d, %v, want 0", got, err)
		}
		return nil, nil
	}); err != nil {
		t.Fatal(err)
	}
}

// TestNodesShareTime shows that the clock of a node follows the engine, and that it cannot be virtual.
func TestNodesShareTime(t *testing.T) {
	cluster, nodes := startSharing(t, 2)
	for _, n := range nodes {
		if ahead := n.Clock().Now().Sub(cluster.Now()); ahead.Abs() > 24*time.Hour {
			t.Errorf("the clock of a node is %v ahead of the engine", ahead)
		}
	}
	engine := cluster.Process()
	n, err := Start(t.Context(), Options{Engine: engine, Virtual: true})
	if fault.KindOf(err) != fault.Invalid {
		t.Errorf("a node with a virtual clock gives %v", err)
		if err == nil {
			n.Close(t.Context())
		}
	}
}

// TestQueriesTellTheInstantThatTheyShow asks queries of both APIs for the time. It is the engine's, in which they see
// what lives, and not what the process expects of it until it looks again.
func TestQueriesTellTheInstantThatTheyShow(t *testing.T) {
	cluster, nodes := startSharing(t, 1)
	n := nodes[0]
	for _, step := range [][3]string{
		{"/dbs", "", `{"id":"d"}`},
		{"/dbs/d/colls", "", `{"id":"c","partitionKey":{"paths":["/p"],"kind":"Hash"}}`},
		{"/dbs/d/colls/c/docs", "x", `{"id":"one","p":"x"}`},
	} {
		if code, text := nosql(t, n, "POST", step[0], step[1], step[2]); code != http.StatusCreated {
			t.Fatalf("%s: %d %s", step[0], code, text)
		}
	}
	client, err := mongo.Connect(options.Client().ApplyURI(n.MongoURI()).SetDirect(true))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Disconnect(context.Background()) }) // the node ends anyway
	documents := client.Database("m").Collection("c")
	if _, err := documents.InsertOne(t.Context(), bson.M{"_id": 1}); err != nil {
		t.Fatal(err)
	}

	cluster.Move(time.Hour)
	want := cluster.Now().UnixMilli()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://localhost/dbs/d/colls/c/docs",
		strings.NewReader(`{"query":"SELECT VALUE GetCurrentTimestamp() FROM c"}`))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-Ms-Documentdb-Isquery", "True")
	r.Header.Set("X-Ms-Documentdb-Partitionkey", `["x"]`)
	r.Header.Set("Content-Type", "application/query+json")
	response, err := n.local.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil || !strings.Contains(string(text), fmt.Sprintf("[%d]", want)) {
		t.Errorf("GetCurrentTimestamp: %s, %v, want %d", text, err, want)
	}
	found, err := documents.Aggregate(t.Context(), mongo.Pipeline{{{Key: "$set", Value: bson.M{"now": "$$NOW"}}}})
	if err != nil {
		t.Fatal(err)
	}
	var rows []struct{ Now time.Time }
	if err := found.All(t.Context(), &rows); err != nil || len(rows) != 1 || rows[0].Now.UnixMilli() != want {
		t.Errorf("$$NOW: %v, %v, want %d", rows, err, want)
	}
}
