package rest

import (
	"math"
	"slices"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/fault"
)

var (
	errNoIndexing = fault.New(fault.Invalid,
		"Indexing mode value cannot be 'none' when 'defaultTtl' is specified in the collection. "+
			"Use the mode consistent and exclude the path /* to expire items without indexing them.")
	errTTLProperty = fault.New(fault.Invalid,
		"The property 'ttlPropertyPath' cannot be specified without 'defaultTtl'. Set defaultTtl as well.")
	errAnalytical = fault.New(fault.Invalid, "The input analyticalStorageTtl is invalid. Leave it out, set it to -1, "+
		"or to a number of seconds that is not below a positive defaultTtl.")
)

// define parses a container's definition: it checks every policy, fills in defaults and drops unknown members.
func define(d doc.Doc) (catalog.Definition, error) {
	def := catalog.Definition{}
	var err error
	if def.Name, err = nameOf(d); err != nil {
		return def, err
	}
	for _, part := range []func(*catalog.Definition, doc.Doc) error{
		defineIndexing, definePartition, defineLifetime, defineUnique, definePolicies,
	} {
		if err := part(&def, d); err != nil {
			return def, err
		}
	}
	return def, nil
}

// echo keeps a checked member, to be returned with the definition.
func echo(def *catalog.Definition, name string, v doc.Value) { def.Echo = doc.With(def.Echo, name, v) }

func defineIndexing(def *catalog.Definition, d doc.Doc) error {
	v := doc.Lookup(d, "indexingPolicy")
	if !present(d, "indexingPolicy") {
		v = objectOf(nil)
	}
	v, err := indexingPolicy("indexingPolicy", v)
	if err != nil {
		return err
	}
	policy, _ := doc.AsDoc(v)
	def.Indexing = indexingOf(policy)
	echo(def, "indexingPolicy", v)
	return nil
}

var partitionShape = object(
	property{"paths", list(1, maxPartitionParts, memberPath), true},
	property{"kind", oneOf("Hash", "MultiHash", "Range"), false},
	property{"version", partitionVersion, false},
	property{"systemKey", boolean, false},
)

// partitionVersion accepts 1 or 2, and V1 or V2 as the Java SDK writes them.
func partitionVersion(at string, v doc.Value) (doc.Value, error) {
	switch name, _ := doc.AsString(v); name {
	case "V1":
		return doc.Int(1), nil
	case "V2":
		return doc.Int(2), nil
	}
	return whole(1, 2)(at, v)
}

// definePartition parses the partition key. Two or three paths make a hierarchical key even without a kind, which
// azcosmos omits. A definition without any partition key makes a fixed container, as old clients do.
func definePartition(def *catalog.Definition, d doc.Doc) error {
	v := doc.Lookup(d, "partitionKey")
	if !present(d, "partitionKey") {
		v = systemKey()
	}
	v, err := partitionShape("partitionKey", v)
	if err != nil {
		return err
	}
	key, _ := doc.AsDoc(v)
	if def.Partition, err = partitionKey(key); err != nil {
		return err
	}
	echo(def, "partitionKey", echoKey(def.Partition, key))
	return nil
}

// echoKey is a partition key as answers show it: always with a kind, with a version if one was sent or the key is
// hierarchical, and with systemKey only if it is true.
func echoKey(p catalog.PartitionKey, key doc.Doc) doc.Value {
	kind := textOf(key, "kind")
	if kind == "" {
		kind = kindOf(p)
	}
	kept := doc.With(nil, "paths", doc.Lookup(key, "paths"))
	kept = doc.With(kept, "kind", doc.String(kind))
	if present(key, "version") || p.Multi {
		kept = doc.With(kept, "version", doc.Int(int64(p.Version)))
	}
	if system, _ := doc.AsBool(doc.Lookup(key, "systemKey")); system {
		kept = doc.With(kept, "systemKey", doc.Bool(true))
	}
	return doc.Object(kept)
}

func systemKey() doc.Value {
	key := doc.With(nil, "paths", arrayOf(doc.String(systemKeyPath)))
	return doc.Object(doc.With(key, "systemKey", doc.Bool(true)))
}

func kindOf(key catalog.PartitionKey) string {
	if key.Multi {
		return "MultiHash"
	}
	return "Hash"
}

func partitionKey(key doc.Doc) (catalog.PartitionKey, error) {
	p := catalog.PartitionKey{Paths: texts(doc.Lookup(key, "paths")), Version: 1}
	kind := textOf(key, "kind")
	p.Multi = kind == "MultiHash" || kind == "" && len(p.Paths) > 1
	version, versioned := doc.AsInt(doc.Lookup(key, "version"))
	if versioned {
		p.Version = int(version)
	}
	for i, path := range p.Paths {
		if slices.Contains(p.Paths[:i], path) {
			return p, invalidProperty("partitionKey.paths", "different paths")
		}
	}
	switch {
	case len(p.Paths) > 1 && !p.Multi:
		return p, invalidProperty("partitionKey.kind", "MultiHash when there is more than one path")
	case p.Multi && versioned && version != 2:
		return p, invalidProperty("partitionKey.version", "2 for the kind MultiHash")
	case p.Multi:
		p.Version = 2
	}
	return p, nil
}

