package node

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/mayflydb/mayfly/internal/admin"
	"github.com/mayflydb/mayfly/internal/clock"
)

// TestConnections opens connections to each API, looks at them in the admin API, and closes them.
func TestConnections(t *testing.T) {
	s := newAdminStory(t, Options{NoSQL: "127.0.0.1:0", TLS: TLS{Off: true}, Mongo: Mongo{Address: "127.0.0.1:0"}})
	list := func() (found map[string][]admin.Connection, total int) {
		r, response, body := s.send(t, "GET /connections\nUser-Agent: watcher/1")
		checkAgainstDocument(t, r, response, body)
		var sent struct {
			Connections []admin.Connection
			Total       int
		}
		if err := json.Unmarshal(body, &sent); err != nil {
			t.Fatal(err)
		}
		found = map[string][]admin.Connection{}
		for _, c := range sent.Connections {
			found[c.API] = append(found[c.API], c)
		}
		if len(sent.Connections) != sent.Total {
			t.Errorf("%d of %d", len(sent.Connections), sent.Total)
		}
		return found, sent.Total
	}
	found, total := list()
	if total != 1 || found["admin"][0].Active != 1 || found["admin"][0].Client != "watcher/1" {
		t.Errorf("the one who asks: %+v", found)
	}
	web := &http.Client{Transport: &http.Transport{}}
	for range 3 {
		r, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, s.n.Endpoint(), nil)
		r.Header.Set("User-Agent", strings.Repeat("cosmos", 100)+"\xff")
		response, err := web.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		io.Copy(io.Discard, response.Body)
		response.Body.Close()
	}
	client, err := mongo.Connect(options.Client().ApplyURI(s.n.MongoURI()).SetAppName("shop").SetDirect(true))
	if err != nil {
		t.Fatal(err)
	}
	if err := client.Database("admin").RunCommand(t.Context(), bson.D{{Key: "ping", Value: 1}}).Err(); err != nil {
		t.Fatal(err)
	}
	found, _ = list()
	if len(found["nosql"]) != 1 || found["nosql"][0].Requests != 3 || found["nosql"][0].Active != 0 ||
		found["nosql"][0].Client[:6] != "cosmos" || len(found["nosql"][0].Client) > maxAgent ||
		found["nosql"][0].Since.IsZero() || !strings.HasPrefix(found["nosql"][0].Remote, "127.0.0.1:") {
		t.Errorf("nosql: %+v", found["nosql"])
	}
	pinged := false
	for _, c := range found["mongo"] {
		pinged = pinged || c.Requests > 1
		if !strings.HasPrefix(c.Client, "shop (mongo-go-driver") || c.ID == "" || c.User != "" {
			t.Errorf("mongo: %+v", c)
		}
	}
	if !pinged {
		t.Errorf("mongo: %+v", found["mongo"])
	}
	web.CloseIdleConnections()
	if err := client.Disconnect(t.Context()); err != nil {
		t.Fatal(err)
	}
	for range 500 {
		if _, total = list(); total == 1 {
			return
		}
		_ = clock.Pause(t.Context(), 10*time.Millisecond) // connections end by the machine's time
	}
	t.Errorf("%d connections are left", total)
}
