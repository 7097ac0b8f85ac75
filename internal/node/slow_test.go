package node

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/mayflydb/mayfly/internal/slow"
)

// TestSlowRequests makes every request a slow one for a while, through the admin API.
func TestSlowRequests(t *testing.T) {
	s := newAdminStory(t, Options{})
	containersOfLives(t, s)
	ask := func(given string) (answer struct {
		Threshold, Detail string
		MongoThreshold    *string
		Queries           []slow.Request
	}) {
		r, response, body := s.send(t, given)
		checkAgainstDocument(t, r, response, body)
		if err := json.Unmarshal(body, &answer); err != nil {
			t.Fatalf("%s: %s", given, body)
		}
		return answer
	}
	const nosql = "POST /databases/shop/containers/nosql/query\n"
	secrets := func() {
		ask(nosql + `{"sql": "SELECT * FROM c WHERE c.name = 'secret' AND c.pk = 'p'"}`)
		ask("POST /databases/shop/containers/mongo/query\n" + `{"find": {"filter": {"name": "secret"}}}`)
	}
	secrets()
	if a := ask("GET /slow"); a.Threshold != "" || len(a.Queries) > 0 || a.Queries == nil {
		t.Errorf("nothing is slow by default: %+v", a)
	}
	if a := ask("PUT /slow\n" + `{"threshold": "1ns"}`); a.Threshold != "1ns" {
		t.Errorf("set to 1ns: %+v", a)
	}
	secrets()
	found := map[string]slow.Request{}
	for _, q := range ask("GET /slow").Queries {
		found[q.API+" "+q.Operation] = q
	}
	sql, find := found["nosql QueryDocument"], found["mongo find"]
	if sql.Query != "SELECT * FROM c WHERE ((c.name = ?) AND (c.pk = ?))" || sql.Database != "shop" ||
		sql.Container != "nosql" || !strings.Contains(sql.Plan, "index") || sql.Milliseconds <= 0 || sql.Returned != 0 {
		t.Errorf("of SQL: %+v", sql)
	}
	if find.Query != "filter={name: ?}" || find.Database != "shop" || find.Container != "mongo" ||
		find.Plan != "COLLSCAN" || find.Examined != 4 {
		t.Errorf("of MongoDB: %+v", find)
	}
	if a := ask("GET /slow?max=1"); len(a.Queries) != 1 || strings.Contains(a.Queries[0].Query, "secret") {
		t.Errorf("one: %+v", a)
	}
	ask("POST /databases/shop/containers/mongo/query\n" + `{"pipeline": [{"$match": {"a": 1}}]}`)
	for given, want := range map[string]string{
		"PUT /slow\n" + `{}`:                       "threshold is missing",
		"PUT /slow\n" + `{"threshold": "-1s"}`:     "duration such as",
		"PUT /slow\n" + `{"threshold": "quick"}`:   "duration such as",
		"PUT /slow\n" + `{"threshold": 100}`:       "JSON object",
		"GET /slow?max=201":                        "1 to 200",
		"PUT /slow\n" + `{"threshold": "", "a":1}`: "JSON object",
	} {
		if a := ask(given); !strings.Contains(a.Detail, want) {
			t.Errorf("%s: %+v", given, a)
		}
	}
	if a := ask("PUT /slow\n" + `{"threshold": ""}`); a.Threshold != "" {
		t.Errorf("set to none: %+v", a)
	}
	before := len(ask("GET /slow?max=200").Queries)
	secrets()
	if a := ask("GET /slow?max=200"); len(a.Queries) != before {
		t.Errorf("%d requests were slow, and now %d", before, len(a.Queries))
	}
}
