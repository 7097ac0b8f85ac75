package tikv

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/mayflydb/mayfly/internal/clock"
	"github.com/mayflydb/mayfly/internal/node"
)

// startNodes starts nodes over a cluster, each with an engine of its own.
func startNodes(t *testing.T, count int) (c *cluster, nodes []*node.Node) {
	t.Helper()
	c = newCluster(t)
	for range count {
		e := c.process(t, Options{Timeout: time.Minute})
		n, err := node.Start(t.Context(), node.Options{
			Engine: e, NoSQL: "127.0.0.1:0", Mongo: node.Mongo{Address: "127.0.0.1:0"}, TLS: node.TLS{Off: true},
			Key: node.WellKnownKey,
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := n.Close(context.Background()); err != nil {
				t.Error(err)
			}
			stop(t, e)
		})
		nodes = append(nodes, n)
	}
	return c, nodes
}

// ask sends a request to the API for NoSQL. Header has names and values.
func ask(
	ctx context.Context, n *node.Node, method, path, partition, body string, header ...string,
) (response *http.Response, text string, err error) {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	kind, link := parts[len(parts)-1], strings.Join(parts[:len(parts)-1], "/")
	if len(parts)%2 == 0 {
		kind, link = parts[len(parts)-2], strings.Join(parts, "/")
	}
	secret, err := base64.StdEncoding.DecodeString(node.WellKnownKey)
	if err != nil {
		return nil, "", err
	}
	date := clock.Wall().UTC().Format(http.TimeFormat)
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte(strings.ToLower(method) + "\n" + kind + "\n" + link + "\n" + strings.ToLower(date) + "\n\n"))
	r, err := http.NewRequestWithContext(ctx, method, strings.TrimSuffix(n.Endpoint(), "/")+path,
		strings.NewReader(body))
	if err != nil {
		return nil, "", err
	}
	sig := base64.StdEncoding.EncodeToString(mac.Sum(nil))
	r.Header.Set("Authorization", url.QueryEscape("type=master&ver=1.0&sig="+sig))
	r.Header.Set("X-Ms-Date", date)
	r.Header.Set("X-Ms-Version", "2020-07-15")
	if partition != "" {
		r.Header.Set("X-Ms-Documentdb-Partitionkey", fmt.Sprintf("[%q]", partition))
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	response, err = http.DefaultClient.Do(r)
	if err != nil {
		return nil, "", err
	}
	defer response.Body.Close()
	all, err := io.ReadAll(response.Body)
	return response, string(all), err
}

// asks sends a request that has one right answer.
func asks(t *testing.T, n *node.Node, method, path, partition, body string, want int, part string) {
	t.Helper()
	response, text, err := ask(t.Context(), n, method, path, partition, body)
	if err != nil {
		t.Fatal(err)
	}
	if code := response.StatusCode; code != want || !strings.Contains(text, part) {
		t.Errorf("%s %s: %d %s; want %d with %q", method, path, code, text, want, part)
	}
}

// containerWith is the body of a container named c.
func containerWith(more string) string {
	return fmt.Sprintf(`{"id":"c","partitionKey":{"paths":["/p"],"kind":"Hash"}%s}`, more)
}

const inC = "/dbs/d/colls/c/docs"

// TestNodesNoSQL creates, uses, changes, deletes and creates again over the API for NoSQL, each step through the next
// of three nodes. Each obeys at once what another one has done.
func TestNodesNoSQL(t *testing.T) {
	c, nodes := startNodes(t, 3)
	turn := 0
	step := func(method, path, partition, body string, want int, part string) {
		t.Helper()
		turn++
		asks(t, nodes[turn%len(nodes)], method, path, partition, body, want, part)
	}
	everywhere := func(path string, want int, part string) {
		t.Helper()
		for range nodes {
			step("GET", path, "x", "", want, part)
		}
	}
	step("POST", "/dbs", "", `{"id":"d"}`, 201, "")
	step("POST", "/dbs", "", `{"id":"d"}`, 409, "")
	step("POST", "/dbs/d/colls", "", containerWith(""), 201, "")
	step("POST", "/dbs/d/colls", "", containerWith(""), 409, "")
	step("POST", inC, "x", `{"id":"one","p":"x"}`, 201, "")
	everywhere(inC+"/one", 200, `"one"`)
	step("PUT", "/dbs/d/colls/c", "", containerWith(`,"defaultTtl":600`), 200, "600")
	c.pd.advance(5 * time.Minute)
	everywhere(inC+"/one", 200, `"one"`)
	c.pd.advance(5*time.Minute + time.Second)
	everywhere(inC+"/one", 404, "")
	step("PUT", "/dbs/d/colls/c", "", containerWith(""), 200, "")
	everywhere(inC+"/one", 404, "") // once dead, always dead
	step("POST", inC, "x", `{"id":"one","p":"x","again":true}`, 201, "")
	everywhere(inC+"/one", 200, `"again"`)
	for i := range 4 { // each one is a container of its own, through whichever node
		step("DELETE", "/dbs/d/colls/c", "", "", 204, "")
		everywhere(inC+"/one", 404, "")
		step("POST", "/dbs/d/colls", "", containerWith(""), 201, "")
		everywhere(inC+"/one", 404, "")
		step("POST", inC, "x", fmt.Sprintf(`{"id":"one","p":"x","life":"life %d"}`, i), 201, "")
		everywhere(inC+"/one", 200, fmt.Sprintf("life %d", i))
	}
	step("DELETE", "/dbs/d", "", "", 204, "")
	everywhere("/dbs/d/colls/c", 404, "")
}

