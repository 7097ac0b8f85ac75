package catalog

import (
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/keys"
)

// An Identity is how the documents of a container are told apart, and what follows from it. It is the one place where
// the store learns what the APIs do differently: Cosmos DB has an id that is unique in a partition, MongoDB has an _id
// that is unique in the container. It is a concrete type, because its methods append to memory on the stack, which the
// compiler would move to the heap for an interface.
type Identity struct {
	partitioned bool // by id in a partition, else by _id
	version     keys.PartitionVersion
	multi       bool
	paths       []doc.Path // of the partition key
}

// MaxIDBytes is the limit of Cosmos DB for the id of an item.
// https://learn.microsoft.com/azure/cosmos-db/concepts-limits
const MaxIDBytes = 1023

// MaxPartitionString is the limit of Cosmos DB for one string of a partition key, in bytes.
// https://learn.microsoft.com/azure/cosmos-db/concepts-limits
const MaxPartitionString = 2048

func newIdentity(d *Definition, paths []doc.Path) Identity {
	return Identity{
		partitioned: d.Dialect == NoSQL,
		version:     keys.PartitionVersion(d.Partition.Version),
		multi:       d.Partition.Multi,
		paths:       paths,
	}
}

// Partitioned reports whether the container has partitions, and so postings that list the documents of each.
func (i *Identity) Partitioned() bool { return i.partitioned }

// Logged reports whether changes of the container go into the log that change streams read: an entry there names its
// document by an _id alone.
func (i *Identity) Logged() bool { return !i.partitioned }

// Member is the name of the member that tells documents apart.
func (i *Identity) Member() string {
	if i.partitioned {
		return "id"
	}
	return "_id"
}

// Value is a document's member of that name. It shares the memory of body.
func (i *Identity) Value(body doc.Doc) doc.Value { return doc.Lookup(body, i.Member()) }

// AppendID appends the form that Value has in lookup keys. ok is false for a document without a valid one: an id is a
// string of 1 to MaxIDBytes bytes, and an _id is any value.
func (i *Identity) AppendID(dst []byte, body doc.Doc) (form []byte, ok bool) {
	v := i.Value(body)
	if !i.partitioned {
		return keys.AppendID(dst, v), v.Type != 0
	}
	id, ok := doc.AsString(v)
	return append(dst, id...), ok && validID(id)
}

// HasID reports whether the document's identifying member has the form id in lookup keys. valid is false as in
// AppendID. Unlike that, it compares an id in place: each write calls it, and memory for the form would be on the heap.
func (i *Identity) HasID(body doc.Doc, id string) (has, valid bool) {
	v := i.Value(body)
	if !i.partitioned {
		var room [256]byte
		return string(keys.AppendID(room[:0], v)) == id, v.Type != 0
	}
	own, ok := doc.AsString(v)
	return own == id, ok && validID(own)
}

func validID(id string) bool { return id != "" && len(id) <= MaxIDBytes }

// AppendPartition appends the key form of a partition, or of a prefix of a hierarchical one. Where there are no
// partitions it appends nothing.
func (i *Identity) AppendPartition(dst []byte, values []doc.Value) []byte {
	if !i.partitioned {
		return dst
	}
	return keys.AppendPartition(dst, i.version, i.multi, values)
}

// AppendPartitionOf appends the key form of the partition that a document is in. Objects and arrays in the place of a
// partition key count as absent, as in Cosmos DB.
func (i *Identity) AppendPartitionOf(dst []byte, body doc.Doc) []byte {
	if !i.partitioned {
		return dst
	}
	var room [3]doc.Value // the most paths that a hierarchical key has
	values := room[:0]
	for _, path := range i.paths {
		v := path.Lookup(body)
		if !keys.Partitionable(v) {
			v = doc.Value{}
		}
		values = append(values, v)
	}
	return keys.AppendPartition(dst, i.version, i.multi, values)
}

// TTL is a document's own ttl. Cosmos DB refuses a value that is no life span, which is an *expiry.BadTTL here; MongoDB
// stores it, and it means nothing.
func (i *Identity) TTL(body doc.Doc) (expiry.TTL, error) {
	v := doc.Lookup(body, "ttl")
	if i.partitioned {
		return expiry.ParseItem(v)
	}
	return expiry.CoerceItem(v), nil
}
