// Package mayflytest starts a mayfly for a test, with a clock that the test moves. Any Cosmos DB client works; this
// example uses signed HTTP requests, with a client of a few lines that example_test.go shows:
//
//	db := mayflytest.New(t)
//	c := client{t, db}
//	c.send("POST", "dbs", "", `{"id":"shop"}`)
//	c.send("POST", "dbs/shop/colls", "",
//		`{"id":"carts","partitionKey":{"paths":["/id"],"kind":"Hash"},"defaultTtl":3600}`)
//	c.send("POST", "dbs/shop/colls/carts/docs", `["ann"]`, `{"id":"ann","items":3}`)
//
//	if got := c.send("GET", "dbs/shop/colls/carts/docs/ann", `["ann"]`, ""); got != 200 {
//		t.Errorf("before it expires: status %d, want 200", got)
//	}
//	if err := db.Clock().Advance(24 * time.Hour); err != nil {
//		t.Fatal(err)
//	}
//	if got := c.send("GET", "dbs/shop/colls/carts/docs/ann", `["ann"]`, ""); got != 404 {
//		t.Errorf("a day later: status %d, want 404", got)
//	}
//
// New(t, mayfly.Mongo("127.0.0.1:0")) adds the API for MongoDB: drivers connect to db.MongoURI(). A date by which a
// document expires then has to be relative to db.Clock().Now(), not to time.Now().
package mayflytest

import (
	"testing"
	"time"

	"github.com/mayflydb/mayfly"
)

// New starts a database for one test: in memory, on a free port of 127.0.0.1, with plain http, the well-known key and a
// virtual clock that starts at the present. opts are applied after these defaults. The cleanup of the test closes it.
func New(t testing.TB, opts ...mayfly.Option) *mayfly.DB {
	t.Helper()
	db, err := mayfly.Open(t.Context(), append([]mayfly.Option{mayfly.VirtualClock(time.Time{})}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}