// TestNodesMongo makes TTL indexes and drops collections through one node. The others obey at once.
func TestNodesMongo(t *testing.T) {
	c, nodes := startNodes(t, 3)
	ctx := t.Context()
	watch := c.process(t, Options{})
	defer stop(t, watch)
	collections := collectionsOf(t, nodes)
	counts := func(want int64) {
		t.Helper()
		for i, x := range collections {
			if got, err := x.CountDocuments(ctx, bson.M{}); err != nil || got != want {
				t.Errorf("node %d counts %d, %v, want %d", i, got, err, want)
			}
		}
	}
	for round := range 3 {
		first, second, third := collections[round], collections[(round+1)%3], collections[(round+2)%3]
		v := view(t, watch)
		if _, err := first.InsertOne(ctx, bson.M{"_id": 1, "at": v.Time}); err != nil {
			t.Fatal(err)
		}
		counts(1)
		if _, err := second.InsertOne(ctx, bson.M{"_id": 1}); !mongo.IsDuplicateKeyError(err) {
			t.Errorf("the same _id through another node: %v", err)
		}
		if _, err := second.InsertOne(ctx, bson.M{"_id": 2, "at": v.Time.Add(time.Hour)}); err != nil {
			t.Fatal(err)
		}
		if _, err := first.Indexes().CreateOne(ctx, mongo.IndexModel{
			Keys: bson.D{{Key: "at", Value: 1}}, Options: options.Index().SetExpireAfterSeconds(120),
		}); err != nil {
			t.Fatal(err)
		}
		counts(2)
		c.pd.advance(2*time.Minute + time.Second)
		counts(1)
		if err := third.Drop(ctx); err != nil {
			t.Fatal(err)
		}
		counts(0)
	}
}

// collectionsOf is one collection through each of the nodes.
func collectionsOf(t *testing.T, nodes []*node.Node) (collections []*mongo.Collection) {
	t.Helper()
	for _, n := range nodes {
		client, err := mongo.Connect(options.Client().ApplyURI(n.MongoURI()).SetDirect(true))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := client.Disconnect(context.Background()); err != nil {
				t.Error(err)
			}
		})
		collections = append(collections, client.Database("d").Collection("c"))
	}
	return collections
}

