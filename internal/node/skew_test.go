package node

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/mayflydb/mayfly/internal/clock"
)

// startSkewed starts nodes that share their data and whose clocks are wrong: one has not heard for two days how late it
// is, and the other one is three hours ahead.
func startSkewed(t *testing.T, before func(nodes []*Node)) []*Node {
	t.Helper()
	cluster, nodes := startSharing(t, 2)
	before(nodes)
	cluster.Move(48 * time.Hour)
	for i, ahead := range []time.Duration{-48 * time.Hour, 3 * time.Hour} {
		nodes[i].pulse.Load().end()
		nodes[i].clock.(*clock.Following).Tell(cluster.Now().Add(ahead))
	}
	return nodes
}

// What a node says about lives is of an instant of the engine, so all nodes say the same.
func TestSkewedNodesForeseeAlike(t *testing.T) {
	nodes := startSkewed(t, func(nodes []*Node) {
		for _, x := range []struct{ path, partition, body string }{
			{"/dbs", "", `{"id":"d"}`},
			{"/dbs/d/colls", "", `{"id":"c","partitionKey":{"paths":["/p"],"kind":"Hash"},"defaultTtl":-1}`},
			{"/dbs/d/colls/c/docs", "x", `{"id":"gone","p":"x","ttl":86400}`},
			{"/dbs/d/colls/c/docs", "x", `{"id":"soon","p":"x","ttl":180000}`},
			{"/dbs/d/colls/c/docs", "x", `{"id":"later","p":"x","ttl":864000}`},
		} {
			if code, text := nosql(t, nodes[0], "POST", x.path, x.partition, x.body); code != 201 {
				t.Fatalf("%s: %d %s", x.path, code, text)
			}
		}
	})
	const container = "databases/d/containers/c"
	for _, x := range []struct {
		name, path, body string
		now              string // a part of the answer: the instant that it is about
	}{
		{"forecast", container + "/forecast?by=hour&count=12", "", `"now":{"unix":%d`},
		{"forecast of everything", "forecast?by=hour", "", `"now":{"unix":%d`},
		{"expiring", container + "/expiring", "", `"now":%d`},
		{"explanation", container + "/lifetime/explain?id=soon", "", `"now":{"unix":%d`},
		{"preview", container + "/lifetime/preview", `{"defaultTtl":3600}`, `"now":{"unix":%d`},
		{"items", container + "/items?lifetimes=true", "", `"now":%d`},
		{"query", container + "/query", `{"sql":"SELECT * FROM c"}`, `"now":%d`},
		{"query with lifetimes", container + "/query", `{"sql":"SELECT * FROM c","lifetimes":true}`, `"now":%d`},
		{"time in a query", container + "/query", `{"sql":"SELECT VALUE GetCurrentTicks() FROM c"}`, `"now":%d`},
		{"clock", "clock", "", `"time":"2030-01-03T12:00:0`},
	} {
		var answers []string
		for _, n := range nodes {
			ask := get
			if x.body != "" {
				ask = func(t *testing.T, url string) (int, string) { return post(t, url, x.body) }
			}
			code, text := ask(t, n.AdminURL()+"_mayfly/v1/"+x.path)
			want := x.now
			if strings.Contains(want, "%d") {
				want = fmt.Sprintf(want, time.Date(2030, 1, 3, 12, 0, 0, 0, time.UTC).Unix())
			}
			if compact := withoutSpace(text); code != 200 || !strings.Contains(compact, want) {
				t.Errorf("%s: %d %s, want %s", x.name, code, compact, want)
			}
			answers = append(answers, withoutParts(text))
		}
		if answers[0] != answers[1] {
			t.Errorf("%s: the nodes say\n%s\nand\n%s", x.name, answers[0], answers[1])
		}
	}
}

// post sends JSON to the admin API.
func post(t *testing.T, url, body string) (int, string) {
	t.Helper()
	response, err := http.Post(url, "application/json", strings.NewReader(body))
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

// withoutSpace is JSON without the space between its parts.
func withoutSpace(text string) string {
	var parsed json.RawMessage
	if json.Unmarshal([]byte(text), &parsed) != nil {
		return text
	}
	compact, err := json.Marshal(parsed)
	if err != nil {
		return text
	}
	return string(compact)
}

// withoutParts leaves out what is different each time: how long it took, and parts of a second.
func withoutParts(text string) string {
	text = regexp.MustCompile(`"elapsedMs": ?[0-9.e+-]+`).ReplaceAllString(text, "")
	text = regexp.MustCompile(`(\d{10})\d{7}\b`).ReplaceAllString(text, "$1") // ticks
	return regexp.MustCompile(`(:\d\d)\.\d+Z`).ReplaceAllString(text, "$1")
}

// The time that a program asks for is that of the engine, too: it writes dates from which lives count.
func TestSkewedNodesTellTheTimeAlike(t *testing.T) {
	nodes := startSkewed(t, func([]*Node) {})
	ctx := context.Background()
	now := time.Date(2030, 1, 3, 12, 0, 0, 0, time.UTC)
	for i, n := range nodes {
		client, err := mongo.Connect(options.Client().ApplyURI(n.MongoURI()).SetDirect(true))
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := client.Disconnect(ctx); err != nil {
				t.Error(err)
			}
		}()
		c := client.Database("d").Collection("c")
		if _, err := c.UpdateOne(ctx, bson.M{"_id": i}, bson.M{"$currentDate": bson.M{"at": true}},
			options.UpdateOne().SetUpsert(true)); err != nil {
			t.Fatal(err)
		}
		cursor, err := c.Aggregate(ctx, bson.A{
			bson.M{"$match": bson.M{"_id": i}}, bson.M{"$set": bson.M{"now": "$$NOW"}},
		})
		if err != nil {
			t.Fatal(err)
		}
		var found []struct{ At, Now time.Time }
		if err := cursor.All(ctx, &found); err != nil || len(found) != 1 {
			t.Fatal(found, err)
		}
		for name, at := range map[string]time.Time{"$currentDate": found[0].At, "$$NOW": found[0].Now} {
			if !at.Truncate(time.Second).Equal(now) {
				t.Errorf("%s of node %d is %v, want %v", name, i, at, now)
			}
		}
	}
}
