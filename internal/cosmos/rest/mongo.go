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

// A container of the MongoDB API is visible here with the system partition key, in one partition, without an index.
// Its documents are written through the MongoDB API only, because only that API records them for change streams. The
// exception is defaultTtl, which both APIs can change.

var (
	errMongoWrite = fault.New(fault.Forbidden,
		"The container was created through the MongoDB API, and its documents can only be written there. "+
			"Through the NoSQL API they can be read and queried.")
	errMongoDrop = fault.New(fault.Forbidden,
		"The container was created through the MongoDB API and can only be dropped there, "+
			"so that change streams report it.")
	errMongoDatabase = fault.New(fault.Forbidden,
		"The database has collections that were created through the MongoDB API. Drop them there first.")
	errMongoView = fault.New(fault.Unsupported, "The container is a view that was created through the MongoDB "+
		"API. Read it there, or query the collection behind it.")
	errMongoPartition = fault.New(fault.PartitionMismatch,
		"The container was created through the MongoDB API, and its items have no partition key. "+
			"Leave the header x-ms-documentdb-partitionkey out, or send [{}].")
	errMongoPolicy = fault.New(fault.Invalid,
		"The container was created through the MongoDB API. Only its defaultTtl can be changed here: "+
			"send the rest of the definition as it was read, or leave it out.")
	errMongoIndexName = fault.New(fault.Invalid, "The container was created through the MongoDB API and has an index "+
		"named '%s', the name that defaultTtl needs there. "+
		"Drop that index first.", lifetimeIndex)
)

// lifetimeIndex is the name of the index that MongoDB clients see for defaultTtl.
const lifetimeIndex = "_ts_1"

func isMongo(st *catalog.State) bool { return st.Dialect == catalog.Mongo }

func isView(st *catalog.State) bool { return isMongo(st) && present(st.Echo, "viewOn") }

// nosqlOnly wraps a handler that writes items: it rejects containers of the MongoDB API.
func nosqlOnly(h handler) handler {
	return func(e *exchange) (int, error) {
		if isMongo(e.container.State()) {
			return 0, errMongoWrite
		}
		return h(e)
	}
}

// mongoEcho is the definition that is shown for every container of the MongoDB API: an indexing policy that indexes
// nothing and still allows a defaultTtl.
var mongoEcho = func() doc.Doc {
	policy := doc.With(nil, "excludedPaths", arrayOf(pathObject(everything)))
	indexing, err := indexingPolicy("", doc.Object(policy))
	if err != nil {
		panic(err)
	}
	key, _ := doc.AsDoc(systemKey())
	d := doc.With(nil, "indexingPolicy", indexing)
	d = doc.With(d, "partitionKey", echoKey(catalog.PartitionKey{Paths: []string{systemKeyPath}, Version: 2},
		doc.With(key, "version", doc.Int(2))))
	d = doc.With(d, "conflictResolutionPolicy", defaultConflict)
	return doc.With(d, "geospatialConfig", defaultGeospatial)
}()

// echoOf is the definition of a container as it is shown, without name and TTL.
func echoOf(st *catalog.State) doc.Doc {
	if isMongo(st) {
		return mongoEcho
	}
	return st.Echo
}

// redefineMongo checks a new definition of a container of the MongoDB API: only its TTL may change. Without a TTL,
// MongoDB clients see no TTL index.
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
	case asked.TTLProperty != "", !changesNothing(asked.Echo, d):
		return def, errMongoPolicy
	case changed && isView(st):
		return def, errMongoView
	case changed && st.TTL == expiry.Unset && slices.ContainsFunc(st.Named,
		func(x catalog.NamedIndex) bool { return x.Name == lifetimeIndex }):
		return def, errMongoIndexName
	}
	if def.TTL = asked.TTL; def.TTL == expiry.Unset {
		def.TTLIndex = nil
	}
	return def, nil
}

// changesNothing reports whether a definition changes nothing of what is shown. d is the body of the request and echo
// the definition parsed from it.
func changesNothing(echo, d doc.Doc) bool {
	for name, v := range doc.Members(echo) {
		if name != "partitionKey" && present(d, name) && !samePolicy(v, doc.Lookup(mongoEcho, name)) {
			return false
		}
	}
	return true
}

// samePolicy reports whether two policies are equal, except for empty members that only one of them has.
func samePolicy(v, want doc.Value) bool {
	d, ok := doc.AsDoc(v)
	switch {
	case doc.IsUndefined(want):
		return isEmptyPolicy(v)
	case !ok:
		return doc.Equal(v, want)
	}
	shown, _ := doc.AsDoc(want)
	for name, member := range doc.Members(d) {
		if !samePolicy(member, doc.Lookup(shown, name)) {
			return false
		}
	}
	return true
}

// isEmptyPolicy reports whether a value is an empty array, or an object whose members are all bare.
func isEmptyPolicy(v doc.Value) bool {
	if d, ok := doc.AsDoc(v); ok {
		for _, member := range doc.Members(d) {
			if !isEmptyPolicy(member) {
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

// mongoPartition is the only partition of a container of the MongoDB API. It fails if the request names another one.
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
