package rest

import (
	"bytes"
	"slices"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/store"
)

// A container that was made through the MongoDB door is read here as one with the
// system's partition key, in one partition, without an index. It is written through its own door only,
// whose change streams tell of it, except for defaultTtl, which both have.

var (
	errMongoWrite = fault.New(fault.Forbidden, "The container was made through the MongoDB API, and its documents are written there only. "+
		"Through the NoSQL API they can be read and queried.")
	errMongoDrop = fault.New(fault.Forbidden, "The container was made through the MongoDB API and is dropped there only, "+
		"so that change streams on it are told.")
	errMongoDatabase  = fault.New(fault.Forbidden, "The database has collections that were made through the MongoDB API. Drop them there first.")
	errMongoView      = fault.New(fault.Unsupported, "The container is a view that was made through the MongoDB API. Read it there, or query the collection that it is about.")
	errMongoPartition = fault.New(fault.PartitionMismatch, "The container was made through the MongoDB API, and its items have no partition key. "+
		"Leave the header x-ms-documentdb-partitionkey out, or send [{}].")
	errMongoPolicy = fault.New(fault.Invalid, "The container was made through the MongoDB API. Of its definition nothing but defaultTtl can be changed here: "+
		"send all else as it was read, or leave it out.")
	errMongoIndexName = fault.New(fault.Invalid, "The container was made through the MongoDB API and has an index with the name '%s', which is that of defaultTtl there. "+
		"Drop that index first.", lifetimeIndex)
)

// lifetimeIndex is the name of the index by which MongoDB clients see defaultTtl.
const lifetimeIndex = "_ts_1"

func isMongo(st *catalog.State) bool { return st.Dialect == catalog.Mongo }

func isView(st *catalog.State) bool { return isMongo(st) && present(st.Echo, "viewOn") }

// native is a handler that writes items, for the containers of this door alone.
func native(h handler) handler {
	return func(e *exchange) (int, error) {
		if isMongo(e.container.State()) {
			return 0, errMongoWrite
		}
		return h(e)
	}
}

// mongoEcho is what all these containers show of their definition: the policy of a container
// that indexes nothing and yet may have a defaultTtl.
var mongoEcho = func() doc.Doc {
	policy := doc.With(nil, "excludedPaths", arrayOf(pathObject(everything)))
	indexing, err := indexingPolicy("", doc.Object(policy))
	if err != nil {
		panic(err)
	}
	key, _ := doc.AsDoc(systemKey())
	d := doc.With(nil, "indexingPolicy", indexing)
	d = doc.With(d, "partitionKey", echoKey(catalog.PartitionKey{Paths: []string{systemKeyPath}, Version: 2}, doc.With(key, "version", doc.Int(2))))
	d = doc.With(d, "conflictResolutionPolicy", defaultConflict)
	return doc.With(d, "geospatialConfig", defaultGeospatial)
}()

// echoOf is the definition of a container as it is shown, without name and lifetime.
func echoOf(st *catalog.State) doc.Doc {
	if isMongo(st) {
		return mongoEcho
	}
	return st.Echo
}

// redefineMongo checks a new definition of such a container: its lifetime may be another
// one. Without a lifetime, MongoDB clients see no index for it.
func redefineMongo(st *catalog.State, d doc.Doc) (catalog.Definition, error) {
	asked, err := define(d)
	if err != nil {
		return asked, err
	}
	def := st.Definition
	changed := asked.TTL != st.TTL
	switch {
	case asked.Name != st.Name:
		return def, errOtherName
	case !slices.Equal(asked.Partition.Paths, st.Partition.Paths):
		return def, errOtherPartition
	case asked.TTLProperty != "", !keeps(asked.Echo, d):
		return def, errMongoPolicy
	case changed && isView(st):
		return def, errMongoView
	case changed && st.TTL == expiry.Unset && slices.ContainsFunc(st.Named, func(x catalog.NamedIndex) bool { return x.Name == lifetimeIndex }):
		return def, errMongoIndexName
	}
	if def.TTL = asked.TTL; def.TTL == expiry.Unset {
		def.TTLIndex = nil
	}
	return def, nil
}

// keeps reports whether a definition, of which d is the body of the request, says nothing
// else than what is shown.
func keeps(echo, d doc.Doc) bool {
	for name, v := range doc.Members(echo) {
		if name != "partitionKey" && present(d, name) && !agrees(v, doc.Lookup(mongoEcho, name)) {
			return false
		}
	}
	return true
}

// agrees reports whether two policies are the same, but for empty members that one has more.
func agrees(v, want doc.Value) bool {
	d, ok := doc.AsDoc(v)
	switch {
	case doc.IsUndefined(want):
		return isBare(v)
	case !ok:
		return doc.Equal(v, want)
	}
	shown, _ := doc.AsDoc(want)
	for name, member := range doc.Members(d) {
		if !agrees(member, doc.Lookup(shown, name)) {
			return false
		}
	}
	return true
}

// isBare reports whether a value is an empty array, or an object of nothing but such.
func isBare(v doc.Value) bool {
	if d, ok := doc.AsDoc(v); ok {
		for _, member := range doc.Members(d) {
			if !isBare(member) {
				return false
			}
		}
		return true
	}
	for range doc.Elements(v) {
		return false
	}
	return doc.IsArray(v)
}

// mongoPartition is the one partition that there is, whichever way a request names it.
func mongoPartition(parts []doc.Value) ([]doc.Value, error) {
	if len(parts) > 1 || len(parts) == 1 && !doc.IsUndefined(parts[0]) {
		return nil, errMongoPartition
	}
	return []doc.Value{{}}, nil
}

// holdsMongo reports whether a span holds the one partition: it is left out then, so that documents
// come in order of creation.
func holdsMongo(st *catalog.State, span *access.Span) bool {
	epk := store.EffectivePartitionKey(st, []doc.Value{{}})
	return bytes.Compare(span.Low, epk) <= 0 && (len(span.High) == 0 || bytes.Compare(epk, span.High) < 0)
}
