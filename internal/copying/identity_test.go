package copying_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/mayflydb/mayfly/internal/copying"
)

// elsewhere is an endpoint with another text for its address.
func elsewhere(e copying.Endpoint) copying.Endpoint {
	e.URL = strings.Replace(e.URL, "127.0.0.1", "localhost", 1)
	return e
}

// A copy onto itself is refused before anything is written, however the addresses are spelt.
func TestOntoItself(t *testing.T) {
	b := newBox(t)
	c := b.create("shop", azcosmos.ContainerProperties{ID: "carts", DefaultTimeToLive: seconds(60)})
	put(t, c, "k", `{"id":"a","pk":"k"}`)
	etag := func() string {
		answer, err := c.ReadItem(t.Context(), azcosmos.NewPartitionKeyString("k"), "a", nil)
		b.ok(err)
		return string(answer.ETag)
	}
	before := etag()
	_, err := b.db("docs").Collection("visits").InsertOne(t.Context(), bson.D{{Key: "_id", Value: 1}})
	b.ok(err)
	one, other := divide(b, 0), divide(b, 0)
	one.simple, other.simple = true, true
	for name, pair := range map[string][2]copying.Endpoint{
		"names of a host":        {b.nosql("shop/carts"), elsewhere(b.nosql("shop/carts"))},
		"a slash at the end":     {b.nosql("shop/carts"), elsewhere(b.nosql("shop/"))},
		"everything":             {b.nosql("shop"), elsewhere(b.nosql(""))},
		"two ports":              {b.nosql("shop/carts"), other.nosql("shop/carts")},
		"a service with no name": {one.nosql("shop/carts"), other.nosql("shop")},
		"MongoDB":                {b.mongo("docs/visits"), elsewhere(b.mongo("docs"))},
		"MongoDB, everything":    {b.mongo(""), elsewhere(b.mongo(""))},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "checkpoint")
			_, err := copying.Run(t.Context(), copying.Options{From: pair[0], To: pair[1], Checkpoint: file})
			if !errors.Is(err, copying.ErrSame) {
				t.Fatalf("error %v", err)
			}
			if _, err := os.Stat(file); !errors.Is(err, os.ErrNotExist) {
				t.Error("there is a checkpoint:", err)
			}
		})
	}
	if got := etag(); got != before {
		t.Error("the item was written")
	}
	// Another name is another container.
	for _, pair := range [][2]copying.Endpoint{
		{b.nosql("shop/carts"), elsewhere(b.nosql("shop/other"))}, {b.mongo("docs"), elsewhere(b.mongo("copies"))},
	} {
		result, err := copying.Run(t.Context(), copying.Options{From: pair[0], To: pair[1]})
		if err != nil || result.Containers[0].Written != 1 {
			t.Error(result, err)
		}
	}
}

// Two servers that were made in the same way look the same but for the process.
func TestServersThatLookTheSame(t *testing.T) {
	from, to := newBox(t), newBox(t)
	for _, b := range []*box{from, to} {
		b.create("shop", azcosmos.ContainerProperties{ID: "carts"})
		_, err := b.db("docs").Collection("visits").InsertOne(t.Context(), bson.D{{Key: "_id", Value: 1}})
		b.ok(err)
	}
	put(t, from.container("shop", "carts"), "k", `{"id":"a","pk":"k"}`)
	for _, o := range []copying.Options{
		{From: from.nosql("shop"), To: to.nosql("shop")}, {From: from.mongo("docs"), To: to.mongo("docs")},
	} {
		result, err := copying.Run(t.Context(), o)
		if err != nil || result.Containers[0].Written != 1 {
			t.Error(result, err)
		}
	}
}
