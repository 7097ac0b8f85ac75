package node

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

// What the admin API answers about the containers "nosql" and "mongo" of TestExpiredNeverShows, whose item "gone" has
// expired: requests by the operation of the OpenAPI document, with what the answer has to have. An operation that reads
// and that is missing here fails the test, unless this mayfly does not have its feature.
var aliveAnswers = map[string][]struct{ request, want string }{
	"listDatabases":  {{"GET /databases", `"shop"`}},
	"showDatabase":   {{"GET /databases/shop", `"containers":2`}},
	"listContainers": {{"GET /databases/shop/containers", `"items":1,`}},
	"showContainer": {
		{"GET /databases/shop/containers/nosql", `"items":1,`},
		{"GET /databases/shop/containers/mongo", `"items":1,`},
	},
	"listItems": {
		{"GET /databases/shop/containers/nosql/items", `"stays"`},
		{"GET /databases/shop/containers/nosql/items?partitionKey=%5B%22a%22%5D", `"stays"`},
		{"GET /databases/shop/containers/mongo/items", `"stays"`},
		{"GET /databases/shop/containers/nosql/items?lifetimes=true", `"stays"`},
		{"GET /databases/shop/containers/mongo/items?lifetimes=true", `"stays"`},
	},
	"showItem": {
		{"GET /databases/shop/containers/nosql/items/gone", `404`},
		{"GET /databases/shop/containers/nosql/items/gone?partitionKey=%5B%22a%22%5D", `404`},
		{"GET /databases/shop/containers/mongo/items/gone", `404`},
	},
	"queryItems": {
		{"POST /databases/shop/containers/nosql/query\n" + `{"sql": "SELECT VALUE COUNT(1) FROM c"}`, `[1]`},
		{"POST /databases/shop/containers/nosql/query\n" + `{"sql": "SELECT * FROM c"}`, `"stays"`},
		{"POST /databases/shop/containers/nosql/query\n" + `{"pipeline": [{"$count": "n"}]}`, `"n":1}`},
		{"POST /databases/shop/containers/mongo/query\n" + `{"sql": "SELECT VALUE COUNT(1) FROM c"}`, `[1]`},
		{"POST /databases/shop/containers/mongo/query\n" + `{"pipeline": [{"$count": "n"}]}`, `"n":1}`},
		{"POST /databases/shop/containers/mongo/query\n" + `{"pipeline": [{"$collStats": {"count": {}}}]}`,
			`"count":1`},
		{"POST /databases/shop/containers/mongo/query\n" + `{"find": {}}`, `"stays"`},
	},
	"listExpiring": {
		{"GET /databases/shop/containers/nosql/expiring?from=0", `"stays"`},
		{"GET /databases/shop/containers/mongo/expiring", `"stays"`},
	},
	"exportItems": {
		{"GET /databases/shop/containers/nosql/export", `"stays"`},
		{"GET /databases/shop/containers/mongo/export", `"stays"`},
	},
	"replaceItem": {
		{"PUT /databases/shop/containers/nosql/items/gone\n" + `{"id": "gone", "pk": "a"}`, `404`},
		{"PUT /databases/shop/containers/mongo/items/gone\n" + `{"_id": "gone"}`, `404`},
	},
	"deleteItem": {
		{"DELETE /databases/shop/containers/nosql/items/gone", `404`},
		{"DELETE /databases/shop/containers/nosql/items/gone?partitionKey=%5B%22a%22%5D", `404`},
		{"DELETE /databases/shop/containers/mongo/items/gone", `404`},
	},
	"previewLifetime": {
		{"POST /databases/shop/containers/nosql/lifetime/preview\n" + `{"defaultTtl": 60}`, `"living":{"documents":1,`},
		{"POST /databases/shop/containers/mongo/lifetime/preview\n" + `{"defaultTtl": 60}`, `"living":{"documents":1,`},
	},
	"explainLifetime": {
		{"GET /databases/shop/containers/nosql/lifetime/explain?id=gone", `404`},
		{"GET /databases/shop/containers/nosql/lifetime/explain?id=gone&partitionKey=%5B%22a%22%5D", `404`},
		{"GET /databases/shop/containers/mongo/lifetime/explain?id=gone", `404`},
	},
	"forecastContainer": {
		{"GET /databases/shop/containers/nosql/forecast", `"living":{"documents":1,`},
		{"GET /databases/shop/containers/mongo/forecast", `"living":{"documents":1,`},
	},
	"forecastDatabase": {{"GET /databases/shop/forecast", `"living":{"documents":2,`}},
	"forecast":         {{"GET /forecast", `"living":{"documents":2,`}},
	"listRanges":       {{"GET /databases/shop/containers/nosql/ranges", `"items":1,`}},
	"showThroughput":   {{"GET /databases/shop/containers/nosql/throughput", `400`}},
	"showLifetime":     {{"GET /databases/shop/containers/nosql/lifetime", `3600`}},
}

// TestExpiredNeverShows asks every route about an item that has expired and that still takes up space.
func TestExpiredNeverShows(t *testing.T) {
	s := newAdminStory(t, Options{})
	s.n.reaper.Pause()
	for _, given := range []string{
		"POST /databases\n" + `{"id": "shop"}`,
		"POST /databases/shop/containers\n" + `{"id": "nosql", "partitionKey": {"paths": ["/pk"]}, "defaultTtl": 3600}`,
		"POST /databases/shop/containers\n" + `{"id": "mongo", "dialect": "mongodb", "defaultTtl": 3600}`,
		"POST /databases/shop/containers/nosql/items\n" + `{"id": "gone", "pk": "a", "ttl": 60}`,
		"POST /databases/shop/containers/nosql/items\n" + `{"id": "stays", "pk": "a"}`,
		"POST /databases/shop/containers/mongo/items\n" + `{"_id": "gone", "ttl": 60}`,
		"POST /databases/shop/containers/mongo/items\n" + `{"_id": "stays"}`,
	} {
		if _, response, body := s.send(t, given); response.StatusCode != http.StatusCreated {
			t.Fatalf("%s: %d %s", given, response.StatusCode, body)
		}
	}
	if _, err := s.n.Move(t.Context(), func(now time.Time) time.Time { return now.Add(time.Minute) }); err != nil {
		t.Fatal(err)
	}
	for id, cases := range aliveAnswers {
		for _, c := range cases {
			_, response, body := s.send(t, c.request)
			text := string(body)
			if !strings.Contains(text, c.want) || response.StatusCode == 200 && strings.Contains(text, "gone") {
				t.Errorf("%s: %s answers %d %s, want %s", id, c.request, response.StatusCode, text, c.want)
			}
		}
	}
	doc, _ := document()
	for path, item := range doc.Paths.Map() {
		for method, operation := range item.Operations() {
			if aliveAnswers[operation.OperationID] != nil || !strings.HasPrefix(path, "/databases") ||
				method != http.MethodGet {
				continue
			}
			line := method + " " + strings.NewReplacer("{db}", "shop", "{c}", "nosql", "{id}", "gone").Replace(path) +
				"?id=gone"
			if _, response, _ := s.send(t, line); response.StatusCode != http.StatusNotImplemented {
				t.Errorf("%s (%s) has no request in aliveAnswers", operation.OperationID, line)
			}
		}
	}
}
