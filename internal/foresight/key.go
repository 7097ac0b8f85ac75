package foresight

import (
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/store"
)

// maxPartitionKey is how long the JSON text of a partition key may be: three strings of 2 KiB in the longest form.
const maxPartitionKey = 64 << 10

// ItemKey is the key of an item, for Explain. partitionKey is a JSON array of one value for each path of the partition
// key, {} for one that the item does not have. MongoDB's documents have store.Identity.
func ItemKey(c *catalog.Container, id, partitionKey string) (store.Key, error) {
	key := store.Key{ID: id, Partition: []doc.Value{}}
	bad := func(cause error) (store.Key, error) {
		return store.Key{}, fault.Wrap(fault.Invalid, cause,
			"The partition key is not valid. It is a JSON array of as many values as the partition key has paths, "+
				"%d: strings, numbers, booleans, nulls, or {} for no value.",
			len(c.State().Partition.Paths))
	}
	if len(partitionKey) > maxPartitionKey {
		return bad(nil)
	}
	array, err := doc.ValueFromJSON([]byte(partitionKey))
	if err != nil || !doc.IsArray(array) {
		return bad(err)
	}
	for v := range doc.Elements(array) {
		switch d, object := doc.AsDoc(v); {
		case object && doc.IsEmpty(d):
			v = doc.Value{}
		case object || doc.IsArray(v):
			return bad(nil)
		}
		key.Partition = append(key.Partition, v)
	}
	if len(key.Partition) != len(c.State().Partition.Paths) {
		return bad(nil)
	}
	return key, nil
}
