package rest

import (
	"strings"
	"testing"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/fault"
)

func parse(t testing.TB, text string) doc.Doc {
	t.Helper()
	d, err := doc.FromJSON(nil, []byte(text), doc.ParseOptions{})
	must(t, err)
	return d
}

const pk = `"partitionKey":{"paths":["/pk"],"kind":"Hash"}`

func TestDefineEchoes(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"defaults", `{"id":"c",` + pk + `}`,
			`{"indexingPolicy":{"indexingMode":"consistent","automatic":true,"includedPaths":[{"path":"/*"}],"excludedPaths":[{"path":"/\"_etag\"/?"}]},` +
				`"partitionKey":{"paths":["/pk"],"kind":"Hash"},` +
				`"conflictResolutionPolicy":{"mode":"LastWriterWins","conflictResolutionPath":"/_ts","conflictResolutionProcedure":""},` +
				`"geospatialConfig":{"type":"Geography"}}`},
		{"no partition key", `{"id":"c"}`,
			`"partitionKey":{"paths":["/_partitionKey"],"kind":"Hash","systemKey":true}`},
		{"kind is told", `{"id":"c","partitionKey":{"paths":["/pk"]}}`,
			`"partitionKey":{"paths":["/pk"],"kind":"Hash"}`},
		{"version is kept", `{"id":"c","partitionKey":{"paths":["/pk"],"kind":"Hash","version":2}}`,
			`"partitionKey":{"paths":["/pk"],"kind":"Hash","version":2}`},
		{"hierarchical without kind", `{"id":"c","partitionKey":{"paths":["/a","/b","/c"]}}`,
			`"partitionKey":{"paths":["/a","/b","/c"],"kind":"MultiHash","version":2}`},
		{"unknown members are left out", `{"id":"c",` + pk + `,"nonsense":1,"indexingPolicy":{"nonsense":2}}`,
			`{"indexingPolicy":{"indexingMode":"consistent","automatic":true,`},
		{"lazy is consistent", `{"id":"c",` + pk + `,"indexingPolicy":{"indexingMode":"Lazy"}}`,
			`"indexingMode":"consistent"`},
		{"no indexing", `{"id":"c",` + pk + `,"indexingPolicy":{"indexingMode":"none","automatic":false}}`,
			`"indexingPolicy":{"indexingMode":"none","automatic":false,"includedPaths":[],"excludedPaths":[]}`},
		{"_etag is left out",
			`{"id":"c",` + pk +
				`,"indexingPolicy":{"includedPaths":[{"path":"/a/?"}],"excludedPaths":[{"path":"/*"}]}}`,
			`"includedPaths":[{"path":"/a/?"}],"excludedPaths":[{"path":"/*"},{"path":"/\"_etag\"/?"}]`},
		{"_etag once",
			`{"id":"c",` + pk +
				`,"indexingPolicy":{"includedPaths":[{"path":"/"}],"excludedPaths":[{"path":"/\"_etag\"/?"}]}}`,
			`"includedPaths":[{"path":"/*"}],"excludedPaths":[{"path":"/\"_etag\"/?"}]`},
		{"root is added", `{"id":"c",` + pk + `,"indexingPolicy":{"excludedPaths":[{"path":"/a/*"}]}}`,
			`"includedPaths":[{"path":"/*"}],"excludedPaths":[{"path":"/a/*"},{"path":"/\"_etag\"/?"}]`},
		// Azure/azure-cosmos-dotnet-v3: CosmosContainerTests.cs, ContainerMigrationTest and ContainerContractTest.
		{"old index kinds",
			`{"id":"c",` + pk +
				`,"indexingPolicy":{"includedPaths":[{"path":"/*","indexes":[{"kind":"Range","dataType":"Number","precision":-1}]}]}}`,
			`"includedPaths":[{"path":"/*"}],`},
		{"one spatial type stands for all",
			`{"id":"c",` + pk +
				`,"indexingPolicy":{"spatialIndexes":[{"path":"/a/*","types":["linestring"],"boundingBox":{"xmin":0,"ymin":0,"xmax":1,"ymax":1}}]}}`,
			`"spatialIndexes":[{"path":"/a/*","types":["Point","LineString","Polygon","MultiPolygon"],"boundingBox":{"xmin":0,"ymin":0,"xmax":1,"ymax":1}}]`},
		{"composite and special indexes",
			`{"id":"c",` + pk + `,"indexingPolicy":{"compositeIndexes":[[{"path":"/a","order":"ascending"},` +
				`{"path":"/b","order":"descending"}]],` +
				`"spatialIndexes":[{"path":"/p/?","types":["Point"]}],"vectorIndexes":[{"path":"/v","type":"diskANN"}],"fullTextIndexes":[{"path":"/t"}]}}`,
			`"compositeIndexes":[[{"path":"/a","order":"ascending"},{"path":"/b","order":"descending"}]],"spatialIndexes":[{"path":"/p/?","types":["Point","LineString","Polygon","MultiPolygon"]}],"vectorIndexes":[{"path":"/v","type":"diskANN"}],"fullTextIndexes":[{"path":"/t"}]`},
		{"unique keys", `{"id":"c",` + pk + `,"uniqueKeyPolicy":{"uniqueKeys":[{"paths":["/a","/b/c"]}]}}`,
			`"uniqueKeyPolicy":{"uniqueKeys":[{"paths":["/a","/b/c"]}]}`},
		{"a version by its name", `{"id":"c","partitionKey":{"paths":["/a","/b"],"kind":"MultiHash","version":"V2"}}`,
			`"partitionKey":{"paths":["/a","/b"],"kind":"MultiHash","version":2}`},
		{"no unique keys", `{"id":"c",` + pk + `,"uniqueKeyPolicy":{"uniqueKeys":[]}}`,
			`"uniqueKeyPolicy":{"uniqueKeys":[]}`},
		{"a policy without unique keys", `{"id":"c",` + pk + `,"uniqueKeyPolicy":{}}`, `"uniqueKeyPolicy":{}`},
		{"custom conflicts", `{"id":"c",` + pk + `,"conflictResolutionPolicy":{"mode":"custom"}}`,
			`"conflictResolutionPolicy":{"mode":"Custom","conflictResolutionPath":"","conflictResolutionProcedure":""}`},
		{"policies",
			`{"id":"c",` + pk +
				`,"vectorEmbeddingPolicy":{"vectorEmbeddings":[{"path":"/v","dataType":"float32","dimensions":3,"distanceFunction":"cosine"}]},` +
				`"fullTextPolicy":{"defaultLanguage":"en-US","fullTextPaths":[{"path":"/t","language":"en-US"}]},"changeFeedPolicy":{"retentionDuration":5},` +
				`"computedProperties":[{"name":"l","query":"SELECT VALUE LOWER(c.n) FROM c"}]}`,
			`"computedProperties":[{"name":"l","query":"SELECT VALUE LOWER(c.n) FROM c"}],` +
				`"vectorEmbeddingPolicy":{"vectorEmbeddings":[{"path":"/v","dataType":"float32","distanceFunction":"cosine","dimensions":3}]},` +
				`"fullTextPolicy":{"defaultLanguage":"en-US","fullTextPaths":[{"path":"/t","language":"en-US"}]},"changeFeedPolicy":{"retentionDuration":5}`},
		{"analytical", `{"id":"c",` + pk + `,"defaultTtl":10,"analyticalStorageTtl":10}`, `"analyticalStorageTtl":10`},
		{"analytical for ever", `{"id":"c",` + pk + `,"analyticalStorageTtl":-1}`, `"analyticalStorageTtl":-1`},
	} {
		t.Run(c.name, func(t *testing.T) {
			def, err := define(parse(t, c.in))
			must(t, err)
			got := string(doc.AppendJSON(nil, def.Echo))
			if !strings.Contains(got, c.want) {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			if strings.Contains(got, "nonsense") || strings.Contains(got, "defaultTtl") {
				t.Errorf("too much is kept: %s", got)
			}
			again, err := define(parse(t, `{"id":"c",`+strings.TrimPrefix(got, "{")))
			if err == nil && string(doc.AppendJSON(nil, again.Echo)) != got {
				t.Errorf("the echo changes when it is sent back: %s", doc.AppendJSON(nil, again.Echo))
			}
		})
	}
}

