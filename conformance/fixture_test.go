package conformance

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
)

// patience bounds every SDK call of a functional test.
const patience = 20 * time.Second

// item is a document as Go sees it.
type item map[string]any

func (i item) bytes(t testing.TB) []byte {
	t.Helper()
	b, err := json.Marshal(i)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func parse(t testing.TB, b []byte) item {
	t.Helper()
	var i item
	if err := json.Unmarshal(b, &i); err != nil {
		t.Fatalf("not a JSON object: %v\n%s", err, b)
	}
	return i
}

// stamp is _ts.
func (i item) stamp() int64 {
	ts, _ := i["_ts"].(float64)
	return int64(ts)
}

var databases atomic.Int64

// newDatabase makes an empty database that the test takes away with it.
func newDatabase(t testing.TB, s *server) *azcosmos.DatabaseClient {
	t.Helper()
	client := s.client(t)
	name := fmt.Sprintf("db-%d", databases.Add(1))
	if _, err := client.CreateDatabase(within(t, patience), azcosmos.DatabaseProperties{ID: name}, nil); err != nil {
		t.Fatalf("create database: %v", err)
	}
	db, err := client.NewDatabase(name)
	if err != nil {
		t.Fatal(err)
	}
	return db
}

// A box is a container with everything a test wants to reach it by.
type box struct {
	*azcosmos.ContainerClient
	server *server
	path   string // dbs/d/colls/c
}

// newBox makes a container in a database of its own. Without paths its
// partition key is /pk.
func newBox(t testing.TB, s *server, p azcosmos.ContainerProperties) *box {
	t.Helper()
	db := newDatabase(t, s)
	if p.ID == "" {
		p.ID = "things"
	}
	if p.PartitionKeyDefinition.Paths == nil {
		p.PartitionKeyDefinition = azcosmos.PartitionKeyDefinition{Paths: []string{"/pk"}, Version: 2}
	}
	if _, err := db.CreateContainer(within(t, patience), p, nil); err != nil {
		t.Fatalf("create container: %v", err)
	}
	c, err := db.NewContainer(p.ID)
	if err != nil {
		t.Fatal(err)
	}
	return &box{c, s, "dbs/" + db.ID() + "/colls/" + p.ID}
}

// again reaches the same container with a fresh client, after a restart.
func (b *box) again(t testing.TB) *box {
	t.Helper()
	segments := strings.Split(b.path, "/")
	c, err := b.server.client(t).NewContainer(segments[1], segments[3])
	if err != nil {
		t.Fatal(err)
	}
	return &box{c, b.server, b.path}
}

// create writes an item of partition "p" and returns it as stored.
func (b *box) create(t testing.TB, i item) item {
	t.Helper()
	if _, ok := i["pk"]; !ok {
		i["pk"] = "p"
	}
	pk := azcosmos.NewPartitionKeyString(i["pk"].(string))
	r, err := b.CreateItem(within(t, patience), pk, i.bytes(t), withBody)
	if err != nil {
		t.Fatalf("create %v: %v", i["id"], err)
	}
	return parse(t, r.Value)
}

// read is the status of a point read in partition "p", and the item if there is one.
func (b *box) read(t testing.TB, id string) (int, item) {
	t.Helper()
	r, err := b.ReadItem(within(t, patience), partitionP, id, nil)
	if err != nil {
		return status(t, err), nil
	}
	return r.RawResponse.StatusCode, parse(t, r.Value)
}

var (
	partitionP = azcosmos.NewPartitionKeyString("p")
	withBody   = &azcosmos.ItemOptions{EnableContentResponseOnWrite: true}
)

// status is the HTTP status behind an SDK error; an error without one is fatal.
func status(t testing.TB, err error) int {
	t.Helper()
	var r *azcore.ResponseError
	if !errors.As(err, &r) {
		t.Fatalf("not an answer of the server: %v", err)
	}
	return r.StatusCode
}

// wantStatus requires that an SDK call failed with this status.
func wantStatus(t testing.TB, what string, err error, want int) {
	t.Helper()
	if err == nil {
		t.Errorf("%s: succeeded, want %d %s", what, want, http.StatusText(want))
		return
	}
	if got := status(t, err); got != want {
		t.Errorf("%s: %d, want %d\n%v", what, got, want, err)
	}
}

func ok(t testing.TB, what string, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

func ptr[T any](v T) *T { return &v }

func words(s string) []string { return strings.Fields(s) }
