// Package mayflytest gives tests a running mayfly with a clock that they
// move. Any Cosmos DB client will do; here http requests, signed by a few lines
// that example_test.go has in full:
//
//	db := mayflytest.New(t)
//	c := client{t, db}
//	c.send("POST", "dbs", "", `{"id":"shop"}`)
//	c.send("POST", "dbs/shop/colls", "",
//		`{"id":"carts","partitionKey":{"paths":["/id"],"kind":"Hash"},"defaultTtl":3600}`)
//	c.send("POST", "dbs/shop/colls/carts/docs", `["ann"]`, `{"id":"ann","items":3}`)
//
//	if got := c.send("GET", "dbs/shop/colls/carts/docs/ann", `["ann"]`, ""); got != 200 {
//		t.Errorf("before its end: status %d, want 200", got)
//	}
//	if err := db.Clock().Advance(24 * time.Hour); err != nil {
//		t.Fatal(err)
//	}
//	if got := c.send("GET", "dbs/shop/colls/carts/docs/ann", `["ann"]`, ""); got != 404 {
//		t.Errorf("a day later: status %d, want 404", got)
//	}
//
// New(t, mayfly.Mongo("127.0.0.1:0")) opens the MongoDB door too: drivers connect to db.MongoURI().
// Dates that end their documents are then counted from db.Clock().Now(), not from time.Now().
package mayflytest

import (
	"testing"
	"time"

	"github.com/mayflydb/mayfly"
)

// New starts a database for one test: in memory, on a free port of 127.0.0.1,
// plain http, with the well-known key and a virtual clock that starts at the present. Options
// come on top. The test's cleanup closes it.
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
