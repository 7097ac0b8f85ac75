package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
	"github.com/mayflydb/mayfly/conformance/cluster/load"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// accounts connects to each process.
func (s *sharing) accounts(t *testing.T, ranges int) []*azcosmos.Client {
	t.Helper()
	var all []*azcosmos.Client
	for _, m := range s.processes {
		c, err := load.Account(t.Context(), "http://"+m.NoSQL, ranges)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, c)
	}
	return all
}

func must(t *testing.T, what string, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

// keyed are the properties of a container with the partition key /pk.
func keyed(id string, ttl *int32) azcosmos.ContainerProperties {
	return azcosmos.ContainerProperties{
		ID: id, PartitionKeyDefinition: azcosmos.PartitionKeyDefinition{Paths: []string{"/pk"}, Version: 2},
		DefaultTimeToLive: ttl,
	}
}

// What one process defines is there for another one as soon as it is
// acknowledged: containers are made, used, dropped and made again, each step
// through the other process. Of two who make the same container, one does.
func TestDefinitionsReachOthers(t *testing.T) {
	s := startSharing(t, 2)
	accounts := s.accounts(t, 2)
	ctx := within(t, time.Minute)
	_, err := accounts[0].CreateDatabase(ctx, azcosmos.DatabaseProperties{ID: "shop"}, nil)
	must(t, "create the database", err)
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() {
			for n := range 5 {
				if err := defineAndUse(ctx, accounts, fmt.Sprint("c", i), i+n); err != nil {
					t.Errorf("container %d, round %d: %v", i, n, err)
					return
				}
			}
		})
	}
	all.Wait()
	for n := range 5 {
		errs := make([]error, len(accounts))
		for i, account := range accounts {
			all.Go(func() {
				db, err := account.NewDatabase("shop")
				if err == nil {
					_, err = db.CreateContainer(ctx, keyed(fmt.Sprint("same", n), nil), nil)
				}
				errs[i] = err
			})
		}
		all.Wait()
		refused := errs[0]
		if refused == nil {
			refused = errs[1]
		}
		if errs[0] != nil && errs[1] != nil || !load.Answered(refused, http.StatusConflict) {
			t.Errorf("two make one container: %v, and %v; want one conflict", errs[0], errs[1])
		}
	}
}

// defineAndUse makes a container through one process, and uses and drops it
// through the next.
func defineAndUse(ctx context.Context, accounts []*azcosmos.Client, id string, turn int) error {
	pk := azcosmos.NewPartitionKeyString("p")
	database := func() *azcosmos.DatabaseClient {
		turn++
		db, _ := accounts[turn%len(accounts)].NewDatabase("shop") // the name is not empty
		return db
	}
	container := func() *azcosmos.ContainerClient {
		c, _ := database().NewContainer(id) // the name is not empty
		return c
	}
	if _, err := database().CreateContainer(ctx, keyed(id, nil), nil); err != nil {
		return fmt.Errorf("create: %w", err)
	}
	if _, err := container().CreateItem(ctx, pk, []byte(`{"id":"a","pk":"p"}`), nil); err != nil {
		return fmt.Errorf("create an item through the other process: %w", err)
	}
	if _, err := container().ReadItem(ctx, pk, "a", nil); err != nil {
		return fmt.Errorf("read: %w", err)
	}
	if _, err := container().Delete(ctx, nil); err != nil {
		return fmt.Errorf("drop: %w", err)
	}
	_, err := container().ReadItem(ctx, pk, "a", nil)
	if !load.Answered(err, http.StatusNotFound) {
		return fmt.Errorf("read after the drop: got %v, want 404", err)
	}
	return nil
}

// An index that one process builds holds for the writers of another one, from
// its acknowledgement on and in what they wrote before.
func TestIndexesReachWriters(t *testing.T) {
	s := startSharing(t, 2)
	ctx := within(t, time.Minute)
	var collections []*mongo.Collection
	for _, m := range s.processes {
		client, err := mongo.Connect(options.Client().ApplyURI("mongodb://" + m.Mongo + "/?directConnection=true"))
		must(t, "connect", err)
		t.Cleanup(func() { client.Disconnect(context.Background()) }) // the process ends anyway
		collections = append(collections, client.Database("shop").Collection("orders"))
	}
	var written int
	built := make(chan struct{})
	var writing sync.WaitGroup
	writing.Go(func() {
		for done := false; !done; written++ {
			select {
			case <-built:
				done = true
			default:
			}
			if _, err := collections[1].InsertOne(ctx, bson.D{{Key: "n", Value: written}}); err != nil {
				t.Errorf("insert: %v", err)
				return
			}
		}
	})
	time.Sleep(200 * time.Millisecond) // something to index
	_, err := collections[0].Indexes().CreateOne(ctx, mongo.IndexModel{
		Keys: bson.D{{Key: "n", Value: 1}}, Options: options.Index().SetUnique(true),
	})
	if _, twice := collections[1].InsertOne(ctx, bson.D{{Key: "n", Value: 0}}); !mongo.IsDuplicateKeyError(twice) {
		t.Errorf("a second 0 through the other process, once the index is unique: got %v", twice)
	}
	close(built)
	writing.Wait()
	must(t, "build", err)
	for _, c := range collections {
		for n := range written {
			found, err := c.CountDocuments(ctx, bson.D{{Key: "n", Value: n}}, options.Count().SetHint("n_1"))
			if err != nil || found != 1 {
				t.Fatalf("%d of %d is in the index %d times, %v", n, written, found, err)
			}
		}
	}
}

