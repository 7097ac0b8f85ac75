package rest

import (
	"fmt"
	"testing"
)

// SDKs that merge partitions send the token of the page before with a filter that they
// have narrowed, and the text may be written otherwise; the rest must be the same.
func TestContinuationOutlivesTheFilter(t *testing.T) {
	d := newItems(t)
	for i := range 6 {
		d.item("POST", "", fmt.Sprintf(`{"id":"%d","pk":"a","n":%d}`, i, i)).want(201)
	}
	ask := func(query, token string) answer {
		return d.do("POST", documents, `{"query":"`+query+`"}`, "content-type", "application/query+json",
			"x-ms-documentdb-query-enablecrosspartition", "true", "x-ms-max-item-count", "2", "x-ms-continuation", token)
	}
	first := ask("SELECT VALUE c.n FROM c WHERE (true) ORDER BY c.n", "").want(200)
	token := first.header.Get("x-ms-continuation")
	ask("select value c.n from c where ((c.n >= 1)) order by c.n", token).want(200).says(`[2,3]`)
	ask("SELECT VALUE c.n FROM c ORDER BY c.n DESC", token).want(400).says("Invalid Continuation Token")
	ask("SELECT c.n FROM c ORDER BY c.n", token).want(400)
}