// defineLifetime parses defaultTtl and ttlPropertyPath, which depends on it.
func defineLifetime(def *catalog.Definition, d doc.Doc) (err error) {
	if def.TTL, err = expiry.ParseDefault(doc.Lookup(d, "defaultTtl")); err != nil {
		return err
	}
	if def.TTL != expiry.Unset && def.Indexing.None {
		return errNoIndexing
	}
	if present(d, "ttlPropertyPath") {
		v, err := memberPath("ttlPropertyPath", doc.Lookup(d, "ttlPropertyPath"))
		if err != nil {
			return err
		}
		if def.TTL == expiry.Unset {
			return errTTLProperty
		}
		def.TTLProperty, _ = doc.AsString(v)
	}
	return defineAnalytical(def, d)
}

// defineAnalytical checks analyticalStorageTtl (L-11), which is returned but has no effect.
func defineAnalytical(def *catalog.Definition, d doc.Doc) error {
	if !present(d, "analyticalStorageTtl") {
		return nil
	}
	n, ok := doc.AsInt(doc.Lookup(d, "analyticalStorageTtl"))
	switch {
	case !ok, n < -1, n > math.MaxInt32:
		return errAnalytical
	case n == 0:
		return nil
	case n > 0 && (def.TTL <= expiry.Unset || n < int64(def.TTL)):
		return errAnalytical
	}
	echo(def, "analyticalStorageTtl", doc.Int(n))
	return nil
}

func defineUnique(def *catalog.Definition, d doc.Doc) error {
	if !present(d, "uniqueKeyPolicy") {
		return nil
	}
	v, err := uniqueShape("uniqueKeyPolicy", doc.Lookup(d, "uniqueKeyPolicy"))
	if err != nil {
		return err
	}
	policy, _ := doc.AsDoc(v)
	def.Unique = uniqueKeys(policy)
	echo(def, "uniqueKeyPolicy", v)
	return nil
}

// definePolicies checks the policies that do not affect how documents are stored.
func definePolicies(def *catalog.Definition, d doc.Doc) error {
	for _, p := range []struct {
		name     string
		shape    shape
		fallback doc.Value
	}{
		{"conflictResolutionPolicy", conflictPolicy, defaultConflict},
		{"geospatialConfig", geospatialShape, defaultGeospatial},
		{"computedProperties", computedProperties, doc.Value{}},
		{"vectorEmbeddingPolicy", vectorShape, doc.Value{}},
		{"fullTextPolicy", fullTextShape, doc.Value{}},
		{"changeFeedPolicy", feedShape, doc.Value{}},
		{"clientEncryptionPolicy", encryptionShape, doc.Value{}},
	} {
		v := p.fallback
		if present(d, p.name) {
			var err error
			if v, err = p.shape(p.name, doc.Lookup(d, p.name)); err != nil {
				return err
			}
		}
		if !doc.IsUndefined(v) {
			echo(def, p.name, v)
		}
	}
	return nil
}

var (
	errOtherPartition = fault.New(fault.Invalid, "The partition key of a container cannot be changed. Send the "+
		"definition that was read, or create another container.")
	errOtherConflict = fault.New(fault.Invalid, "The conflict resolution policy of a container cannot be changed. "+
		"Send the one that was read, or leave it out.")
	errOtherName = fault.New(fault.Invalid,
		"The id in the request's path and the one in its body are not the same. A container cannot be renamed.")
)

// redefine checks a new definition against the current one: whatever is fixed at creation must not change.
func redefine(st *catalog.State, d doc.Doc) (catalog.Definition, error) {
	if isMongo(st) {
		return redefineMongo(st, d)
	}
	def, err := define(d)
	if err != nil {
		return def, err
	}
	switch {
	case def.Name != st.Name:
		return def, errOtherName
	case !samePartition(def.Partition, st.Partition):
		return def, errOtherPartition
	case !slices.EqualFunc(def.Unique, st.Unique, slices.Equal[[]string]):
		return def, errUniqueFixed
	}
	have := doc.Lookup(st.Echo, "conflictResolutionPolicy")
	if present(d, "conflictResolutionPolicy") && !doc.Equal(doc.Lookup(def.Echo, "conflictResolutionPolicy"), have) {
		return def, errOtherConflict
	}
	echo(&def, "conflictResolutionPolicy", have)
	echo(&def, "partitionKey", doc.Lookup(st.Echo, "partitionKey"))
	return def, nil
}

func samePartition(a, b catalog.PartitionKey) bool {
	return slices.Equal(a.Paths, b.Paths) && a.Version == b.Version && a.Multi == b.Multi
}
