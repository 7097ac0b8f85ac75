package rest

import "testing"

// Which queries over several partitions get rows, and which get a plan to merge by.
func TestQueriesThatClientsMerge(t *testing.T) {
	const (
		js3  = "Node.js/20.20.2 (linux; x64) azure-cosmos-js/3.17.3"
		js4  = "Node.js/20.20.2 (linux; x64) azure-cosmos-js/4.10.1"
		java = "azsdk-java-cosmos/4.63.0"
	)
	d, _ := withContainer(t, "")
	for _, c := range []struct {
		name, agent, query string
		status             int
		more               []string
	}{
		{"order for the SDK that adds up texts", js3, "SELECT * FROM c ORDER BY c.n", 400, nil},
		{"aggregate", js3, "SELECT VALUE COUNT(1) FROM c", 400, nil},
		{"aggregate in a member", js3, "SELECT COUNT(1) AS n FROM c", 400, nil},
		{"groups", js3, "SELECT c.n, COUNT(1) AS k FROM c GROUP BY c.n", 400, nil},
		{"plain query", js3, "SELECT * FROM c", 200, nil},
		{"one partition", js3, "SELECT * FROM c ORDER BY c.n", 200, []string{"x-ms-documentdb-partitionkey", `["a"]`}},
		{"one range, as when it merges", js3, "SELECT * FROM c ORDER BY c.n", 200,
			[]string{"x-ms-documentdb-partitionkeyrangeid", "0"}},
		{"the next version", js4, "SELECT * FROM c ORDER BY c.n", 200, nil},
		{"another SDK", java, "SELECT * FROM c ORDER BY c.n", 200, nil},
		{"no name", "", "SELECT * FROM c ORDER BY c.n", 200, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			headers := append([]string{"x-ms-documentdb-isquery", "true",
				"x-ms-documentdb-query-enablecrosspartition", "true", "User-Agent", c.agent}, c.more...)
			a := d.do("POST", documents, `{"query":"`+c.query+`"}`, headers...).want(c.status)
			if c.status == 400 && a.str("additionalErrorInfo") == "" { // the SDK looks for either
				a.says("Cross partition query only supports")
			}
		})
	}
}
