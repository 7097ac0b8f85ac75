package command_test

import (
	"testing"
	"time"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/store"
)

// foreign makes a container as the API for NoSQL does.
func (d *testServer) foreign(name string, ttl expiry.TTL, indexing catalog.Indexing) *catalog.Container {
	d.t.Helper()
	now := d.clock.Now().Unix()
	db, err := d.catalog.Database("test")
	if err != nil {
		db, err = d.catalog.CreateDatabase(d.t.Context(), now, "test", nil)
	}
	must(d.t, err)
	c, err := d.catalog.CreateContainer(d.t.Context(), now, db, catalog.Definition{
		Name: name, TTL: ttl, Partition: catalog.PartitionKey{Paths: []string{"/id"}, Version: 2}, Indexing: indexing,
	}, nil)
	must(d.t, err)
	return c
}

// TestTwoAPIs is A-29: the index on _ts and defaultTtl are two faces of one setting.
func TestTwoAPIs(t *testing.T) {
	t.Parallel()
	d := newServer(t, nil)
	c := d.foreign("c", 60, catalog.Indexing{Included: []string{"/*"}})
	d.foreign("unindexed", expiry.Unset, catalog.Indexing{None: true})
	body, err := doc.FromJSON(nil, []byte(`{"id":"1"}`), doc.ParseOptions{})
	must(t, err)
	_, err = d.store.Write(t.Context(), c, d.clock.Now().Unix(), store.Op{
		Verb: store.Create, Key: store.Key{Partition: []doc.Value{doc.String("1")}, ID: "1"}, Body: body,
	})
	must(t, err)
	cases := []struct{ name, cmd, want string }{
		{"shown", `{"listIndexes":"c"}`, `~{v: 2, key: {_ts: 1}, name: "_ts_1", expireAfterSeconds: 60}]}}`},
		{"the same", `{"createIndexes":"c","indexes":[{"key":{"_ts":1},"name":"_ts_1","expireAfterSeconds":60}]}`, `~note: "all indexes already exist"`},
		{"another", `{"createIndexes":"c","indexes":[{"key":{"_ts":1},"name":"_ts_1","expireAfterSeconds":61}]}`, `~85 IndexOptionsConflict`},
		{"changed", `{"collMod":"c","index":{"name":"_ts_1","expireAfterSeconds":30}}`, `{expireAfterSeconds_old: 60L, expireAfterSeconds_new: 30L}`},
		{"other indexes", `{"createIndexes":"c","indexes":[{"key":{"x":1},"name":"x_1","expireAfterSeconds":60}]}`, `~115 CommandNotSupported`},
		{"indexing none", `{"createIndexes":"unindexed","indexes":[{"key":{"_ts":1},"name":"_ts_1","expireAfterSeconds":60}]}`,
			`2 BadValue: Indexing mode value cannot be 'none' when 'defaultTtl' is specified in the collection`},
	}
	for _, c := range cases {
		d.expect(c.cmd, c.want)
	}
	if ttl := c.State().TTL; ttl != 30 {
		t.Errorf("defaultTtl is %d", ttl)
	}
	d.pass(29 * time.Second)
	d.expect(`{"count":"c"}`, `{n: 1}`)
	d.pass(time.Second)
	d.expect(`{"count":"c"}`, `{n: 0}`)
	d.expect(`{"dropIndexes":"c","index":"_ts_1"}`, `{nIndexesWas: 2}`)
	if ttl := c.State().TTL; ttl != expiry.Unset {
		t.Errorf("defaultTtl is %d", ttl)
	}
	d.expect(`{"count":"c"}`, `{n: 0}`)
}

// TestBothRules is a collection with both: whichever ends a document first.
func TestBothRules(t *testing.T) {
	t.Parallel()
	d := newServer(t, nil)
	d.stamped("c", 20)
	d.tell(`{"createIndexes":"c","indexes":[{"key":{"at":1},"name":"at_1","expireAfterSeconds":10}]}`)
	d.insert("c", `{"_id":1,"at":`+dateAt(0)+`}`)
	d.insert("c", `{"_id":2,"at":`+dateAt(50_000)+`}`)
	d.insert("c", `{"_id":3,"at":`+dateAt(50_000)+`,"ttl":-1}`)
	d.insert("c", `{"_id":4,"ttl":5}`)
	d.insert("c", `{"_id":5,"ttl":-1}`)
	for _, at := range []struct {
		second int
		want   string
	}{
		{4, "1 2 3 4 5"}, {5, "1 2 3 5"}, {9, "1 2 3 5"}, {10, "2 3 5"},
		{19, "2 3 5"}, {20, "3 5"}, {59, "3 5"}, {60, "5"},
	} {
		must(t, d.clock.Set(start.Add(time.Duration(at.second)*time.Second)))
		d.alive("c", at.want)
		if at.second%2 == 0 {
			must(t, d.reclaim(t.Context()))
			d.alive("c", at.want)
		}
	}
	d.checked()
}

// TestOutKeepsLifetime is $out, which leaves a collection its indexes: those that end documents are among them.
func TestOutKeepsLifetime(t *testing.T) {
	t.Parallel()
	d := newServer(t, nil)
	d.tell(`{"createIndexes":"to","indexes":[{"key":{"_ts":1},"name":"life","expireAfterSeconds":20},{"key":{"at":1},"name":"at_1","expireAfterSeconds":10}]}`)
	list := d.tell(`{"listIndexes":"to"}`)
	d.insert("from", `{"_id":1,"at":`+dateAt(0)+`}`)
	d.insert("from", `{"_id":2}`)
	d.pass(5 * time.Second)
	d.tell(`{"aggregate":"from","pipeline":[{"$out":"to"}],"cursor":{}}`)
	d.expect(`{"listIndexes":"to"}`, list)
	d.alive("to", "1 2")
	d.pass(5 * time.Second)
	d.alive("to", "2")
	d.pass(15 * time.Second)
	d.alive("to", "")
	d.checked()
}
