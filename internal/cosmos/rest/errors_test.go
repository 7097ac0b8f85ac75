package rest

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// errorPage lists the errors for users. These tests compare it with what the API answers.
const errorPage = "../../../docs/nosql-errors.md"

// A refusal is a row of the page's first table.
type refusal struct {
	status, substatus int
	code, text        string
}

// errorTables returns the rows of the page's tables, by the name of their first column, with trimmed cells.
func errorTables(t *testing.T) map[string][][]string {
	t.Helper()
	page, err := os.ReadFile(errorPage)
	must(t, err)
	tables := map[string][][]string{}
	name := ""
	for line := range strings.Lines(string(page)) {
		if !strings.HasPrefix(line, "|") {
			name = ""
			continue
		}
		cells := strings.Split(strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(line), "|"), "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		switch {
		case name == "":
			name = cells[0]
		case !strings.HasPrefix(cells[0], "---"):
			tables[name] = append(tables[name], cells)
		}
	}
	return tables
}

// pattern compiles a text in which … stands for anything.
func pattern(text string) *regexp.Regexp {
	return regexp.MustCompile(strings.ReplaceAll(regexp.QuoteMeta(text), "…", `(?s:.*?)`))
}

// offerBody is the request that sends an offer back with other content.
func offerBody(d *testAPI, container answer, content string) (target, body string) {
	offer := offerOf(d.t.(*testing.T), d, container.str("_rid"))
	id := offer["id"].(string)
	return "/" + offer["_self"].(string), `{"id":"` + id + `","_rid":"` + id + `"` + content + `}`
}

