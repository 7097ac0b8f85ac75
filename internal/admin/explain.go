package admin

import (
	"context"
	"net/http"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/foresight"
	"github.com/mayflydb/mayfly/internal/store"
)

// explainLifetime takes ?id=...&partitionKey=[...], with the meaning that they have for items.
func (a *admin) explainLifetime(w http.ResponseWriter, r *http.Request) error {
	if a.Foresight == nil {
		return missing("foresight")
	}
	c, err := a.container(r)
	if err != nil {
		return err
	}
	id := r.URL.Query().Get("id")
	if id == "" {
		return fault.New(fault.Invalid, "say which item: id, and partitionKey where several items have the id")
	}
	keys, err := a.keysOf(r, c, id)
	if err != nil {
		return err
	}
	var result *foresight.Explanation
	err = a.Foresight(r.Context(), func(ctx context.Context, f *foresight.Foresight) error {
		c, err := f.Container(r.PathValue("db"), r.PathValue("c"))
		if err != nil {
			return err
		}
		for _, key := range keys {
			result, err = f.Explain(ctx, c, a.Clock.Now().Unix(), key)
			if fault.KindOf(err) != fault.NotFound {
				break
			}
		}
		return err
	})
	return a.reply(w, result, err)
}

// keysOf are the keys that an id may stand for: several for MongoDB, where its text may be that of several values.
func (a *admin) keysOf(r *http.Request, c *catalog.Container, id string) (keys []store.Key, err error) {
	partitionKey := r.URL.Query().Get("partitionKey")
	if !isMongo(c) {
		if partitionKey == "" {
			if partitionKey, err = a.findPartitionKey(r.Context(), c, id); err != nil {
				return nil, err
			}
		}
		key, err := foresight.ItemKey(c, id, partitionKey)
		return []store.Key{key}, err
	}
	if partitionKey != "" {
		return nil, errNoPartitionKey
	}
	for _, v := range identities(id) {
		kind, data, err := bson.MarshalValue(v)
		if err != nil {
			return nil, err
		}
		keys = append(keys, store.Identity(doc.Value{Type: bsoncore.Type(kind), Data: data}))
	}
	return keys, nil
}
