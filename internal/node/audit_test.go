package node

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/mayflydb/mayfly/internal/clock"
)

// askSigned sends a request to the API for NoSQL, signed with a key, and returns the status. kind and link are what is
// signed besides the method: the type of the resource and its link, or that of the owner of a feed.
func askSigned(t *testing.T, n *Node, key, method, path, kind, link, body string, header ...string) int {
	t.Helper()
	status, _ := askSignedText(t, n, key, method, path, kind, link, body, header...)
	return status
}

// askSignedText is askSigned with the body of the answer.
func askSignedText(t *testing.T, n *Node, key, method, path, kind, link, body string, header ...string) (int, string) {
	t.Helper()
	secret, err := base64.StdEncoding.DecodeString(key)
	if err != nil {
		t.Fatal(err)
	}
	date := clock.Wall().UTC().Format(http.TimeFormat)
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte(strings.ToLower(method) + "\n" + kind + "\n" + link + "\n" + strings.ToLower(date) + "\n\n"))
	sig := base64.StdEncoding.EncodeToString(mac.Sum(nil))
	r, err := http.NewRequestWithContext(t.Context(), method, n.PlainEndpoint()+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", url.QueryEscape("type=master&ver=1.0&sig="+sig))
	r.Header.Set("x-ms-date", date)
	r.Header.Set("x-ms-version", "2020-07-15")
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	return do(t, r)
}

// byToken is the status of a GET with a resource token.
func byToken(t *testing.T, n *Node, token, path string) int {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), "GET", n.PlainEndpoint()+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", url.QueryEscape(token))
	r.Header.Set("x-ms-version", "2020-07-15")
	status, _ := do(t, r)
	return status
}

func do(t *testing.T, r *http.Request) (int, string) {
	t.Helper()
	response, err := http.DefaultClient.Do(r)
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

func mongoClient(t *testing.T, n *Node, user *options.Credential) *mongo.Client {
	t.Helper()
	o := options.Client().ApplyURI(n.MongoURI()).SetServerSelectionTimeout(30 * time.Second)
	if user != nil {
		o.SetAuth(*user)
	}
	c, err := mongo.Connect(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Disconnect(context.Background()) })
	return c
}