// provocations are requests that fail, with the first sentence of the error. Each runs in its own database with a
// container c, one item, one unique key and a user.
var provocations = []struct {
	refusal
	do func(d *testAPI, c answer) answer
}{
	{refusal{400, 0, "BadRequest", "Request url is invalid"}, get("/nowhere")},
	{refusal{400, 0, "BadRequest", "The request payload is invalid"}, post(documents, `{"id":`)},
	{refusal{400, 0, "BadRequest",
		"The input content is invalid because the required properties - 'id; ' - are missing"}, post(documents,
		`{"pk":"a"}`)},
	{refusal{400, 0, "BadRequest",
		"The input content is invalid because the required properties - '…; ' - are missing"}, post(collection+
		"/sprocs", `{"id":"s"}`)},
	{refusal{400, 0, "BadRequest", "The input name '…' is invalid"}, post(documents, `{"id":5,"pk":"a"}`)},
	{refusal{400, 0, "BadRequest", "The id of an item has at most … bytes"}, post(documents, `{"id":"`+
		strings.Repeat("x", 1024)+`","pk":"a"}`)},
	{refusal{400, 0, "BadRequest", "The input … '…' is invalid"}, post(documents, `{"id":"2","pk":"a","ttl":0}`)},
	{refusal{400, 0, "BadRequest",
		"Indexing mode value cannot be 'none' when 'defaultTtl' is specified in the collection"},
		post("/dbs/d/colls", `{"id":"x",`+pk+
			`,"defaultTtl":1,"indexingPolicy":{"indexingMode":"none","automatic":false}}`)},
	{refusal{400, 0, "BadRequest",
		`The special mandatory indexing path "/" is not provided in any of the path type sets`},
		post("/dbs/d/colls", `{"id":"x",`+pk+`,"indexingPolicy":{"includedPaths":[{"path":"/a/?"}]}}`)},
	{refusal{400, 0, "BadRequest", "The spatial data types array cannot be empty"}, post("/dbs/d/colls", `{"id":"x",`+
		pk+`,"indexingPolicy":{"spatialIndexes":[{"path":"/a/*"}]}}`)},
	{refusal{400, 0, "BadRequest",
		"The offer should have valid throughput values between … and … inclusive in increments of …"},
		post("/dbs", `{"id":"x"}`, "x-ms-offer-throughput", "401")},
	{refusal{400, 0, "BadRequest", "Offer throughput and autopilot settings cannot both be specified"},
		post("/dbs", `{"id":"x"}`, "x-ms-offer-throughput", "400", "x-ms-cosmos-offer-autopilot-settings",
			`{"maxThroughput":4000}`)},
	{refusal{400, 0, "BadRequest",
		"x-ms-cosmos-migrate-offer-to-autopilot must be supplied and offercontent must not " +
			"contain autopilotSettings for migration from manual throughput to autoscale"},
		putOffer(`,"content":{"offerAutopilotSettings":{"maxThroughput":4000}}`)},
	{refusal{400, 0, "BadRequest", "x-ms-cosmos-migrate-offer-to-manual-throughput must be supplied and offercontent " +
		"must contain autopilotSettings for migration of autoscale collection to manual throughput"},
		func(d *testAPI, _ answer) answer {
			c := d.do("POST", "/dbs/d/colls", `{"id":"auto",`+pk+`}`, "x-ms-cosmos-offer-autopilot-settings",
				`{"maxThroughput":4000}`).want(201)
			return putOffer(`,"content":{"offerThroughput":400}`)(d, c)
		}},
	{refusal{400, 0, "BadRequest", "An offer cannot be migrated to autopilot and to manual throughput at once"},
		putOffer(`,"content":{}`, "x-ms-cosmos-migrate-offer-to-autopilot", "true",
			"x-ms-cosmos-migrate-offer-to-manual-throughput", "true")},
	{refusal{400, 0, "BadRequest", "The required field Content is missing in Offer version v2"}, putOffer(``)},
	{refusal{400, 0, "BadRequest", "Failed to parse the value '…' as ResourceId"}, get("/offers/x")},
	{refusal{400, 0, "BadRequest", "Partition key … is invalid"}, get(documents+"/1", key, "a")},
	{refusal{400, 0, "BadRequest", "PartitionKey value must be supplied for this operation"}, bare("DELETE",
		collection+"/conflicts/x")},
	{refusal{400, 0, "BadRequest", "x-ms-documentdb-partitionkeyrangeid header contains invalid value '…'"},
		get(documents, "x-ms-documentdb-partitionkeyrangeid", "AQAAAIAAAAE=,0,1")},
	{refusal{410, 1002, "Gone", "PartitionKeyRange with id '…' in collection '…' doesn't exist"},
		get(documents, "x-ms-documentdb-partitionkeyrangeid", "7")},
	{refusal{400, 0, "BadRequest", "Invalid Continuation Token"}, get(documents, "x-ms-continuation", "x")},
	{refusal{400, 0, "BadRequest", "The input PageSize … is invalid"}, get(documents, "x-ms-max-item-count", "-2")},
	{refusal{400, 0, "BadRequest", "Value '…' specified for the header '…' is invalid"}, get(documents,
		"x-ms-max-item-count", "many")},
	{refusal{400, 0, "BadRequest", "Invalid value … passed for enum …"}, get(documents, "x-ms-indexing-directive",
		"Never")},
	{refusal{400, 0, "BadRequest",
		"ConsistencyLevel … specified in the request is invalid when service is configured with consistency level …"},
		get(documents, "x-ms-consistency-level", "Strong")},
	{refusal{400, 0, "BadRequest", "Batch request has more operations than what is supported"},
		post(documents, "["+strings.Repeat(`{"operationType":"Read","id":"1"},`, 100)+
			`{"operationType":"Read","id":"1"}]`, "x-ms-cosmos-is-batch-request", "True")},
	{refusal{400, 0, "BadRequest", "The number of patch operations can't exceed '…'"},
		send("PATCH", documents+"/1", "["+strings.Repeat(`{"op":"set","path":"/a","value":1},`, 10)+
			`{"op":"set","path":"/a","value":1}]`)},
	{refusal{400, 0, "BadRequest", "For Operation(…): …"}, send("PATCH", documents+
		"/1", `[{"op":"remove","path":"/none"}]`)},
	{refusal{400, 0, "BadRequest", "Cross partition query is required but disabled"}, crossing("SELECT * FROM c")},
	{refusal{400, 1004, "BadRequest", "The provided cross partition query can not be directly served by the gateway"},
		strictly("SELECT * FROM c ORDER BY c.n")},
	{refusal{400, 0, "BadRequest", "Cross partition query only supports 'VALUE <AggregateFunc>' for aggregates"},
		strictly("SELECT COUNT(1) FROM c")},
	{refusal{400, 0, "BadRequest", "Query contains 1 or more unsupported features"},
		crossing("SELECT VALUE COUNT(1) FROM c", "x-ms-cosmos-is-query-plan-request", "True")},
	{refusal{400, 0, "BadRequest",
		"Parameter names should be in the format of symbol '@' followed by a valid identifier"},
		post(documents, `{"query":"SELECT 1","parameters":[{"name":"p","value":1}]}`, "x-ms-documentdb-isquery",
			"True")},
	{refusal{400, 0, "BadRequest", "Specified duplicate parameter name '…'"},
		post(documents, `{"query":"SELECT 1","parameters":[{"name":"@p","value":1},{"name":"@p","value":1}]}`,
			"x-ms-documentdb-isquery", "True")},
	{refusal{400, 4001, "BadRequest",
		"The response content contains a numeric value that cannot be represented in JSON (e.g. Infinity and NaN)"},
		asking("SELECT 1/0 AS x")},
	{refusal{400, 1001, "BadRequest", "The partition key supplied in x-ms-partitionkey header has fewer components " +
		"than defined in the the collection"}, bare("GET", documents+"/1")},
	{refusal{400, 1001, "BadRequest", "The partition key supplied in x-ms-partitionkey header has more components " +
		"than defined in the the collection"}, get(documents+"/1", key, `["a","b"]`)},
	{refusal{400, 1001, "BadRequest",
		"PartitionKey extracted from document doesn't match the one specified in the header"}, post(documents,
		`{"id":"2","pk":"b"}`)},
	{refusal{400, 1024, "BadRequest",
		"Collection rid '…' in the request header does not match the rid '…' of the container"}, get(documents+"/1",
		"x-ms-cosmos-intended-collection-rid", "AQAAAIAAAAI=")},
	{refusal{400, 0, "BadRequest", "Encountered exception while compiling Javascript"}, post(collection+
		"/sprocs", `{"id":"s","body":"function ("}`)},
	{refusal{400, 0, "BadRequest", "Encountered exception while executing Javascript"}, func(d *testAPI,
		_ answer) answer {
		return d.run(`() => { throw "no" }`, `[]`)
	}},
	{refusal{400, 0, "BadRequest", "Trigger '…' specified in the request does not exist in the container"},
		post(documents, `{"id":"2","pk":"a"}`, "x-ms-documentdb-pre-trigger-include", "none")},
	{refusal{400, 0, "BadRequest",
		"Trigger '…' was defined with operation type '…', and therefore is invalid for '…'"}, func(d *testAPI,
		_ answer) answer {
		d.script("triggers", "t", `() => 1`, `,"triggerType":"Pre","triggerOperation":"Delete"`)
		return post(documents, `{"id":"2","pk":"a"}`, "x-ms-documentdb-pre-trigger-include", "t")(d, answer{})
	}},
	{refusal{400, 0, "BadRequest", "The resource of a permission is invalid"}, post("/dbs/d/users/u/permissions",
		`{"id":"q","permissionMode":"All","resource":"dbs/d/colls"}`)},
	{refusal{401, 0, "Unauthorized", "Required Header authorization is missing"}, func(d *testAPI,
		_ answer) answer {
		return d.send(newRequest("GET", "/dbs", ""))
	}},
	{refusal{401, 0, "Unauthorized", "Authorization header doesn't confirm to the required format"}, get("/dbs",
		"Authorization", "x")},
	{refusal{401, 0, "Unauthorized", "Authorization token mandates Date headers"}, get("/dbs", "Authorization",
		unsigned)},
	{refusal{401, 0, "Unauthorized", "The input date header is invalid format"}, get("/dbs", "x-ms-date", "yesterday")},
	{refusal{401, 0, "Unauthorized", "The input authorization token can't serve the request"}, func(d *testAPI,
		_ answer) answer {
		return get("/dbs", "Authorization", unsigned, "x-ms-date", time.Now().UTC().Format(http.TimeFormat))(d,
			answer{})
	}},
	{refusal{403, 0, "Forbidden", "The authorization token is not valid at the current time"}, get("/dbs",
		"x-ms-date", "Thu, 27 Apr 2017 00:51:12 GMT")},
	{refusal{403, 0, "Forbidden", "The host name '…' is not one of this server's names"}, func(d *testAPI,
		_ answer) answer {
		d.api.allowHost = func(host string) bool { return host == "localhost" }
		return d.do("GET", documents, "")
	}},
	{refusal{403, 0, "Forbidden",
		"Insufficient permissions provided in the authorization header for the corresponding request"},
		func(d *testAPI, _ answer) answer {
			return d.as(permitted(d).str("_token"), "DELETE", collection, "")
		}},
	{refusal{403, 0, "Forbidden",
		"The permission behind the resource token was replaced or deleted, or its resource is gone"}, func(d *testAPI,
		_ answer) answer {
		p := permitted(d)
		d.do("DELETE", "/"+p.str("_self"), "").want(204)
		return d.as(p.str("_token"), "GET", collection, "")
	}},
	{refusal{403, 0, "Forbidden", "The unique index cannot be modified"}, send("PUT", collection, `{"id":"c",`+pk2+
		`}`)},
	{refusal{404, 0, "NotFound", "Resource Not Found"}, get("/dbs/none")},
	{refusal{404, 1003, "NotFound", "Resource Not Found"}, get("/dbs/d/colls/none/docs/1")},
	{refusal{404, 0, "NotFound", "Entity with the specified id does not exist in the system"},
		get(documents + "/none")},
	{refusal{405, 0, "MethodNotAllowed", "The requested verb is not supported"}, send("PATCH", "/dbs", "")},
	{refusal{409, 0, "Conflict", "Entity with the specified id already exists in the system"}, post(documents,
		`{"id":"1","pk":"a","u":2}`)},
	{refusal{409, 0, "Conflict", "Entity with the specified id already exists in the system"}, post(documents,
		`{"id":"2","pk":"a","u":1}`)},
	{refusal{409, 0, "Conflict", "Resource with specified id or name already exists"}, post("/dbs", `{"id":"d"}`)},
	{refusal{409, 0, "Conflict", "The user already has a permission for this resource"}, func(d *testAPI,
		_ answer) answer {
		permitted(d)
		return post("/dbs/d/users/u/permissions", `{"id":"q","permissionMode":"All","resource":"dbs/d/colls/c"}`)(d,
			answer{})
	}},
	{refusal{412, 0, "PreconditionFailed", "One of the specified pre-condition is not met"}, send("PUT", documents+
		"/1", `{"id":"1","pk":"a"}`, "If-Match", `"00000009-0000-0100-0000-695735a50000"`)},
	{refusal{412, 1110, "PreconditionFailed", "One of the specified pre-condition is not met"},
		send("PATCH", documents+"/1",
			`{"condition":"from c where c.n = 5","operations":[{"op":"set","path":"/a","value":1}]}`)},
	{refusal{413, 0, "RequestEntityTooLarge", "Request size is too large"}, post(documents, `{"id":"2","pk":"a","t":"`+
		strings.Repeat("x", 2<<20)+`"}`)},
	{refusal{500, 0, "InternalServerError", "An internal error occurred"}, func(d *testAPI, _ answer) answer {
		return answering(d.t.(*testing.T), d, func(*exchange) (int, error) { panic("a defect") })
	}},
}

