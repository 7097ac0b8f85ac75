package rest

import (
	"strings"
	"testing"
)

// A query is rejected if its regular expression would need too much memory.
func TestRegularExpressionThatRepeatsTooMuch(t *testing.T) {
	d := newItems(t)
	d.item("POST", "", `{"id":"1","pk":"a","s":"a"}`).want(201)
	pattern := strings.Repeat("(?:", 20) + "a" + strings.Repeat("){9}", 20)
	for _, call := range []string{"REGEXMATCH(c.s, '%')", "REGEXMATCH(c.s, CONCAT('%', ''))", "REGEXMATCH(c.s, @p)"} {
		query := `{"query":"SELECT VALUE ` + strings.Replace(call, "%", pattern,
			1) + ` FROM c","parameters":[{"name":"@p","value":"` + pattern + `"}]}`
		d.do("POST", documents, query, "content-type", "application/query+json",
			"x-ms-documentdb-query-enablecrosspartition", "true").want(400).says("too many nested repetitions")
	}
}
