package rest

import "testing"

// A parameter that is not defined has the value undefined, as recorded of a hosted account (xo/dbimp: docs/COSMOS.md,
// "a parameter that is not passed"). A hint reports it, because it is mostly a mistake.
func TestParameterThatIsNotGiven(t *testing.T) {
	d := newItems(t)
	d.item("POST", "", `{"id":"1","pk":"a"}`).want(201)
	for _, c := range []struct{ name, body, rows, hint string }{
		{"not given", `{"query":"SELECT @Lost AS v, IS_DEFINED(@lost) AS d FROM c"}`, `[{"d":false}]`,
			"The query uses the parameter @Lost, which the request does not define. Its value is undefined."},
		{"in another case", `{"query":"SELECT VALUE IS_DEFINED(@p) FROM c","parameters":[{"name":"@P","value":1}]}`,
			`[false]`,
			"The query uses the parameter @p, which the request does not define. Its value is undefined."},
		{"without a value", `{"query":"SELECT VALUE IS_DEFINED(@p) FROM c","parameters":[{"name":"@p"}]}`, `[false]`,
			""},
		{"given", `{"query":"SELECT VALUE @p FROM c","parameters":[{"name":"@p","value":1}]}`, `[1]`, ""},
		{"none", `{"query":"SELECT VALUE '@p' FROM c"}`, `["@p"]`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := d.do("POST", documents, c.body, "content-type", "application/query+json",
				"x-ms-documentdb-query-enablecrosspartition", "true")
			a.want(200).says(`"Documents":` + c.rows)
			if got := a.header.Get("x-mayfly-hint"); got != c.hint {
				t.Errorf("the hint is %q, want %q", got, c.hint)
			}
		})
	}
}