// TestAudit changes something through each API, and reads who it was.
func TestAudit(t *testing.T) {
	n := start(t,
		Options{NoSQL: "127.0.0.1:0", Admin: "127.0.0.1:0", Virtual: true, VirtualStart: time.Unix(1_000_000, 0),
			Mongo: Mongo{Address: "127.0.0.1:0", Auth: "on", ReplSet: ReplSet}})
	if code := askSigned(t, n, n.Key(), "POST", "dbs", "dbs", "", `{"id":"shop"}`); code != 201 {
		t.Fatalf("create database: %d", code)
	}
	container := `{"id":"orders","partitionKey":{"paths":["/id"],"kind":"Hash"},"defaultTtl":60}`
	if code := askSigned(t, n, n.Key(), "POST", "dbs/shop/colls", "colls", "dbs/shop", container); code != 201 {
		t.Fatalf("create container: %d", code)
	}
	longer := strings.Replace(container, "60", "3600", 1)
	orders := "dbs/shop/colls/orders"
	if code := askSigned(t, n, n.Key(), "PUT", orders, "colls", orders, longer); code != 200 {
		t.Fatalf("replace container: %d", code)
	}
	code := askSigned(t, n, n.Key(), "POST", orders+"/docs", "docs", orders, `{"id":"1"}`,
		"x-ms-documentdb-partitionkey", `["1"]`)
	if code != 201 {
		t.Fatalf("create item: %d", code)
	}
	client := mongoClient(t, n, &options.Credential{Username: "mayfly", Password: n.Key()})
	notes := client.Database("app").Collection("notes")
	if _, err := notes.InsertOne(t.Context(), bson.M{"secret": 1}); err != nil {
		t.Fatal(err)
	}
	if _, err := notes.Indexes().CreateOne(t.Context(), mongo.IndexModel{
		Keys: bson.D{{Key: "at", Value: 1}}, Options: options.Index().SetExpireAfterSeconds(90),
	}); err != nil {
		t.Fatal(err)
	}
	err := client.UseSession(t.Context(), func(ctx context.Context) error {
		_, err := mongo.SessionFromContext(ctx).WithTransaction(ctx, func(ctx context.Context) (any, error) {
			return client.Database("app").Collection("made").InsertOne(ctx, bson.M{"a": 1})
		})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"reclaim/pause", "clock/advance"} {
		response, err := http.Post(n.AdminURL()+path, "application/json", strings.NewReader(`{"duration":"10s"}`))
		if err != nil || response.StatusCode != 200 {
			t.Fatal(err, response.Status)
		}
		response.Body.Close()
	}
	_, text := get(t, n.AdminURL()+"_mayfly/v1/audit")
	lines := strings.Split(strings.TrimSpace(text), "\n")
	wants := []string{
		`"nosql","principal":"primary","address":"127.0.0.1:|"action":"create","kind":"database","target":"shop"`,
		`"nosql","principal":"primary"|"create","kind":"container","target":"shop/orders"|{"name":"defaultTtl","after":60}`,
		`"replace","kind":"container","target":"shop/orders"|{"name":"defaultTtl","before":60,"after":3600}`,
		`"mongodb","principal":"mayfly@admin by key ` +
			`primary","address":"127.0.0.1:|"action":"create","kind":"database","target":"app"`,
		`"mongodb"|"create","kind":"container","target":"app/notes"`,
		`"mongodb"|"create","kind":"index","target":"app/notes/at_1"|{"name":"expireAfterSeconds","after":90}`,
		`"mongodb","principal":"mayfly@admin by key primary"|"create","kind":"container","target":"app/made"`,
		`"admin","address":"127.0.0.1:|"action":"pause","kind":"reclaiming"`,
		`"admin"|"move","kind":"clock"|"before":"1970-01-12T13:46:40Z","after":"1970-01-12T13:46:50Z"`,
	}
	if len(lines) != len(wants) {
		t.Fatalf("%d events, want %d:\n%s", len(lines), len(wants), text)
	}
	for i, want := range wants {
		for part := range strings.SplitSeq(want, "|") {
			if !strings.Contains(lines[i], part) {
				t.Errorf("event %d:\n%s\nlacks %s", i+1, lines[i], part)
			}
		}
	}
	if strings.Contains(text, n.Key()) || strings.Contains(text, "secret") {
		t.Errorf("something secret is in the trail:\n%s", text)
	}
	if _, after := get(t, n.AdminURL()+"_mayfly/v1/audit?after=2&max=1"); after != lines[2]+"\n" {
		t.Errorf("after 2, one event: %s", after)
	}
	if _, since := get(t, n.AdminURL()+"_mayfly/v1/audit?since=5s"); since != "" {
		t.Errorf("nothing happened since the clock moved: %s", since)
	}
	for _, query := range []string{"max=-1", "max=x", "since=yesterday", "after=-1"} {
		if code, _ := get(t, n.AdminURL()+"_mayfly/v1/audit?"+query); code != 400 {
			t.Errorf("%s: status %d", query, code)
		}
	}
}

// What the admin API changes through the other APIs is the admin API's change.
func TestAuditOfTheAdminAPI(t *testing.T) {
	n := start(t, Options{Admin: "127.0.0.1:0", Virtual: true})
	response, err := http.Post(n.AdminURL()+"_mayfly/v1/databases", "application/json",
		strings.NewReader(`{"id":"shop"}`))
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if response.StatusCode/100 != 2 {
		t.Fatalf("create: %s", response.Status)
	}
	_, text := get(t, n.AdminURL()+"_mayfly/v1/audit")
	if !strings.Contains(text, `"api":"admin","address":"127.0.0.1:`) || strings.Contains(text, `"api":"nosql"`) {
		t.Errorf("audit: %s", text)
	}
}