func TestDefineRefuses(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"no id", `{` + pk + `}`, "required properties - 'id; '"},
		{"id that is a number", `{"id":1,` + pk + `}`, "The input name '1' is invalid. Ensure to provide a unique " +
			"non-empty string less than '255' characters. The id must be a string"},
		{"id with a slash", `{"id":"a/b",` + pk + `}`, "The input name 'a/b' is invalid"},
		{"id with a space at its end", `{"id":"a ",` + pk + `}`, "invalid"},
		{"id of 256 characters", `{"id":"` + strings.Repeat("é", 256) + `",` + pk + `}`, "invalid"},
		{"no paths", `{"id":"c","partitionKey":{"paths":[]}}`, "partitionKey.paths"},
		{"four paths", `{"id":"c","partitionKey":{"paths":["/a","/b","/c","/d"]}}`, "partitionKey.paths"},
		{"equal paths", `{"id":"c","partitionKey":{"paths":["/a","/a"]}}`, "different paths"},
		{"path without a slash", `{"id":"c","partitionKey":{"paths":["a"]}}`, "partitionKey.paths[0]"},
		{"path into arrays", `{"id":"c","partitionKey":{"paths":["/a/[]"]}}`, "partitionKey.paths[0]"},
		{"two paths as hash", `{"id":"c","partitionKey":{"paths":["/a","/b"],"kind":"Hash"}}`, "MultiHash"},
		{"old version of hierarchical",
			`{"id":"c","partitionKey":{"paths":["/a","/b"],"kind":"MultiHash","version":1}}`, "partitionKey.version"},
		{"version 3", `{"id":"c","partitionKey":{"paths":["/a"],"version":3}}`, "partitionKey.version"},
		{"unknown kind", `{"id":"c","partitionKey":{"paths":["/a"],"kind":"Magic"}}`, "partitionKey.kind"},
		{"partition key that is a string", `{"id":"c","partitionKey":"/a"}`, "'partitionKey' must be an object"},
		{"default of 0", `{"id":"c",` + pk + `,"defaultTtl":0}`, "The input defaultTtl '0' is invalid."},
		{"default as text", `{"id":"c",` + pk + `,"defaultTtl":"5"}`, "defaultTtl"},
		{"default without index",
			`{"id":"c",` + pk + `,"defaultTtl":-1,"indexingPolicy":{"indexingMode":"none","automatic":false}}`,
			"Indexing mode value cannot be 'none' when 'defaultTtl' is specified in the collection"},
		{"property without default", `{"id":"c",` + pk + `,"ttlPropertyPath":"/a"}`, "ttlPropertyPath"},
		{"property that is no path", `{"id":"c",` + pk + `,"defaultTtl":1,"ttlPropertyPath":"/a/*"}`,
			"ttlPropertyPath"},
		{"analytical below default", `{"id":"c",` + pk + `,"defaultTtl":10,"analyticalStorageTtl":9}`,
			"analyticalStorageTtl"},
		{"analytical without default", `{"id":"c",` + pk + `,"analyticalStorageTtl":9}`, "analyticalStorageTtl"},
		{"analytical fraction", `{"id":"c",` + pk + `,"analyticalStorageTtl":1.5}`, "analyticalStorageTtl"},
		{"root in no set", `{"id":"c",` + pk + `,"indexingPolicy":{"includedPaths":[{"path":"/a/?"}]}}`,
			"special mandatory indexing path"},
		{"index path without an end", `{"id":"c",` + pk + `,"indexingPolicy":{"includedPaths":[{"path":"/a"}]}}`,
			"includedPaths[0].path"},
		{"none and automatic", `{"id":"c",` + pk + `,"indexingPolicy":{"indexingMode":"none","automatic":true}}`,
			"automatic"},
		{"composite of one", `{"id":"c",` + pk + `,"indexingPolicy":{"compositeIndexes":[[{"path":"/a"}]]}}`,
			"compositeIndexes[0]"},
		{"composite order", `{"id":"c",` + pk + `,"indexingPolicy":{"compositeIndexes":[[{"path":"/a","order":"up"},` +
			`{"path":"/b"}]]}}`, "order"},
		{"an unknown kind of old index",
			`{"id":"c",` + pk + `,"indexingPolicy":{"includedPaths":[{"path":"/*","indexes":[{"kind":"Magic"}]}]}}`,
			"includedPaths[0].indexes[0].kind"},
		{"spatial index without types", `{"id":"c",` + pk + `,"indexingPolicy":{"spatialIndexes":[{"path":"/a/*"}]}}`,
			"The spatial data types array cannot be empty. Assign at least one spatial type for the 'types' array for " +
				"the path '/a/*'"},
		{"spatial index with no types",
			`{"id":"c",` + pk + `,"indexingPolicy":{"spatialIndexes":[{"path":"/a/*","types":[]}]}}`,
			"The spatial data types array cannot be empty."},
		{"eleven unique keys",
			`{"id":"c",` + pk + `,"uniqueKeyPolicy":{"uniqueKeys":[` + strings.Repeat(`{"paths":["/a"]},`, 10) +
				`{"paths":["/a"]}]}}`, "uniqueKeys"},
		{"unique key without paths", `{"id":"c",` + pk + `,"uniqueKeyPolicy":{"uniqueKeys":[{"paths":[]}]}}`,
			"uniqueKeys[0].paths"},
		{"computed id", `{"id":"c",` + pk + `,"computedProperties":[{"name":"id","query":"SELECT VALUE 1 FROM c"}]}`,
			"computed property"},
		{"computed twice", `{"id":"c",` + pk + `,"computedProperties":[{"name":"a","query":"SELECT VALUE 1 FROM c"},` +
			`{"name":"a","query":"SELECT VALUE 1 FROM c"}]}`, "computed property"},
		{"computed star", `{"id":"c",` + pk + `,"computedProperties":[{"name":"a","query":"SELECT * FROM c"}]}`,
			"SELECT VALUE"},
		{"vector of no size",
			`{"id":"c",` + pk +
				`,"vectorEmbeddingPolicy":{"vectorEmbeddings":[{"path":"/v","dataType":"float32","dimensions":0,"distanceFunction":"cosine"}]}}`, "dimensions"},
		{"geometry of clay", `{"id":"c",` + pk + `,"geospatialConfig":{"type":"Clay"}}`, "geospatialConfig.type"},
		{"conflict mode", `{"id":"c",` + pk + `,"conflictResolutionPolicy":{"mode":"War"}}`,
			"conflictResolutionPolicy.mode"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := define(parse(t, c.in))
			if fault.KindOf(err) != fault.Invalid || !strings.Contains(fault.Message(classify(err)), c.want) {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
}

func TestRedefine(t *testing.T) {
	const body = `{"id":"c",` + pk + `,"uniqueKeyPolicy":{"uniqueKeys":[{"paths":["/u"]}]}`
	def, err := define(parse(t, body+`}`))
	must(t, err)
	st := &catalog.State{Definition: def}
	for _, c := range []struct {
		name, in string
		kind     fault.Kind
	}{
		{"other name", `{"id":"d",` + pk + `,"uniqueKeyPolicy":{"uniqueKeys":[{"paths":["/u"]}]}}`, fault.Invalid},
		{"other partition key",
			`{"id":"c","partitionKey":{"paths":["/x"]},"uniqueKeyPolicy":{"uniqueKeys":[{"paths":["/u"]}]}}`,
			fault.Invalid},
		{"other version",
			`{"id":"c","partitionKey":{"paths":["/pk"],"version":2},"uniqueKeyPolicy":{"uniqueKeys":[{"paths":["/u"]}]}}`, fault.Invalid},
		{"no partition key", `{"id":"c","uniqueKeyPolicy":{"uniqueKeys":[{"paths":["/u"]}]}}`, fault.Invalid},
		{"no unique keys", `{"id":"c",` + pk + `}`, fault.Forbidden},
		{"other unique keys", `{"id":"c",` + pk + `,"uniqueKeyPolicy":{"uniqueKeys":[{"paths":["/v"]}]}}`,
			fault.Forbidden},
		{"other conflicts", body + `,"conflictResolutionPolicy":{"mode":"Custom"}}`, fault.Invalid},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := redefine(st, parse(t, c.in)); fault.KindOf(err) != c.kind || err == nil {
				t.Errorf("got %v", err)
			}
		})
	}
	got, err := redefine(st, parse(t, body+
		`,"defaultTtl":5,"ttlPropertyPath":"/a","indexingPolicy":{"excludedPaths":[{"path":"/*"}]}}`))
	must(t, err)
	if got.TTL != 5 || got.TTLProperty != "/a" || got.Indexing.Excluded[0] != "/*" || len(got.Indexing.Included) != 0 {
		t.Errorf("got %+v", got)
	}
}

func FuzzDefine(f *testing.F) {
	for _, text := range []string{
		`{"id":"c"}`, `{"id":"c",` + pk + `,"defaultTtl":1}`,
		`{"id":"c","indexingPolicy":{"includedPaths":[{"path":"/\"a b\"/?"}],"excludedPaths":[{"path":"/*"}]}}`,
		`{"id":"c","uniqueKeyPolicy":{"uniqueKeys":[{"paths":["/a"]}]},"computedProperties":[{"name":"x","query":"select value 1"}]}`,
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d, err := doc.FromJSON(nil, []byte(text), doc.ParseOptions{})
		if err != nil {
			return
		}
		def, err := define(d)
		if err != nil {
			if k := fault.KindOf(err); k != fault.Invalid {
				t.Fatalf("%s fails with %v", text, err)
			}
			return
		}
		if _, err := redefine(&catalog.State{Definition: def}, d); err != nil {
			t.Fatalf("%s cannot replace itself: %v", text, err)
		}
	})
}
