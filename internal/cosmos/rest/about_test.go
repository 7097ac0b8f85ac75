package rest

import "testing"

func TestErrorsTellWhatTheyAreAbout(t *testing.T) {
	d, _ := withContainer(t, "")
	script := `"body":"function f() {}"`
	d.do("POST", collection+"/sprocs", `{"id":"s",`+script+`}`).want(201)
	for _, c := range []struct {
		method, target, body string
		headers              []string
		status               int
		about                string
	}{
		{"GET", documents + "/x", "", []string{key, inA}, 404, "ResourceType: Document, OperationType: Read"},
		{"DELETE", documents + "/x", "", []string{key, inA}, 404, "ResourceType: Document, OperationType: Delete"},
		{"PUT", documents + "/x", `{"id":"x","pk":"a"}`, []string{key, inA}, 404,
			"ResourceType: Document, OperationType: Replace"},
		{"PATCH", documents + "/x", `[{"op":"set","path":"/a","value":1}]`, []string{key, inA}, 404,
			"ResourceType: Document, OperationType: Patch"},
		{"POST", documents, `{"pk":"a"}`, []string{key, inA}, 400, "ResourceType: Document, OperationType: Create"},
		{"POST", documents, `{"pk":"a"}`, []string{key, inA, "x-ms-documentdb-is-upsert", "True"}, 400,
			"ResourceType: Document, OperationType: Upsert"},
		{"POST", documents, `[]`, []string{key, inA, "x-ms-cosmos-is-batch-request", "True"}, 400,
			"ResourceType: Document, OperationType: Batch"},
		{"POST", documents, `{}`, []string{"content-type", "application/query+json"}, 400,
			"ResourceType: Document, OperationType: Query"},
		{"GET", documents, "", []string{"x-ms-max-item-count", "-5"}, 400,
			"ResourceType: Document, OperationType: ReadFeed"},
		{"GET", "/dbs/d/colls/none/docs/x", "", []string{key, inA}, 404, "ResourceType: Document, OperationType: Read"},
		{"POST", collection + "/sprocs/s", `[]`, nil, 400,
			"ResourceType: StoredProcedure, OperationType: ExecuteJavaScript"},
		{"POST", collection + "/operations/partitionkeydelete", "", nil, 400,
			"ResourceType: PartitionKey, OperationType: Delete"},
		{"GET", "/dbs/none", "", nil, 404, "ResourceType: Database, OperationType: Read"},
		{"GET", "/dbs/d/colls/none", "", nil, 404, "ResourceType: Collection, OperationType: Read"},
		{"GET", "/dbs/d/users/none", "", nil, 404, "ResourceType: User, OperationType: Read"},
		{"GET", "/offers/AAAA", "", nil, 400, "ResourceType: Offer, OperationType: Read"},
	} {
		t.Run(c.method+" "+c.target+" "+c.about, func(t *testing.T) {
			d.t = t
			d.do(c.method, c.target, c.body, c.headers...).want(c.status).says(c.about)
		})
	}
	for _, r := range table {
		p := new(path)
		if err := p.splitLink(r.pattern); err != nil {
			t.Error(err)
		}
		if resourceTypes[p.resourceType()] == "" {
			t.Errorf("%s is about nothing", r.pattern)
		}
	}
}