// An aged item is one in an answer.
type aged struct {
	ID    string `json:"id"`
	Stamp int64  `json:"_ts"`
	Now   int64  `json:"now"` // milliseconds, of the query
}

func shownBy(ctx context.Context, c *azcosmos.ContainerClient) (all []aged, err error) {
	pager := c.NewQueryItemsPager("SELECT c.id, c._ts, GetCurrentTimestamp() AS now FROM c", azcosmos.NewPartitionKey(),
		nil)
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		for _, text := range page.Items {
			var a aged
			if err := json.Unmarshal(text, &a); err != nil {
				return nil, err
			}
			all = append(all, a)
		}
	}
	return all, nil
}

// A policy that is changed through one process holds for what another one
// writes and shows, from its acknowledgement on: nobody shows an item after its
// end, nobody loses one whose end was taken away, and what has ended stays so.
func TestPolicyReachesWriters(t *testing.T) {
	s := startSharing(t, 2)
	ctx := within(t, 2*time.Minute)
	accounts := s.accounts(t, 4)
	_, err := accounts[0].CreateDatabase(ctx, azcosmos.DatabaseProperties{ID: "shop"}, nil)
	must(t, "create the database", err)
	db, err := accounts[0].NewDatabase("shop")
	must(t, "database", err)
	never, second := int32(-1), int32(1)
	_, err = db.CreateContainer(ctx, keyed("carts", &never), nil)
	must(t, "create the container", err)
	var carts []*azcosmos.ContainerClient
	for _, a := range accounts {
		c, err := a.NewContainer("shop", "carts")
		must(t, "container", err)
		carts = append(carts, c)
	}

	var mu sync.Mutex
	var acknowledged []string
	writing, stop := context.WithCancel(ctx)
	var writers sync.WaitGroup
	for w := range 4 {
		writers.Go(func() {
			for n := 0; writing.Err() == nil; n++ {
				id := fmt.Sprintf("%d-%d", w, n)
				pk := azcosmos.NewPartitionKeyString(id)
				item := fmt.Sprintf(`{"id":%q,"pk":%q}`, id, id)
				if _, err := carts[w%2].CreateItem(ctx, pk, []byte(item), nil); err != nil {
					t.Errorf("create: %v", err)
					return
				}
				mu.Lock()
				acknowledged = append(acknowledged, id)
				mu.Unlock()
			}
		})
	}
	since := func(n int) []string {
		mu.Lock()
		defer mu.Unlock()
		return acknowledged[n:len(acknowledged):len(acknowledged)]
	}
	change := func(ttl *int32) {
		t.Helper()
		_, err := carts[0].Replace(ctx, keyed("carts", ttl), nil)
		must(t, "change the policy", err)
	}
	ended := map[string]bool{}
	looks, shown := 0, 0
	for range 3 {
		time.Sleep(300 * time.Millisecond)
		change(&second)
		for end := time.Now().Add(1500 * time.Millisecond); time.Now().Before(end); looks++ {
			before := since(0)
			all, err := shownBy(ctx, carts[looks%2])
			must(t, "look", err)
			there := map[string]bool{}
			for _, a := range all {
				there[a.ID] = true
				if a.Now >= (a.Stamp+int64(second))*1000 {
					t.Errorf("process %d shows %s of %d at %d ms: it lives for a second", looks%2, a.ID, a.Stamp, a.Now)
				}
			}
			for _, id := range before {
				if !there[id] {
					ended[id] = true
				}
			}
			shown += len(all)
		}
		change(&never)
		from := len(since(0))
		time.Sleep(1500 * time.Millisecond)
		living := since(from)
		for i, c := range carts {
			all, err := shownBy(ctx, c)
			must(t, "look", err)
			there := map[string]bool{}
			for _, a := range all {
				there[a.ID] = true
				if ended[a.ID] {
					t.Errorf("process %d shows %s again, which had ended", i, a.ID)
				}
			}
			for _, id := range living {
				if !there[id] {
					t.Errorf("process %d has lost %s, which never ends", i, id)
				}
			}
		}
	}
	stop()
	writers.Wait()
	t.Logf("%d items, of which %d ended; %d looks at %d", len(acknowledged), len(ended), looks, shown)
}