// unsigned are credentials with an empty signature.
var unsigned = url.QueryEscape("type=master&ver=1.0&sig=" + base64.StdEncoding.EncodeToString(make([]byte, 32)))

type provoke = func(d *testAPI, c answer) answer

func send(method, target, body string, headers ...string) provoke {
	if !slices.Contains(headers, key) {
		headers = append([]string{key, inA}, headers...)
	}
	return func(d *testAPI, _ answer) answer { return d.do(method, target, body, headers...) }
}

func get(target string, headers ...string) provoke { return send("GET", target, "", headers...) }
func post(target, body string, headers ...string) provoke {
	return send("POST", target, body, headers...)
}

// bare sends no partition key.
func bare(method, target string) provoke {
	return func(d *testAPI, _ answer) answer { return d.do(method, target, "") }
}

func putOffer(content string, headers ...string) provoke {
	return func(d *testAPI, c answer) answer {
		target, body := offerBody(d, c, content)
		return d.do("PUT", target, body, headers...)
	}
}

// crossing sends a query to all partitions, asking to one.
func crossing(query string, headers ...string) provoke {
	return func(d *testAPI, _ answer) answer {
		return d.do("POST", documents, `{"query":`+strconv.Quote(query)+
			`}`, append(headers, "x-ms-documentdb-isquery", "True")...)
	}
}

