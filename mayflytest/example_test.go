package mayflytest_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/mayflydb/mayfly"
	"github.com/mayflydb/mayfly/mayflytest"
)

func TestExample(t *testing.T) {
	db := mayflytest.New(t)
	c := client{t, db}
	c.send("POST", "dbs", "", `{"id":"shop"}`)
	c.send("POST", "dbs/shop/colls", "",
		`{"id":"carts","partitionKey":{"paths":["/id"],"kind":"Hash"},"defaultTtl":3600}`)
	c.send("POST", "dbs/shop/colls/carts/docs", `["ann"]`, `{"id":"ann","items":3}`)

	if got := c.send("GET", "dbs/shop/colls/carts/docs/ann", `["ann"]`, ""); got != 200 {
		t.Errorf("before it expires: status %d, want 200", got)
	}
	if err := db.Clock().Advance(24 * time.Hour); err != nil {
		t.Fatal(err)
	}
	if got := c.send("GET", "dbs/shop/colls/carts/docs/ann", `["ann"]`, ""); got != 404 {
		t.Errorf("a day later: status %d, want 404", got)
	}
}

// Tests of one suite go back to a known state, clock included, in place of making it anew.
func TestRestore(t *testing.T) {
	db := mayflytest.New(t)
	c := client{t, db}
	c.send("POST", "dbs", "", `{"id":"shop"}`)
	c.send("POST", "dbs/shop/colls", "",
		`{"id":"carts","partitionKey":{"paths":["/id"],"kind":"Hash"},"defaultTtl":3600}`)
	c.send("POST", "dbs/shop/colls/carts/docs", `["ann"]`, `{"id":"ann","items":3}`)
	if err := db.Snapshot(t.Context(), "one-cart"); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"first", "second"} {
		if err := db.Restore(t.Context(), "one-cart"); err != nil {
			t.Fatal(err)
		}
		if got := c.send("GET", "dbs/shop/colls/carts/docs/ann", `["ann"]`, ""); got != 200 {
			t.Errorf("%s test begins with status %d, want 200", name, got)
		}
		if err := db.Clock().Advance(time.Hour); err != nil {
			t.Fatal(err)
		}
		if got := c.send("GET", "dbs/shop/colls/carts/docs/ann", `["ann"]`, ""); got != 404 {
			t.Errorf("%s test, an hour later: status %d, want 404", name, got)
		}
	}
}

// A client sends signed requests.
type client struct {
	t  *testing.T
	db *mayfly.DB
}

// send returns the status of the answer. Dates are the machine's own, as
// every SDK's.
// https://learn.microsoft.com/rest/api/cosmos-db/access-control-on-cosmosdb-resources
func (c client) send(method, path, partitionKey, body string) int {
	c.t.Helper()
	r, err := http.NewRequestWithContext(c.t.Context(), method, c.db.Endpoint()+path, strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	date := time.Now().UTC().Format(http.TimeFormat)
	r.Header.Set("x-ms-date", date)
	r.Header.Set("x-ms-version", "2020-11-05")
	r.Header.Set("Authorization", sign(c.db.Key(), method, path, date))
	if partitionKey != "" {
		r.Header.Set("x-ms-documentdb-partitionkey", partitionKey)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		c.t.Fatal(err)
	}
	response.Body.Close()
	return response.StatusCode
}

func sign(key, method, path, date string) string {
	segments := strings.Split(path, "/")
	kind, link := segments[len(segments)-1], path
	if len(segments)%2 == 0 { // an item: its kind is the segment before its name
		kind = segments[len(segments)-2]
	} else { // a feed: signed with the link of its parent
		link = strings.TrimSuffix(strings.TrimSuffix(path, kind), "/")
	}
	secret, _ := base64.StdEncoding.DecodeString(key)
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte(strings.ToLower(method) + "\n" + kind + "\n" + link + "\n" + strings.ToLower(date) + "\n\n"))
	return url.QueryEscape("type=master&ver=1.0&sig=" + base64.StdEncoding.EncodeToString(mac.Sum(nil)))
}