// TestNodesMongoTransactions moves amounts between two documents through all nodes, in transactions, and adds to a
// third one without. No amount is lost or doubled, and each read sees the sum.
func TestNodesMongoTransactions(t *testing.T) {
	const each = 8
	_, nodes := startNodes(t, 3)
	collections := collectionsOf(t, nodes)
	if _, err := collections[0].InsertMany(t.Context(), []any{
		bson.M{"_id": "from", "n": 1000}, bson.M{"_id": "to", "n": 0}, bson.M{"_id": "all", "n": 0},
	}); err != nil {
		t.Fatal(err)
	}
	var running sync.WaitGroup
	for _, c := range collections {
		add := func(ctx context.Context, id string, n int) error {
			result, err := c.UpdateOne(ctx, bson.M{"_id": id}, bson.M{"$inc": bson.M{"n": n}})
			if err == nil && result.MatchedCount != 1 {
				err = fmt.Errorf("%d documents have the _id %s", result.MatchedCount, id)
			}
			return err
		}
		running.Go(func() {
			for range each {
				if err := add(t.Context(), "all", 1); err != nil {
					t.Error(err)
				}
			}
		})
		running.Go(func() {
			for range each {
				move := func(ctx context.Context) (any, error) {
					if err := add(ctx, "from", -1); err != nil {
						return nil, err
					}
					return nil, add(ctx, "to", 1)
				}
				err := c.Database().Client().UseSession(t.Context(), func(ctx context.Context) error {
					_, err := mongo.SessionFromContext(ctx).WithTransaction(ctx, move)
					return err
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
		running.Go(func() {
			for range each {
				if n, err := sum(t.Context(), c, "from", "to"); err != nil || n != 1000 {
					t.Errorf("the sum is %d, %v", n, err)
				}
			}
		})
	}
	running.Wait()
	for id, want := range map[string]int{"from": 1000 - 3*each, "to": 3 * each, "all": 3 * each} {
		for i, c := range collections {
			if n, err := sum(t.Context(), c, id); err != nil || n != want {
				t.Errorf("node %d has %d in %s, %v, want %d", i, n, id, err, want)
			}
		}
	}
}

// sum adds up what some documents have.
func sum(ctx context.Context, c *mongo.Collection, ids ...string) (n int, err error) {
	found, err := c.Find(ctx, bson.M{"_id": bson.M{"$in": ids}})
	if err != nil {
		return 0, err
	}
	var docs []struct {
		N int `bson:"n"`
	}
	if err := found.All(ctx, &docs); err != nil {
		return 0, err
	}
	for _, d := range docs {
		n += d.N
	}
	return n, nil
}

// TestNodesPolicyAgainstWriters changes the policy of a container through one node, to a second and to none, while
// others write. A document that a node has called dead is dead on each of them from then on. What is written after a
// change was acknowledged follows it.
func TestNodesPolicyAgainstWriters(t *testing.T) {
	c, nodes := startNodes(t, 3)
	asks(t, nodes[0], "POST", "/dbs", "", `{"id":"d"}`, 201, "")
	asks(t, nodes[0], "POST", "/dbs/d/colls", "", containerWith(""), 201, "")
	const each = 90 // documents of a round: what readers have to look at must not grow with the speed of writers
	g := &graveyard{dead: map[string]bool{}, next: make(chan struct{}, each)}
	over := make(chan struct{})
	var running sync.WaitGroup
	for i, n := range nodes {
		running.Go(func() { g.write(t, n, fmt.Sprintf("w%d", i), over) })
		running.Go(func() { g.read(t, n, over) })
	}
	rounds := 6
	if testing.Short() {
		rounds = 2 // each takes a quarter of a minute under the race detector
	}
	for round := range rounds {
		for range each - len(g.next) {
			g.next <- struct{}{}
		}
		short := round%2 == 0
		policy, want := "", 200
		if short {
			policy, want = `,"defaultTtl":1`, 404
		}
		asks(t, nodes[0], "PUT", "/dbs/d/colls/c", "", containerWith(policy), 200, "")
		after := g.turns(3)
		id := fmt.Sprintf("after-%d", round)
		asks(t, nodes[1+round%2], "POST", inC, "x", fmt.Sprintf(`{"id":%q,"p":"x"}`, id), 201, "")
		before := g.looked.Load()
		c.pd.advance(2 * time.Second)
		for _, n := range nodes {
			asks(t, n, "GET", inC+"/"+id, "x", "", want, "")
		}
		// Readers and writers see this policy, too.
		for deadline := clock.Start(); g.looked.Load() < before+12 || g.count() < after; {
			if deadline.Elapsed() > time.Minute {
				t.Fatal("the readers or the writers are stuck")
			}
			asks(t, nodes[round%3], "GET", inC+"/"+id, "x", "", want, "")
		}
	}
	close(over)
	running.Wait()
	if len(g.dead) == 0 || len(g.dead) == len(g.written) {
		t.Errorf("of %d documents, %d died: the test has not tested much", len(g.written), len(g.dead))
	}
	for id := range g.dead {
		for _, n := range nodes {
			asks(t, n, "GET", inC+"/"+id, "x", "", 404, "")
		}
	}
}

// A graveyard knows what is dead.
type graveyard struct {
	looked atomic.Int64
	next   chan struct{} // gives writers their turns

	mu      sync.Mutex
	written []string
	dead    map[string]bool
}

// turns gives writers so many turns, and returns how many documents there are when they have taken them.
func (g *graveyard) turns(n int) (documents int) {
	documents = g.count() + n
	for range n {
		select {
		case g.next <- struct{}{}:
		default: // they have as many already
		}
	}
	return documents
}

// count is the number of documents that were written.
func (g *graveyard) count() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.written)
}

// write creates documents, one for each turn, until it is over.
func (g *graveyard) write(t *testing.T, n *node.Node, name string, over <-chan struct{}) {
	for i := 0; ; i++ {
		select {
		case <-over:
			return
		case <-g.next:
		}
		id := fmt.Sprintf("%s-%d", name, i)
		response, text, err := ask(t.Context(), n, "POST", inC, "x", fmt.Sprintf(`{"id":%q,"p":"x"}`, id))
		if err != nil || response.StatusCode != 201 {
			t.Errorf("create %s: %s, %v", id, text, err)
			return
		}
		g.mu.Lock()
		g.written = append(g.written, id)
		g.mu.Unlock()
	}
}

// read looks at all documents that were written, again and again.
func (g *graveyard) read(t *testing.T, n *node.Node, over <-chan struct{}) {
	for {
		select {
		case <-over:
			return
		default:
		}
		g.mu.Lock()
		written := g.written
		was := map[string]bool{}
		for id := range g.dead {
			was[id] = true
		}
		g.mu.Unlock()
		alive, err := list(t.Context(), n)
		if err != nil {
			t.Error(err)
			return
		}
		g.mu.Lock()
		for _, id := range written {
			switch {
			case alive[id] && was[id]:
				t.Errorf("%s was dead, and lives", id)
			case !alive[id]:
				g.dead[id] = true
			}
		}
		g.mu.Unlock()
		g.looked.Add(1)
	}
}

// TestNodesNameAgainstWriters deletes a container and makes it again through one node, while others write. Whatever was
// acknowledged before a deletion is in none of the containers that have the name later.
func TestNodesNameAgainstWriters(t *testing.T) {
	_, nodes := startNodes(t, 3)
	asks(t, nodes[0], "POST", "/dbs", "", `{"id":"d"}`, 201, "")
	asks(t, nodes[0], "POST", "/dbs/d/colls", "", containerWith(""), 201, "")
	var mu sync.Mutex
	acknowledged := map[string]bool{}
	so := func() map[string]bool {
		mu.Lock()
		defer mu.Unlock()
		return maps.Clone(acknowledged)
	}
	over := make(chan struct{})
	var running sync.WaitGroup
	for i, n := range nodes {
		running.Go(func() {
			for k := 0; ; k++ {
				select {
				case <-over:
					return
				default:
				}
				id := fmt.Sprintf("w%d-%d", i, k)
				r, text, err := ask(t.Context(), n, "POST", inC, "x", fmt.Sprintf(`{"id":%q,"p":"x"}`, id))
				if err != nil || r.StatusCode != 201 && r.StatusCode != 404 {
					t.Errorf("create %s: %s, %v", id, text, err)
					return
				}
				if r.StatusCode == 201 {
					mu.Lock()
					acknowledged[id] = true
					mu.Unlock()
				}
			}
		})
	}
	for life := range 8 {
		before := so()
		for started := len(before); len(before) < started+20; before = so() {
			asks(t, nodes[1], "GET", "/dbs/d/colls/c", "", "", 200, "")
		}
		asks(t, nodes[0], "DELETE", "/dbs/d/colls/c", "", "", 204, "")
		asks(t, nodes[life%2], "POST", "/dbs/d/colls", "", containerWith(""), 201, "")
		for i, n := range nodes {
			alive, err := list(t.Context(), n)
			if err != nil {
				t.Error(err)
			}
			for id := range alive {
				if before[id] {
					t.Errorf("node %d finds %s in the container after number %d", i, id, life)
				}
			}
		}
	}
	close(over)
	running.Wait()
}

// list reads the documents of a container, each page at a moment of its own.
func list(ctx context.Context, n *node.Node) (map[string]bool, error) {
	alive := map[string]bool{}
	for next := ""; ; {
		response, text, err := ask(ctx, n, "GET", inC, "x", "",
			"X-Ms-Max-Item-Count", "1000", "X-Ms-Continuation", next)
		if err != nil {
			return nil, err
		}
		if response.StatusCode != 200 {
			return nil, fmt.Errorf("list: %d %s", response.StatusCode, text)
		}
		var page struct {
			Documents []struct {
				ID string `json:"id"`
			}
		}
		if err := json.Unmarshal([]byte(text), &page); err != nil {
			return nil, err
		}
		for _, d := range page.Documents {
			alive[d.ID] = true
		}
		if next = response.Header.Get("X-Ms-Continuation"); next == "" {
			return alive, nil
		}
	}
}