func asking(query string) provoke {
	return post(documents, `{"query":`+strconv.Quote(query)+`}`, "x-ms-documentdb-isquery", "True")
}

// strictly sends a query to an API that leaves merging to clients.
func strictly(query string) provoke {
	return func(d *testAPI, c answer) answer {
		d.api.strict = true
		return crossing(query, "x-ms-documentdb-query-enablecrosspartition", "True")(d, c)
	}
}

func permitted(d *testAPI) answer {
	return d.do("POST", "/dbs/d/users/u/permissions",
		`{"id":"p","permissionMode":"Read","resource":"dbs/d/colls/c"}`).want(201)
}

func TestErrorsAreThoseOfThePage(t *testing.T) {
	var listed []refusal
	for _, row := range errorTables(t)["status"] {
		status, err := strconv.Atoi(row[0])
		must(t, err)
		substatus, err := strconv.Atoi(row[1])
		must(t, err)
		listed = append(listed, refusal{status, substatus, row[2], row[3]})
		if len(row) != 6 || row[4] == "" || row[5] == "" {
			t.Errorf("%s: the row of %q is not complete", errorPage, row[3])
		}
	}
	for _, c := range provocations {
		t.Run(fmt.Sprint(c.status, " ", c.text), func(t *testing.T) {
			if !slices.Contains(listed, c.refusal) {
				t.Errorf("%s does not list it", errorPage)
			}
			d, made := withContainer(t, `,"defaultTtl":-1,"uniqueKeyPolicy":{"uniqueKeys":[{"paths":["/u"]}]}`)
			d.do("POST", documents, `{"id":"1","pk":"a","u":1}`, key, inA).want(201)
			d.do("POST", "/dbs/d/users", `{"id":"u"}`).want(201)
			a := c.do(d, made).want(c.status)
			substatus := a.header.Get("x-ms-substatus")
			if substatus == "" {
				substatus = "0"
			}
			if substatus != strconv.Itoa(c.substatus) || a.str("code") != c.code {
				t.Errorf("substatus %s, code %s", substatus, a.str("code"))
			}
			text := strings.NewReplacer(`\"`, `"`, `\\`, `\`).Replace(a.str("message"))
			if begin, _, _ := strings.Cut(text,
				"\r\n"); !regexp.MustCompile(
				`^(Message: \{"Errors":\["|\{"errors":\[\{"severity":"Error","message":")?` + pattern(c.text).String(),
			).MatchString(begin) {
				t.Errorf("the message is %q", text)
			}
		})
	}
	for _, row := range listed {
		if !slices.ContainsFunc(provocations, func(c struct {
			refusal
			do func(d *testAPI, c answer) answer
		}) bool {
			return c.refusal == row
		}) {
			t.Errorf("nothing provokes the row of %d/%d %q", row.status, row.substatus, row.text)
		}
	}
}

// mistaken are queries with the mistakes of the page's second table.
var mistaken = []struct{ code, text, query string }{
	{"SC1001", "Syntax error, incorrect syntax near '…'.", "SELECT FROM WHERE"},
	{"SC1002", "Syntax error, unexpected end-of-file.", ""},
	{"SC1010", "Syntax error, invalid token '…'.", "SELECT 1;"},
	{"SC1012", "Syntax error, invalid string literal token '…'.", "SELECT 'a"},
	{"SC1021", "Syntax error, 'SELECT *' is not valid if FROM clause is omitted.", "SELECT *"},
	{"SC1030", "The query …, which is the limit.", "SELECT " + strings.Repeat("NOT ", 300) + "true"},
	{"SC2001", "Identifier '…' could not be resolved.", "SELECT x.a FROM c"},
	{"SC2003", "'udf.…' is not a recognized function name.", "SELECT udf.none(1)"},
	{"SC2005", "'…' is not a recognized built-in function name.", "SELECT NOSUCH(1)"},
	{"SC2021", "The input alias '…' is specified more than once in the FROM clause.", "SELECT 1 FROM c JOIN c IN c.a"},
	{"SC2022", "The property name '…' is specified more than once in the SELECT clause.", "SELECT 1 AS a, 2 AS a"},
	{"SC2040", "'SELECT *' is only valid with a single input set.", "SELECT * FROM c JOIN t IN c.a"},
	{"SC2041", "'SELECT *' is not allowed with GROUP BY.", "SELECT * FROM c GROUP BY c.a"},
	{"SC2050", "The … function requires … argument(s).", "SELECT ABS(1, 2)"},
	{"SC2101", "Cannot perform an aggregate function on an expression containing an aggregate or a subquery.",
		"SELECT VALUE SUM(COUNT(1)) FROM c"},
	{"SC2102", "Property reference '…' is invalid in the … because it is not contained in either an aggregate " +
		"function or the GROUP BY clause.", "SELECT c.b FROM c GROUP BY c.a"},
	{"SC2103", "Aggregate function '…' is not allowed in ….", "SELECT 1 FROM c WHERE COUNT(1) > 1"},
	{"SC2110", "Each expression of the GROUP BY clause must contain at least one property reference.",
		"SELECT 1 FROM c GROUP BY 1"},
	{"SC2111", "A subquery is not allowed in the GROUP BY clause.", "SELECT 1 FROM c GROUP BY (SELECT VALUE c.a)"},
	{"SC2120", "'ORDER BY' is not supported in presence of GROUP BY.", "SELECT c.a FROM c GROUP BY c.a ORDER BY c.a"},
	{"SC2202", "'ORDER BY' is not supported in subqueries.",
		"SELECT ARRAY(SELECT VALUE t FROM t IN c.a ORDER BY t) FROM c"},
	{"SC2203", "'TOP' is not supported in subqueries.", "SELECT ARRAY(SELECT TOP 1 VALUE t FROM t IN c.a) FROM c"},
	{"SC2204", "'OFFSET LIMIT' clause is not supported in subqueries.",
		"SELECT ARRAY(SELECT VALUE t FROM t IN c.a OFFSET 0 LIMIT 1) FROM c"},
	{"SC2205", "'TOP' cannot be used together with an 'OFFSET LIMIT' clause.",
		"SELECT TOP 1 c.a FROM c OFFSET 0 LIMIT 1"},
	{"SC2206", "Unsupported ORDER BY clause. ORDER BY item expression could not be mapped to a document path.",
		"SELECT * FROM c ORDER BY c.a + 1"},
	{"", "The order by query does not have a corresponding composite index that it can be served from.",
		"SELECT * FROM c ORDER BY c.a, c.b"},
	{"", "The index path corresponding to the specified order-by item is excluded.",
		"SELECT * FROM c ORDER BY c.hidden"},
}

func TestMistakesAreThoseOfThePage(t *testing.T) {
	var listed [][2]string
	for _, row := range errorTables(t)["SC code"] {
		listed = append(listed, [2]string{row[0], row[1]})
	}
	d, _ := withContainer(t, `,"indexingPolicy":{"excludedPaths":[{"path":"/hidden/?"}]}`)
	for _, c := range mistaken {
		t.Run(c.query, func(t *testing.T) {
			d.t = t
			if !slices.Contains(listed, [2]string{c.code, c.text}) {
				t.Errorf("%s does not list it", errorPage)
			}
			a := asking(c.query)(d, answer{}).want(400)
			message := a.str("message")
			if c.code != "" && !strings.Contains(message, `"code":"`+c.code+`"`) ||
				!pattern(c.text).MatchString(message) {
				t.Errorf("the message is %q", message)
			}
		})
	}
	for _, row := range listed {
		if !slices.ContainsFunc(mistaken, func(c struct{ code, text, query string }) bool {
			return c.code == row[0] &&
				c.text == row[1]
		}) {
			t.Errorf("no query has the mistake %s %q", row[0], row[1])
		}
	}
}
