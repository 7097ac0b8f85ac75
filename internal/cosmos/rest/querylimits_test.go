package rest

import (
	"context"
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

var asQuery = []string{"content-type", "application/query+json", "x-ms-documentdb-isquery", "true",
	"x-ms-documentdb-query-enablecrosspartition", "true"}

// ask sends a query. headers are added to those that mark it as one.
func (d *testAPI) ask(target, query string, headers ...string) answer {
	d.t.Helper()
	return d.do("POST", target, fmt.Sprintf(`{"query":%q}`, query), append(asQuery[:len(asQuery):len(asQuery)],
		headers...)...)
}

// Queries return only what the credentials may read.
func TestQueriesWithinGrants(t *testing.T) {
	type try struct {
		target, query, partition string
		status                   int
		rows                     string
	}
	const all = "SELECT VALUE c.id FROM c ORDER BY c.id"
	common := []try{
		{"/dbs", all, "", 403, ""},
		{"/offers", all, "", 403, ""},
		{"/dbs/d/users", all, "", 403, ""},
		{"/dbs/d/users/u/permissions", all, "", 403, ""},
		{"/dbs/e/colls", all, "", 403, ""},
		{"/dbs/d/colls/other/docs", all, inB, 403, ""},
	}
	for name, c := range map[string]struct {
		permission string
		tries      []try
	}{
		"read a container": {`{"id":"p","permissionMode":"Read","resource":"dbs/d/colls/c"}`, []try{
			{documents, all, "", 200, `["a1","b1"]`},
			{documents, all, inA, 200, `["a1"]`},
			{"/dbs/d/colls", all, "", 403, ""},
			{"/dbs/d/colls/c/pkranges", all, "", 200, `["0"]`},
		}},
		"one partition": {`{"id":"p","permissionMode":"Read","resource":"dbs/d/colls/c","resourcePartitionKey":["a"]}`,
			[]try{
				{documents, all, inA, 200, `["a1"]`},
				{documents, "SELECT VALUE c.id FROM c WHERE c.pk = 'b'", inA, 200, `[]`},
				{documents, "SELECT VALUE c.id FROM c WHERE c.pk = 'b' OR true ORDER BY c.id DESC", inA, 200, `["a1"]`},
				{documents, "SELECT VALUE COUNT(1) FROM c", inA, 200, `[1]`},
				{documents, "SELECT VALUE x.id FROM (SELECT DISTINCT c.id FROM c) AS x", inA, 200, `["a1"]`},
				{documents, all, inB, 403, ""},
				{documents, all, "", 403, ""},
				{documents, all, "[]", 403, ""},
				{"/dbs/d/colls/c/sprocs", all, inA, 403, ""},
			}},
		"one item": {`{"id":"p","permissionMode":"All","resource":"dbs/d/colls/c/docs/a1"}`, []try{
			{documents, all, inA, 403, ""},
			{documents, "SELECT * FROM c WHERE c.id = 'a1'", inA, 403, ""},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			d, p := withPermission(t, c.permission)
			d.ask(documents, all).want(200).says(`["a1","b1"]`)
			token := d.ask(documents, all, "x-ms-max-item-count", "1").want(200).header.Get("x-ms-continuation")
			for _, try := range append(common, c.tries...) {
				headers := append(asQuery[:len(asQuery):len(asQuery)], "x-ms-documentdb-partitionkey", try.partition)
				if try.partition == "" {
					headers = headers[:len(asQuery)]
				}
				body := fmt.Sprintf(`{"query":%q}`, try.query)
				a := d.as(p.str("_token"), "POST", try.target, body, headers...)
				if a.status != try.status || !strings.Contains(a.text, try.rows) {
					t.Errorf("%s %s in %s: %d %s, want %d %s", try.target, try.query, try.partition, a.status, a.text,
						try.status, try.rows)
				}
				for _, span := range [][]string{{"x-ms-start-epk", "", "x-ms-end-epk", "FF"},
					{"x-ms-documentdb-partitionkeyrangeid", "0"}} {
					if b := d.as(p.str("_token"), "POST", try.target, body, append(headers,
						span...)...); b.status == 200 && !strings.Contains(b.text, try.rows) {
						t.Errorf("with %v: %s", span, b.text)
					}
				}
				if try.partition == inA && try.status == 200 {
					d.as(p.str("_token"), "POST", try.target, body, append(headers, "x-ms-continuation",
						token)...).want(400)
				}
			}
		})
	}
}

// A continuation token works only for the query that it was issued for.
func TestContinuationsOfOtherQueries(t *testing.T) {
	d := newItems(t)
	for i := range 6 {
		d.item("POST", "", fmt.Sprintf(`{"id":"%d","pk":"a","n":%d,"a":[1,2,3]}`, i, i)).want(201)
	}
	d.do("POST", "/dbs/d/colls", `{"id":"other",`+pk2+`}`).want(201)
	const query = "SELECT VALUE c.n FROM c ORDER BY c.n"
	two := []string{"x-ms-max-item-count", "2"}
	first := d.ask(documents, query, two...).want(200)
	token := first.header.Get("x-ms-continuation")
	next := func(target, query, token string, headers ...string) answer {
		t.Helper()
		return d.ask(target, query, append(append([]string{"x-ms-continuation", token}, two...), headers...)...)
	}
	next(documents, query, token).want(200).says("[2,3]")
	next(documents, query, token, "x-ms-documentdb-partitionkey", inA).want(400)
	next(documents, query, token, "x-ms-start-epk", "00").want(400)
	next("/dbs/d/colls/other/docs", query, token).want(400)
	next("/dbs", "SELECT * FROM c", token).want(400)
	next(documents, "SELECT VALUE c.n FROM c ORDER BY c.n DESC", token).want(400)
	d.do("GET", documents, "", "x-ms-continuation", token).want(400)
	for i := range token {
		b := []byte(token)
		if b[i] != 'A' {
			b[i] = 'A'
		} else {
			b[i] = 'B'
		}
		next(documents, query, string(b)).want(400)
		next(documents, query, token[:i]+token[i+1:]).want(400)
	}
	next(documents, query, token+"A").want(400)
	next(documents, query, strings.Repeat("A", 1<<16)).want(400)
}

// A token only says where to continue. A client that forges one gets rows or an error, whatever the token contains.
func TestForgedContinuations(t *testing.T) {
	d := newItems(t)
	for i := range 12 {
		d.item("POST", "", fmt.Sprintf(`{"id":"%d","pk":"a","n":%d,"a":[1,2,3]}`, i, i%5)).want(201)
	}
	db, err := d.api.catalog.Database("d")
	must(t, err)
	c, err := d.api.catalog.Container(db, "c")
	must(t, err)
	random := rand.New(rand.NewPCG(4, 2))
	for _, query := range []string{
		"SELECT VALUE c.n FROM c", "SELECT VALUE c.n FROM c ORDER BY c.n DESC", "SELECT c.id, x FROM c JOIN x IN c.a",
		"SELECT DISTINCT c.n FROM c",
		"SELECT c.n, COUNT(1) FROM c GROUP BY c.n", "SELECT DISTINCT VALUE COUNT(1) FROM c GROUP BY c.n",
		"SELECT c.id FROM c ORDER BY RANK FULLTEXTSCORE(c.id, '1')",
		"SELECT DISTINCT c.n FROM c ORDER BY c.n", "SELECT DISTINCT c.id FROM c ORDER BY c.n",
		"SELECT VALUE x FROM (SELECT DISTINCT c.id FROM c) AS x",
		"SELECT TOP 9 c.id FROM c ORDER BY c._ts", "SELECT c.id FROM c WHERE c.n > 1 OFFSET 1 LIMIT 9",
		"SELECT VALUE COUNT(1) FROM c",
	} {
		q, err := parseScriptQuery([]byte(fmt.Sprintf("%q", query)))
		must(t, err)
		token := d.ask(documents, query, "x-ms-max-item-count", "1").want(200).header.Get("x-ms-continuation")
		raw := []byte{1, 0, 0, 0, 0}
		if token != "" {
			raw, err = base64.RawURLEncoding.DecodeString(token)
			must(t, err)
			raw = raw[1 : len(raw)-tokenSumBytes]
		}
		for range 150 {
			forged := append([]byte(nil), raw...)
			for range 1 + random.IntN(3) {
				switch at := random.IntN(len(forged)); random.IntN(4) {
				case 0:
					forged[at] = byte(random.Uint32())
				case 1:
					forged[at] ^= 1 << random.IntN(8)
				case 2:
					forged = append(forged[:at:at], append([]byte{byte(random.Uint32())}, forged[at:]...)...)
				case 3:
					forged = append(forged[:at:at], forged[min(at+1, len(forged)-1):]...)
				}
			}
			text := continuation(c, nil, forged, q.shape())
			if a := d.ask(documents, query, "x-ms-max-item-count", "2", "x-ms-continuation", text); a.status >= 500 {
				t.Errorf("%s with %x: %d\n%s", query, forged, a.status, d.log.String())
			}
		}
	}
}

// Work ends when its client goes away.
func TestWorkEndsWithItsClient(t *testing.T) {
	d := newItems(t)
	d.item("POST", "", `{"id":"x","pk":"a","a":[`+strings.Repeat("1,", 999)+`1],"s":"`+strings.Repeat("A", 1<<20)+
		`"}`).want(201)
	ors := strings.TrimSuffix(strings.Repeat("LOWER(c.s) = 'x' OR ", 1500), " OR ")
	for name, c := range map[string]struct {
		method, target, body string
		headers              []string
	}{
		"query": {"POST", documents,
			`{"query":"SELECT VALUE COUNT(1) FROM c JOIN x IN c.a JOIN y IN c.a JOIN z IN c.a JOIN w IN c.a WHERE w ` +
				`< 0"}`, asQuery},
		"long texts": {"POST", documents, `{"query":"SELECT * FROM c WHERE (` + ors + `) AND (` + ors + `)"}`,
			asQuery},
		"preparing": {"POST", documents, `{"query":"SELECT * FROM c WHERE ` + strings.ReplaceAll(ors, "c.s",
			"@p") + `","parameters":[{"name":"@p","value":"` + strings.Repeat("A", 1<<20) + `"}]}`, asQuery},
		"patch condition": {"PATCH", documents + "/x",
			`{"condition":"from c where ` + ors + `","operations":[{"op":"set","path":"/n","value":1}]}`,
			[]string{key, inA}},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRequest(c.method, c.target, c.body, c.headers...)
			signRequest(r)
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(20*time.Millisecond, cancel)
			start := time.Now()
			a := d.send(r.WithContext(ctx))
			if took := time.Since(start); a.status != 408 && a.status != 200 || took > 3*time.Second {
				t.Errorf("%d after %v: %.200s", a.status, took, a.text)
			}
		})
	}
}
