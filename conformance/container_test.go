package conformance

import (
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
)

func TestContainers(t *testing.T) {
	s := shared(t)
	db := newDatabase(t, s)
	ctx := within(t, patience)
	for _, id := range []string{"one", "two", "three"} {
		made, err := db.CreateContainer(ctx, azcosmos.ContainerProperties{
			ID:                     id,
			PartitionKeyDefinition: azcosmos.PartitionKeyDefinition{Paths: []string{"/pk"}},
		}, nil)
		ok(t, "create "+id, err)
		if made.RawResponse.StatusCode != http.StatusCreated || made.RequestCharge <= 0 || made.ETag == "" {
			t.Errorf("create %s: status %d, charge %v, etag %q", id, made.RawResponse.StatusCode, made.RequestCharge,
				made.ETag)
		}
	}
	if got, want := listed(t, s, "dbs/"+db.ID()+"/colls", "DocumentCollections"), []string{"one", "two",
		"three"}; !slices.Equal(got, want) {
		t.Errorf("listed %v, want %v", got, want)
	}
	_, err := db.CreateContainer(ctx, azcosmos.ContainerProperties{
		ID:                     "one",
		PartitionKeyDefinition: azcosmos.PartitionKeyDefinition{Paths: []string{"/pk"}},
	}, nil)
	wantStatus(t, "create it twice", err, http.StatusConflict)

	one, err := db.NewContainer("one")
	ok(t, "client", err)
	read, err := one.Read(ctx, nil)
	ok(t, "read", err)
	p := read.ContainerProperties
	if p.DefaultTimeToLive != nil {
		t.Errorf("default ttl without having set one: %d", *p.DefaultTimeToLive)
	}
	if p.IndexingPolicy == nil || !p.IndexingPolicy.Automatic ||
		!strings.EqualFold(string(p.IndexingPolicy.IndexingMode), "consistent") ||
		!reflect.DeepEqual(p.IndexingPolicy.IncludedPaths, []azcosmos.IncludedPath{{Path: "/*"}}) ||
		!reflect.DeepEqual(p.IndexingPolicy.ExcludedPaths, []azcosmos.ExcludedPath{{Path: `/"_etag"/?`}}) {
		t.Errorf("default indexing policy: %+v", p.IndexingPolicy)
	}
	if p.ConflictResolutionPolicy == nil || p.ConflictResolutionPolicy.ResolutionPath != "/_ts" {
		t.Errorf("default conflict resolution policy: %+v", p.ConflictResolutionPolicy)
	}

	_, err = one.Delete(ctx, nil)
	ok(t, "delete", err)
	_, err = one.Read(ctx, nil)
	wantStatus(t, "read after delete", err, http.StatusNotFound)
	_, err = one.ReadItem(ctx, partitionP, "x", nil)
	wantStatus(t, "read an item after delete", err, http.StatusNotFound)
}

