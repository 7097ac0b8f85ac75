package rest

import (
	"fmt"
	"testing"
)

// SDKs that merge partitions send the token of the previous page with a narrowed filter, and may spell the query
// differently. The rest of the query must be the same.
func TestContinuationOutlivesTheFilter(t *testing.T) {
	d := newItems(t)
	for i := range 6 {
		d.item("POST", "", fmt.Sprintf(`{"id":"%d","pk":"a","n":%d}`, i, i)).want(201)
	}
	ask := func(query, token string) answer {
		return d.do("POST", documents, `{"query":"`+query+`"}`, "content-type", "application/query+json",
			"x-ms-documentdb-query-enablecrosspartition", "true", "x-ms-max-item-count", "2", "x-ms-continuation",
			token)
	}
	first := ask("SELECT VALUE c.n FROM c WHERE (true) ORDER BY c.n", "").want(200)
	token := first.header.Get("x-ms-continuation")
	ask("select value c.n from c where ((c.n >= 1)) order by c.n", token).want(200).says(`[2,3]`)
	ask("SELECT VALUE c.n FROM c ORDER BY c.n DESC", token).want(400).says("Invalid Continuation Token")
	ask("SELECT c.n FROM c ORDER BY c.n", token).want(400)
}

// A page that ends between two rows of an item continues with the other row, even if another item was inserted before
// it, which happens in the order of partitions.
func TestPageEndsInsideAnItem(t *testing.T) {
	d := newItems(t)
	put := func(pk string) {
		d.do("POST", documents, fmt.Sprintf(`{"id":"1","pk":%[1]q,"tags":["%[1]s1","%[1]s2"]}`, pk), hPK,
			fmt.Sprintf("[%q]", pk)).want(201)
	}
	ask := func(size, token string) answer {
		return d.do("POST", documents, `{"query":"SELECT VALUE t FROM c JOIN t IN c.tags"}`, "content-type",
			"application/query+json",
			"x-ms-documentdb-query-enablecrosspartition", "true", "x-ms-end-epk", "FE", "x-ms-max-item-count", size,
			"x-ms-continuation", token).want(200)
	}
	put("a")
	put("b")
	order := ask("-1", "").rows("Documents")
	front, last := order[0].(string)[:1], order[2].(string)[:1]
	d.do("DELETE", documents+"/1", "", hPK, fmt.Sprintf("[%q]", front)).want(204)

	first := ask("1", "").says(fmt.Sprintf(`["%s1"]`, last))
	put(front)
	second := ask("1", first.header.Get("x-ms-continuation")).says(fmt.Sprintf(`["%s2"]`, last))
	if token := second.header.Get("x-ms-continuation"); token != "" {
		t.Errorf("there is more: %s", ask("-1", token).text)
	}
}
