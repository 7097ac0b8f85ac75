package node

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/mayflydb/mayfly/internal/admin"
	"github.com/mayflydb/mayfly/internal/keyring"
)

// operate sends a request with a key to the admin API, and decodes the answer into result unless it is nil.
func operate(t *testing.T, n *Node, key, method, path string, result any) (status int, text string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, n.AdminURL()+"_mayfly/v1"+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if key != "" {
		r.Header.Set("Authorization", "Bearer "+key)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	if result != nil && response.StatusCode == 200 {
		if err := json.Unmarshal(body, result); err != nil {
			t.Fatal(err)
		}
	}
	return response.StatusCode, string(body)
}

// shownKeys are the keys of a node by name.
func shownKeys(t *testing.T, n *Node, key string) map[string]string {
	t.Helper()
	var answer struct{ Keys []admin.AccountKey }
	if status, text := operate(t, n, key, "GET", "/keys?show=true", &answer); status != 200 {
		t.Fatalf("keys: %d %s", status, text)
	}
	keys := map[string]string{}
	for _, k := range answer.Keys {
		keys[k.Name] = k.Key
	}
	return keys
}

func rotateKey(t *testing.T, n *Node, by, name string) string {
	t.Helper()
	var made admin.AccountKey
	if status, text := operate(t, n, by, "POST", "/keys/"+name+"/rotate", &made); status != 200 || made.Key == "" {
		t.Fatalf("rotate %s: %d %s", name, status, text)
	}
	return made.Key
}

// withKeys starts a node in a folder, whose primary key is a kept one, with a container.
func withKeys(t *testing.T, dir string) *Node {
	t.Helper()
	return start(t, Options{
		Dir: dir, NoSQL: "127.0.0.1:0", Admin: "0.0.0.0:0", Virtual: true,
		Mongo: Mongo{Address: "127.0.0.1:0", Auth: "on"},
	})
}

func TestKeysOfTheAPIForNoSQL(t *testing.T) {
	n := withKeys(t, t.TempDir())
	keys := shownKeys(t, n, n.Key())
	if code := askSigned(t, n, keys["secondary"], "POST", "dbs", "dbs", "", `{"id":"shop"}`); code != 201 {
		t.Fatalf("secondary key, create: %d", code)
	}
	container := `{"id":"c","partitionKey":{"paths":["/id"],"kind":"Hash"}}`
	code := askSigned(t, n, keys["primary"], "POST", "dbs/shop/colls", "colls", "dbs/shop", container)
	if code != 201 {
		t.Fatalf("primary key, create: %d", code)
	}
	query := []string{"x-ms-documentdb-isquery", "True", "Content-Type", "application/query+json",
		"x-ms-documentdb-query-enablecrosspartition", "True"}
	for _, c := range []struct {
		name, method, path, kind, link, body string
		header                               []string
		readOnly                             int
	}{
		{"feed", "GET", "dbs", "dbs", "", "", nil, 200},
		{"items", "GET", "dbs/shop/colls/c/docs", "docs", "dbs/shop/colls/c", "", nil, 200},
		{"change feed", "GET", "dbs/shop/colls/c/docs", "docs", "dbs/shop/colls/c", "",
			[]string{"A-IM", "Incremental feed"}, 304},
		{"query", "POST", "dbs/shop/colls/c/docs", "docs", "dbs/shop/colls/c", `{"query":"SELECT * FROM c"}`, query,
			200},
		{"users", "GET", "dbs/shop/users", "users", "dbs/shop", "", nil, 200},
		{"create", "POST", "dbs/shop/colls/c/docs", "docs", "dbs/shop/colls/c", `{"id":"1"}`,
			[]string{"x-ms-documentdb-partitionkey", `["1"]`}, 401},
		{"replace container", "PUT", "dbs/shop/colls/c", "colls", "dbs/shop/colls/c", `{"id":"c"}`, nil, 401},
		{"delete database", "DELETE", "dbs/shop", "dbs", "dbs/shop", "", nil, 401},
		{"call a procedure", "POST", "dbs/shop/colls/c/sprocs/p", "sprocs", "dbs/shop/colls/c/sprocs/p", "[]", nil,
			401},
		{"permissions", "GET", "dbs/shop/users/u/permissions", "permissions", "dbs/shop/users/u", "", nil, 401},
		{"query permissions", "POST", "dbs/shop/users/u/permissions", "permissions", "dbs/shop/users/u",
			`{"query":"SELECT * FROM c"}`, query, 401},
	} {
		for _, key := range []string{"primaryReadonly", "secondaryReadonly"} {
			code := askSigned(t, n, keys[key], c.method, c.path, c.kind, c.link, c.body, c.header...)
			if code != c.readOnly {
				t.Errorf("%s with %s: %d, want %d", c.name, key, code, c.readOnly)
			}
		}
	}
	for _, name := range keyring.Names {
		renewed := rotateKey(t, n, shownKeys(t, n, n.Key())["secondary"], string(name))
		if code := askSigned(t, n, keys[string(name)], "GET", "dbs", "dbs", "", ""); code != 401 {
			t.Errorf("%s, the old key after its rotation: %d", name, code)
		}
		if code := askSigned(t, n, renewed, "GET", "dbs", "dbs", "", ""); code != 200 {
			t.Errorf("%s, the new key: %d", name, code)
		}
	}
}

// A resource token ends with the key that it was made under, and not with another.
func TestRotationEndsTokens(t *testing.T) {
	n := withKeys(t, t.TempDir())
	keys := shownKeys(t, n, n.Key())
	askSigned(t, n, n.Key(), "POST", "dbs", "dbs", "", `{"id":"shop"}`)
	askSigned(t, n, n.Key(), "POST", "dbs/shop/colls", "colls", "dbs/shop",
		`{"id":"c","partitionKey":{"paths":["/id"],"kind":"Hash"}}`)
	askSigned(t, n, n.Key(), "POST", "dbs/shop/users", "users", "dbs/shop", `{"id":"u"}`)
	tokens := map[string]string{}
	_, body := askSignedText(t, n, keys["primary"], "POST", "dbs/shop/users/u/permissions", "permissions",
		"dbs/shop/users/u",
		`{"id":"p","permissionMode":"Read","resource":"dbs/shop/colls/c"}`)
	tokens["primary"] = tokenIn(t, body)
	_, body = askSignedText(t, n, keys["secondary"], "GET", "dbs/shop/users/u/permissions/p", "permissions",
		"dbs/shop/users/u/permissions/p", "")
	tokens["secondary"] = tokenIn(t, body)
	want := func(primary, secondary int) {
		t.Helper()
		for name, status := range map[string]int{"primary": primary, "secondary": secondary} {
			if code := byToken(t, n, tokens[name], "dbs/shop/colls/c/docs"); code != status {
				t.Errorf("token of the %s key: %d, want %d", name, code, status)
			}
		}
	}
	want(200, 200)
	rotateKey(t, n, n.Key(), "primaryReadonly")
	want(200, 200)
	rotateKey(t, n, n.Key(), "primary")
	want(401, 200)
	rotateKey(t, n, n.Key(), "secondary")
	want(401, 401)
}

func tokenIn(t *testing.T, body string) string {
	t.Helper()
	var p struct {
		Token string `json:"_token"`
	}
	if err := json.Unmarshal([]byte(body), &p); err != nil || p.Token == "" {
		t.Fatalf("no token in %s", body)
	}
	return p.Token
}

func TestKeysOfTheAPIForMongoDB(t *testing.T) {
	n := withKeys(t, t.TempDir())
	keys := shownKeys(t, n, n.Key())
	user := func(key, mechanism string) *mongo.Collection {
		client := mongoClient(t, n, &options.Credential{Username: "acct", Password: key, AuthMechanism: mechanism})
		return client.Database("shop").Collection("c")
	}
	by := map[string]*mongo.Collection{}
	for _, name := range []string{"primary", "secondary", "primaryReadonly", "secondaryReadonly"} {
		for _, mechanism := range []string{"SCRAM-SHA-1", "SCRAM-SHA-256"} {
			c := user(keys[name], mechanism)
			_, err := c.InsertOne(t.Context(), bson.M{"a": 1})
			if readOnly := strings.HasSuffix(name, "Readonly"); readOnly != (err != nil) ||
				readOnly && !strings.Contains(err.Error(), "not authorized") {
				t.Errorf("%s writes: %v", name, err)
			}
			if err := c.FindOne(t.Context(), bson.M{}).Err(); err != nil {
				t.Errorf("%s reads: %v", name, err)
			}
			by[name] = c
		}
	}
	renewed := rotateKey(t, n, n.Key(), "primary")
	for name, c := range by {
		err := c.FindOne(t.Context(), bson.M{}).Err()
		if gone := name == "primary"; gone != (err != nil) {
			t.Errorf("%s after the rotation of primary, on an open connection: %v", name, err)
		}
	}
	if err := user(keys["primary"], "").FindOne(t.Context(), bson.M{}).Err(); err == nil {
		t.Error("the old key opens a connection")
	}
	if _, err := user(renewed, "").InsertOne(t.Context(), bson.M{}); err != nil {
		t.Errorf("the new key: %v", err)
	}
}

func TestKeysOfTheAdminAPI(t *testing.T) {
	n := withKeys(t, t.TempDir())
	keys := shownKeys(t, n, n.Key())
	status, text := operate(t, n, keys["primaryReadonly"], "GET", "/keys", nil)
	for _, secret := range keys {
		if status != 200 || strings.Contains(text, secret) {
			t.Errorf("list: %d %s", status, text)
		}
	}
	for _, c := range []struct {
		name, key, method, path string
		status                  int
	}{
		{"no key", "", "GET", "/keys", 401},
		{"wrong key", "x", "GET", "/keys", 401},
		{"show with a read-only key", keys["primaryReadonly"], "GET", "/keys?show=true", 403},
		{"rotate with a read-only key", keys["secondaryReadonly"], "POST", "/keys/primary/rotate", 403},
		{"no such key", keys["primary"], "POST", "/keys/tertiary/rotate", 404},
		{"audit with a read-only key", keys["primaryReadonly"], "GET", "/audit", 200},
	} {
		if status, text := operate(t, n, c.key, c.method, c.path, nil); status != c.status {
			t.Errorf("%s: %d %s, want %d", c.name, status, text, c.status)
		}
	}
	rotateKey(t, n, keys["secondary"], "primary")
	if status, _ := operate(t, n, keys["primary"], "GET", "/keys", nil); status != 401 {
		t.Errorf("the old key: %d", status)
	}
	_, text = operate(t, n, keys["secondary"], "GET", "/audit", nil)
	if !strings.Contains(text, `"principal":"secondary"`) ||
		!strings.Contains(text, `"rotate","kind":"key","target":"primary"`) {
		t.Errorf("audit: %s", text)
	}
}

// Keys survive a restart; a folder from before there were several keys goes on with its primary key.
func TestKeysAfterARestart(t *testing.T) {
	dir := t.TempDir()
	old := withKeys(t, dir)
	first := old.Key()
	keys := shownKeys(t, old, first)
	keys["primary"] = rotateKey(t, old, first, "primary")
	keys["secondaryReadonly"] = rotateKey(t, old, keys["primary"], "secondaryReadonly")
	if err := old.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{keyFile, keysFile} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, mode %v", name, err, info.Mode())
		}
	}
	again := withKeys(t, dir)
	for name, text := range shownKeys(t, again, keys["primary"]) {
		if keys[name] != text {
			t.Errorf("%s is another key", name)
		}
	}
	if err := os.Remove(filepath.Join(dir, keysFile)); err != nil {
		t.Fatal(err)
	}
	if third := withKeys(t, dir); third.Key() != keys["primary"] {
		t.Error("the primary key is another one")
	}
}

func TestFixedKeysDoNotRotate(t *testing.T) {
	for name, o := range map[string]Options{
		"well-known": {Admin: "127.0.0.1:0"},
		"--key":      {Admin: "127.0.0.1:0", Key: "b25lIG9mIHRoZSBrZXlzIHRoYXQgYSBzZXR0aW5nIGdpdmVzIQ=="},
	} {
		n := start(t, o)
		status, text := operate(t, n, n.Key(), "POST", "/keys/primary/rotate", nil)
		if status != 409 || !strings.Contains(text, name) {
			t.Errorf("%s: %d %s", name, status, text)
		}
		rotateKey(t, n, n.Key(), "secondary")
	}
}