func TestContainerPoliciesAreEchoed(t *testing.T) {
	s := shared(t)
	b := newBox(t, s, azcosmos.ContainerProperties{
		DefaultTimeToLive: ptr(int32(3600)),
		IndexingPolicy: &azcosmos.IndexingPolicy{
			Automatic:     true,
			IndexingMode:  azcosmos.IndexingModeConsistent,
			IncludedPaths: []azcosmos.IncludedPath{{Path: "/*"}},
			ExcludedPaths: []azcosmos.ExcludedPath{{Path: "/secret/*"}, {Path: "/embedding/*"}},
			CompositeIndexes: [][]azcosmos.CompositeIndex{{
				{Path: "/name", Order: azcosmos.CompositeIndexAscending},
				{Path: "/age", Order: azcosmos.CompositeIndexDescending},
			}},
			SpatialIndexes: []azcosmos.SpatialIndex{{Path: "/where/*",
				SpatialTypes: []azcosmos.SpatialType{azcosmos.SpatialTypePoint}}},
			VectorIndexes:   []azcosmos.VectorIndex{{Path: "/embedding", Type: azcosmos.VectorIndexTypeFlat}},
			FullTextIndexes: []azcosmos.FullTextIndex{{Path: "/title"}},
		},
		UniqueKeyPolicy: &azcosmos.UniqueKeyPolicy{UniqueKeys: []azcosmos.UniqueKey{{Paths: []string{"/email"}},
			{Paths: []string{"/a", "/b/c"}}}},
		ConflictResolutionPolicy: &azcosmos.ConflictResolutionPolicy{
			Mode:           azcosmos.ConflictResolutionModeLastWriteWins,
			ResolutionPath: "/version",
		},
		VectorEmbeddingPolicy: &azcosmos.VectorEmbeddingPolicy{VectorEmbeddings: []azcosmos.VectorEmbedding{{
			Path: "/embedding", DataType: azcosmos.VectorDataTypeFloat32,
			DistanceFunction: azcosmos.VectorDistanceFunctionCosine, Dimensions: 3,
		}}},
		FullTextPolicy: &azcosmos.FullTextPolicy{
			DefaultLanguage: "en-US",
			FullTextPaths:   []azcosmos.FullTextPath{{Path: "/title", Language: "en-US"}},
		},
	})
	ctx := within(t, patience)
	read, err := b.Read(ctx, nil)
	ok(t, "read", err)
	p := read.ContainerProperties
	if p.DefaultTimeToLive == nil || *p.DefaultTimeToLive != 3600 {
		t.Errorf("default ttl: %v", p.DefaultTimeToLive)
	}
	i := p.IndexingPolicy
	if len(i.CompositeIndexes) != 1 || len(i.CompositeIndexes[0]) != 2 ||
		i.CompositeIndexes[0][1].Order != azcosmos.CompositeIndexDescending {
		t.Errorf("composite indexes: %+v", i.CompositeIndexes)
	}
	if len(i.SpatialIndexes) != 1 || len(i.SpatialIndexes[0].SpatialTypes) != 4 { // the service completes them
		t.Errorf("spatial indexes: %+v", i.SpatialIndexes)
	}
	if len(i.VectorIndexes) != 1 || len(i.FullTextIndexes) != 1 {
		t.Errorf("vector %+v, full text %+v", i.VectorIndexes, i.FullTextIndexes)
	}
	if p.UniqueKeyPolicy == nil || len(p.UniqueKeyPolicy.UniqueKeys) != 2 {
		t.Errorf("unique keys: %+v", p.UniqueKeyPolicy)
	}
	if p.ConflictResolutionPolicy == nil || p.ConflictResolutionPolicy.ResolutionPath != "/version" {
		t.Errorf("conflict resolution: %+v", p.ConflictResolutionPolicy)
	}
	if p.VectorEmbeddingPolicy == nil || len(p.VectorEmbeddingPolicy.VectorEmbeddings) != 1 {
		t.Errorf("vector embeddings: %+v", p.VectorEmbeddingPolicy)
	}
	if p.FullTextPolicy == nil || len(p.FullTextPolicy.FullTextPaths) != 1 {
		t.Errorf("full text: %+v", p.FullTextPolicy)
	}

	t.Run("computed properties", func(t *testing.T) {
		db, _, _ := strings.Cut(strings.TrimPrefix(b.path, "dbs/"), "/")
		made := s.do(t, "POST", "dbs/"+db+"/colls", `{"id":"computed","partitionKey":{"paths":["/pk"],"kind":"Hash"},
			"computedProperties":[{"name":"lower","query":"SELECT VALUE LOWER(c.name) FROM c"}],
			"geospatialConfig":{"type":"Geometry"},"analyticalStorageTtl":-1,"defaultTtl":-1}`)
		if made.status != http.StatusCreated {
			t.Fatalf("create: %d %s", made.status, made.body)
		}
		o := s.do(t, "GET", "dbs/"+db+"/colls/computed", nil).object()
		if c, _ := o["computedProperties"].([]any); len(c) != 1 {
			t.Errorf("computed properties: %v", o["computedProperties"])
		}
		if g, _ := o["geospatialConfig"].(map[string]any); g["type"] != "Geometry" {
			t.Errorf("geospatial: %v", o["geospatialConfig"])
		}
		if o["analyticalStorageTtl"] != -1.0 || o["defaultTtl"] != -1.0 {
			t.Errorf("analytical ttl %v, default ttl %v", o["analyticalStorageTtl"], o["defaultTtl"])
		}
	})
}

func TestContainerReplace(t *testing.T) {
	s := shared(t)
	b := newBox(t, s, azcosmos.ContainerProperties{
		DefaultTimeToLive: ptr(int32(120)),
		UniqueKeyPolicy:   &azcosmos.UniqueKeyPolicy{UniqueKeys: []azcosmos.UniqueKey{{Paths: []string{"/email"}}}},
	})
	ctx := within(t, patience)
	read, err := b.Read(ctx, nil)
	ok(t, "read", err)
	before := *read.ContainerProperties

	changed := before
	changed.DefaultTimeToLive = ptr(int32(240))
	replaced, err := b.Replace(ctx, changed, nil)
	ok(t, "replace", err)
	if p := replaced.ContainerProperties; p.DefaultTimeToLive == nil || *p.DefaultTimeToLive != 240 {
		t.Errorf("default ttl after replace: %v", p.DefaultTimeToLive)
	}
	if replaced.ETag == read.ETag {
		t.Error("the ETag of the container did not change")
	}
	if replaced.ContainerProperties.ResourceID != before.ResourceID {
		t.Error("the RID of the container changed")
	}

	other := before
	other.PartitionKeyDefinition = azcosmos.PartitionKeyDefinition{Paths: []string{"/other"}, Version: 2}
	_, err = b.Replace(ctx, other, nil)
	wantStatus(t, "replace with another partition key", err, http.StatusBadRequest)

	without := before
	without.UniqueKeyPolicy = nil
	_, err = b.Replace(ctx, without, nil)
	wantStatus(t, "replace without the unique keys", err, http.StatusForbidden)

	none := before
	none.IndexingPolicy = &azcosmos.IndexingPolicy{IndexingMode: azcosmos.IndexingModeNone}
	_, err = b.Replace(ctx, none, nil)
	wantStatus(t, "indexing none with a default ttl (T-67)", err, http.StatusBadRequest)

	after, err := b.Read(ctx, nil)
	ok(t, "read", err)
	if p := after.ContainerProperties; p.DefaultTimeToLive == nil || *p.DefaultTimeToLive != 240 {
		t.Errorf("default ttl after refused replaces: %v, want 240", p.DefaultTimeToLive)
	}
}

