package catalog_test

import (
	"strings"
	"testing"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/expiry"
)

// TestIdentity is what the store learns of the two dialects, and all of it.
func TestIdentity(t *testing.T) {
	h := newHouse(t, false)
	db := h.database("d")
	made := func(name string, dialect catalog.Dialect) *catalog.Identity {
		def := catalog.Definition{Name: name, Dialect: dialect,
			Partition: catalog.PartitionKey{Paths: []string{"/pk"}, Version: 2}}
		c, err := h.CreateContainer(ctx, 100, db, def, nil)
		h.ok(err)
		return c.State().Identity()
	}
	nosql, mongo := made("nosql", catalog.NoSQL), made("mongo", catalog.Mongo)
	if !nosql.Partitioned() || nosql.Logged() || nosql.Member() != "id" || mongo.Partitioned() || !mongo.Logged() ||
		mongo.Member() != "_id" {
		t.Errorf("identities %+v and %+v", nosql, mongo)
	}
	for _, c := range []struct {
		name, body   string
		nosql, mongo bool
	}{
		{"a string", `{"id":"a","_id":"a"}`, true, true},
		{"a number", `{"id":1,"_id":1}`, false, true},
		{"empty", `{"id":"","_id":""}`, false, true},
		{"the longest", `{"id":"` + strings.Repeat("x", catalog.MaxIDBytes) + `"}`, true, false},
		{"too long", `{"id":"` + strings.Repeat("x", catalog.MaxIDBytes+1) + `"}`, false, false},
		{"none", `{}`, false, false},
	} {
		d := body(c.body)
		form, ok := nosql.AppendID([]byte("<"), d)
		if id, _ := doc.AsString(doc.Lookup(d, "id")); ok != c.nosql || ok && string(form) != "<"+id {
			t.Errorf("%s: id %q, %v", c.name, form, ok)
		}
		if has, valid := nosql.HasID(d, string(form[1:])); valid != ok || valid && !has {
			t.Errorf("%s: HasID %v, %v", c.name, has, valid)
		}
		form, ok = mongo.AppendID(nil, d)
		if ok != c.mongo {
			t.Errorf("%s: _id %v", c.name, ok)
		}
		if has, valid := mongo.HasID(d, string(form)); valid != ok || !has {
			t.Errorf("%s: HasID %v, %v of _id", c.name, has, valid)
		}
		if has, _ := mongo.HasID(d, "x"+string(form)); has {
			t.Errorf("%s: another _id is the same", c.name)
		}
	}
	d := body(`{"pk":"a","ttl":0}`)
	key := nosql.AppendPartition(nil, []doc.Value{doc.String("a")})
	if of := nosql.AppendPartitionOf(nil, d); len(key) == 0 || string(of) != string(key) {
		t.Errorf("the document is in partition %x, not %x", of, key)
	}
	if got := string(nosql.AppendPartitionOf(nil, body(`{"pk":[1]}`))); got != string(nosql.AppendPartitionOf(nil,
		body(`{}`))) {
		t.Error("an array in the place of a partition key does not count as absent")
	}
	if len(mongo.AppendPartitionOf(nil, d)) > 0 || len(mongo.AppendPartition(nil, []doc.Value{doc.String("a")})) > 0 {
		t.Error("a container without partitions has one")
	}
	if _, err := nosql.TTL(d); err == nil {
		t.Error("a ttl of 0 is accepted (A-06)")
	}
	if ttl, err := mongo.TTL(d); ttl != expiry.Unset || err != nil {
		t.Errorf("a ttl of 0 is %d, %v, and not ignored (A-05)", ttl, err)
	}
}