func TestUniqueKeys(t *testing.T) {
	b := newBox(t, shared(t), azcosmos.ContainerProperties{
		UniqueKeyPolicy: &azcosmos.UniqueKeyPolicy{UniqueKeys: []azcosmos.UniqueKey{{Paths: []string{"/email"}}}},
	})
	ctx := within(t, patience)
	b.create(t, item{"id": "1", "email": "a@x"})
	_, err := b.CreateItem(ctx, partitionP, item{"id": "2", "pk": "p", "email": "a@x"}.bytes(t), nil)
	wantStatus(t, "same value, same partition", err, http.StatusConflict)
	b.create(t, item{"id": "2", "email": "b@x"})
	b.create(t, item{"id": "1", "pk": "q", "email": "a@x"})
	_, err = b.ReplaceItem(ctx, partitionP, "2", item{"id": "2", "pk": "p", "email": "a@x"}.bytes(t), nil)
	wantStatus(t, "replace into a taken value", err, http.StatusConflict)
	_, err = b.DeleteItem(ctx, partitionP, "1", nil)
	ok(t, "delete", err)
	_, err = b.ReplaceItem(ctx, partitionP, "2", item{"id": "2", "pk": "p", "email": "a@x"}.bytes(t), nil)
	ok(t, "replace into a freed value", err)
}

// azcosmos finds offers by a query; here they are listed and read.
func TestOffersAreKept(t *testing.T) {
	s := shared(t)
	db := newDatabase(t, s)
	ctx := within(t, patience)
	manual, auto := azcosmos.NewManualThroughputProperties(700), azcosmos.NewAutoscaleThroughputProperties(5000)
	for id, p := range map[string]azcosmos.ThroughputProperties{"manual": manual, "auto": auto} {
		_, err := db.CreateContainer(ctx, azcosmos.ContainerProperties{
			ID:                     id,
			PartitionKeyDefinition: azcosmos.PartitionKeyDefinition{Paths: []string{"/pk"}},
		}, &azcosmos.CreateContainerOptions{ThroughputProperties: &p})
		ok(t, "create "+id, err)
	}
	rid := func(id string) string {
		r, _ := s.do(t, "GET", "dbs/"+db.ID()+"/colls/"+id, nil).object()["_rid"].(string)
		return r
	}
	content := map[string]map[string]any{}
	var kept map[string]any
	offers, _ := s.do(t, "GET", "offers", nil).object()["Offers"].([]any)
	for _, o := range offers {
		offer := o.(map[string]any)
		content[offer["offerResourceId"].(string)], _ = offer["content"].(map[string]any)
		if offer["offerResourceId"] == rid("manual") {
			kept = offer
		}
	}
	if got := content[rid("manual")]["offerThroughput"]; got != 700.0 {
		t.Errorf("manual offer: %v", content[rid("manual")])
	}
	settings, _ := content[rid("auto")]["offerAutopilotSettings"].(map[string]any)
	if settings["maxThroughput"] != 5000.0 {
		t.Errorf("autoscale offer: %v", content[rid("auto")])
	}

	self := strings.TrimSuffix(kept["_self"].(string), "/")
	read := s.byRID(t, "GET", self, nil)
	if read.status != http.StatusOK || read.object()["_rid"] != kept["_rid"] {
		t.Fatalf("read %s: %d %s", self, read.status, read.body)
	}
	kept["content"].(map[string]any)["offerThroughput"] = 900
	replaced := s.byRID(t, "PUT", self, kept)
	c, _ := replaced.object()["content"].(map[string]any)
	if replaced.status != http.StatusOK || c["offerThroughput"] != 900.0 ||
		replaced.header.Get("x-ms-offer-replace-pending") == "" {
		t.Errorf("replace %s: %d %s", self, replaced.status, replaced.body)
	}
}
