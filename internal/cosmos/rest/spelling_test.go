package rest

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/textproto"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mayflydb/mayfly/internal/budget"
)

// The source of a spelling. Recordings of a hosted account that went through Go's client do not show it, because that
// client changes names.
const (
	sample = "samples of the REST reference, learn.microsoft.com/rest/api/cosmos-db: create-an-attachment, " +
		"replace-a-permission, querying-offers"
	metrics   = "the recorded answer in learn.microsoft.com/azure/cosmos-db/sql-api-query-metrics"
	constants = "Azure/azure-cosmos-dotnet-v3: Microsoft.Azure.Cosmos/src/direct/HttpConstants.cs, shared with the " +
		"service"
	python = "Azure/azure-sdk-for-python: sdk/cosmos/azure-cosmos/azure/cosmos/http_constants.py"
	ours   = "mayfly's own, in the service's style"
)

// spellings lists every header that the API writes, byte for byte, and the source of its spelling.
var spellings = map[string]string{
	"Access-Control-Allow-Headers":        constants,
	"Access-Control-Allow-Methods":        constants,
	"Access-Control-Allow-Origin":         constants,
	"Access-Control-Expose-Headers":       constants,
	"Access-Control-Max-Age":              constants,
	"Vary":                                "RFC 9110, as the other standard headers are written",
	"Connection":                          constants,
	"Content-Length":                      sample,
	"Content-Type":                        sample,
	"Date":                                sample,
	"etag":                                sample,
	"lsn":                                 python,
	"x-ms-activity-id":                    sample,
	"x-ms-alt-content-path":               sample,
	"x-ms-content-path":                   sample,
	"x-ms-continuation":                   metrics,
	"x-ms-cosmos-index-utilization":       constants,
	"x-ms-cosmos-min-throughput":          constants,
	"x-ms-databaseaccount-consumed-mb":    constants,
	"x-ms-databaseaccount-provisioned-mb": constants,
	"x-ms-databaseaccount-reserved-mb":    constants,
	"x-ms-documentdb-collection-index-transformation-progress": constants,
	"x-ms-documentdb-partitionkeyrangeid":                      constants,
	"x-ms-documentdb-query-metrics":                            metrics,
	"x-ms-documentdb-script-log-results":                       constants,
	"x-ms-gatewayversion":                                      sample,
	"x-ms-item-count":                                          sample,
	"x-ms-max-media-storage-usage-mb":                          sample,
	"x-ms-media-storage-usage-mb":                              sample,
	"x-ms-offer-replace-pending":                               constants,
	"x-ms-request-charge":                                      sample,
	"x-ms-request-duration-ms":                                 python,
	"x-ms-resource-quota":                                      sample,
	"x-ms-resource-usage":                                      sample,
	"x-ms-retry-after-ms":                                      constants,
	"x-ms-schemaversion":                                       sample,
	"x-ms-serviceversion":                                      sample,
	"x-ms-session-token":                                       sample,
	"x-ms-substatus":                                           constants,
	"x-mayfly-expires-at":                                      ours,
	"x-mayfly-hint":                                            ours,
	"x-mayfly-instance":                                        ours,
	"x-mayfly-partitions":                                      ours,
	"x-mayfly-ttl-effect":                                      ours,

	// Of the certificate at /_mayfly/ca.pem and its errors, which no SDK reads.
	"X-Content-Type-Options": "net/http",
}

// A line is one client's connection, read as bytes: net/http's own client alters the
// names of headers.
type line struct {
	t    *testing.T
	conn net.Conn
	in   *bufio.Reader
	seen map[string]bool
}

func newLine(t *testing.T, address string) *line {
	t.Helper()
	c, err := net.Dial("tcp", address)
	must(t, err)
	t.Cleanup(func() { c.Close() })
	return &line{t, c, bufio.NewReader(c), map[string]bool{}}
}

// do sends a signed request with pairs of header names and values, and returns the answer's status and headers.
func (l *line) do(method, target, body string, headers ...string) (status int, got map[string]string) {
	l.t.Helper()
	r := newRequest(method, target, body, headers...)
	signRequest(r)
	return l.send(r, target, body)
}

// signed is do for a request whose signature is for that resource type and link.
func (l *line) signed(method, target, body, kind, link string, headers ...string) (status int) {
	l.t.Helper()
	r := newRequest(method, "/", body, headers...)
	signLink(r, kind, link)
	status, _ = l.send(r, target, body)
	return status
}

func (l *line) send(r *http.Request, target, body string) (status int, got map[string]string) {
	l.t.Helper()
	fmt.Fprintf(l.conn, "%s %s HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n", r.Method, target, len(body))
	must(l.t, r.Header.Write(l.conn))
	io.WriteString(l.conn, "\r\n"+body)
	return l.answer()
}

func (l *line) answer() (status int, got map[string]string) {
	l.t.Helper()
	text := textproto.NewReader(l.in)
	first, err := text.ReadLine()
	must(l.t, err)
	status, err = strconv.Atoi(strings.Fields(first)[1])
	must(l.t, err)
	got = map[string]string{}
	for {
		row, err := text.ReadLine()
		must(l.t, err)
		if row == "" {
			break
		}
		name, value, _ := strings.Cut(row, ": ")
		if _, twice := got[name]; twice {
			l.t.Errorf("%s is sent twice", name)
		}
		got[name], l.seen[name] = value, true
	}
	length, err := strconv.Atoi(got["Content-Length"])
	if status != 204 && status != 304 {
		must(l.t, err)
		_, err = io.CopyN(io.Discard, l.in, int64(length))
		must(l.t, err)
	}
	return status, got
}

// Every header of every route is written as the service writes it: clients look names up in
// plain dictionaries.
func TestHeadersAreSpelledAsTheServiceSpellsThem(t *testing.T) {
	short := budget.New(budget.Options{Memory: 16 << 20, Patience: 50 * time.Millisecond})
	d := newTestAPI(t, func(o *Options) {
		o.CA = func() []byte { return []byte("PEM") }
		o.Origins = []string{page}
		o.Budget = short
	})
	server := httptest.NewServer(d.api)
	defer server.Close()
	l := newLine(t, server.Listener.Addr().String())

	const coll, item = "/dbs/d/colls/c", "/dbs/d/colls/c/docs/i"
	const container = `{"id":"c","defaultTtl":-1,"partitionKey":{"paths":["/pk"],"kind":"Hash","version":2}}`
	const all = `{"query":"SELECT * FROM c"}`
	const permission = `{"id":"p","permissionMode":"All","resource":"dbs/d"}`
	key := []string{"x-ms-documentdb-partitionkey", `["a"]`}
	with := func(more ...string) []string { return append(slices.Clone(key), more...) }
	query := []string{"x-ms-documentdb-isquery", "true", "x-ms-documentdb-query-enablecrosspartition", "true"}
	const script = `{"id":"s","body":"function ` +
		`s(){console.log('x');getContext().getResponse().setBody(1)}","triggerType":"Pre","triggerOperation":"All"}`
	took := map[string]bool{}
	step := func(status int, method, target, body string, headers ...string) map[string]string {
		t.Helper()
		got, header := l.do(method, target, body, headers...)
		if got != status {
			t.Errorf("%s %s is %d, want %d", method, target, got, status)
		}
		e := &exchange{Request: newRequest(method, target, "")}
		if e.find() == nil {
			took[e.route.method+" "+e.route.pattern] = true
		}
		for name := range header {
			if spellings[name] == "" {
				t.Errorf("%s %s (%d): the header %q is not among the spellings", method, target, got, name)
			}
		}
		return header
	}

	step(200, "GET", "/", "")
	step(201, "POST", "/dbs", `{"id":"d"}`, "x-ms-offer-throughput", "400")
	step(409, "POST", "/dbs", `{"id":"d"}`)
	step(200, "GET", "/dbs", "")
	etag := step(200, "GET", "/dbs/d", "")["etag"]
	step(304, "GET", "/dbs/d", "", "If-None-Match", etag)
	step(201, "POST", "/dbs/d/colls", container)
	step(200, "GET", "/dbs/d/colls", "")
	step(200, "GET", coll, "", "x-ms-documentdb-populatequotainfo", "true")
	step(200, "PUT", coll, strings.Replace(container, "-1", "60", 1)) // the lifetime changes
	step(200, "PUT", coll, container)
	step(200, "GET", coll+"/conflicts", "")
	step(200, "POST", coll+"/conflicts", all, query...)
	step(404, "GET", coll+"/conflicts/x", "")
	step(404, "DELETE", coll+"/conflicts/x", "", key...)
	step(200, "GET", coll+"/pkranges", "")
	step(200, "POST", coll+"/pkranges", all, query...)

	step(201, "POST", coll+"/docs", `{"id":"i","pk":"a","ttl":2000000000}`, key...)
	step(201, "POST", coll+"/docs", `{"id":"j","pk":"a"}`, key...)
	step(200, "GET", coll+"/docs", "", "x-ms-max-item-count", "1")
	step(200, "GET", coll+"/docs", "", "A-IM", "Incremental Feed")
	step(200, "POST", coll+"/docs", all, append(query, "x-ms-documentdb-populatequerymetrics", "true",
		"x-ms-cosmos-populateindexmetrics", "true")...)
	step(200, "POST", coll+"/docs", `[{"operationType":"Read","id":"i"}]`, with("x-ms-cosmos-is-batch-request",
		"true", "x-ms-cosmos-batch-atomic", "true")...)
	step(200, "GET", item, "", key...)
	step(200, "PUT", item, `{"id":"i","pk":"a"}`, key...)
	step(200, "PATCH", item, `[{"op":"set","path":"/n","value":1}]`, key...)
	step(412, "PUT", item, `{"id":"i","pk":"a"}`, with("If-Match", `"x"`)...)
	step(400, "GET", item, "", "x-ms-documentdb-partitionkey", `["a","b"]`)
	step(204, "DELETE", item, "", key...)
	step(404, "GET", item, "", key...)
	step(200, "POST", coll+"/operations/partitionkeydelete", "", key...)
	for _, kind := range []string{"sprocs", "triggers", "udfs"} {
		step(201, "POST", coll+"/"+kind, script)
		step(200, "GET", coll+"/"+kind, "")
		step(200, "GET", coll+"/"+kind+"/s", "")
		step(200, "PUT", coll+"/"+kind+"/s", script)
	}
	step(200, "POST", coll+"/sprocs/s", `[]`, with("x-ms-documentdb-script-enable-logging", "true")...)
	for _, kind := range []string{"sprocs", "triggers", "udfs"} {
		step(204, "DELETE", coll+"/"+kind+"/s", "")
	}

	step(201, "POST", "/dbs/d/users", `{"id":"u"}`)
	step(200, "GET", "/dbs/d/users", "")
	step(200, "GET", "/dbs/d/users/u", "")
	step(200, "PUT", "/dbs/d/users/u", `{"id":"u"}`)
	step(201, "POST", "/dbs/d/users/u/permissions", permission)
	step(200, "GET", "/dbs/d/users/u/permissions", "")
	step(200, "GET", "/dbs/d/users/u/permissions/p", "")
	step(200, "PUT", "/dbs/d/users/u/permissions/p", permission)
	step(204, "DELETE", "/dbs/d/users/u/permissions/p", "")
	step(204, "DELETE", "/dbs/d/users/u", "")

	step(200, "GET", "/offers", "")
	step(200, "POST", "/offers", all, query...)
	offer := d.do("GET", "/offers", "")
	row := offer.rows("Offers")[0].(map[string]any)
	step(200, "GET", "/offers/"+row["id"].(string), "")
	step(200, "PUT", "/offers/"+row["id"].(string),
		fmt.Sprintf(`{"id":%[1]q,"_rid":%[1]q,"content":{"offerThroughput":500}}`, row["id"]))
	give := takeAll(t, short)
	step(429, "PUT", item, `{"id":"i","pk":"a","x":"`+strings.Repeat("y", 60_000)+`"}`, key...)
	give()
	step(204, "DELETE", coll, "")
	step(204, "DELETE", "/dbs/d", "")

	step(204, "OPTIONS", "/dbs", "", "Origin", page, "Access-Control-Request-Method", "GET",
		"Access-Control-Request-Headers", "x-ms-date")
	step(403, "OPTIONS", "/dbs", "", "Origin", page+"x", "Access-Control-Request-Method", "GET")
	step(200, "GET", "/dbs", "", "Origin", page)
	step(400, "GET", "/addresses/", "")
	step(400, "GET", "/nowhere", "")
	step(405, "PUT", "/dbs", "")
	step(404, "GET", "/dbs/d", "")
	step(404, "GET", "/dbs/d/colls", "")
	step(401, "GET", "/dbs", "", "x-ms-date", "yesterday")
	step(200, "GET", "/_mayfly/ca.pem", "")
	step(404, "GET", "/_mayfly/", "")
	step(405, "POST", "/_mayfly/ca.pem", "")
	fmt.Fprint(l.conn, "POST /dbs HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nConnection: close\r\n\r\nnope")
	l.answer()

	for _, r := range table {
		if !took[r.method+" "+r.pattern] {
			t.Errorf("the test asks nothing of %s %s", r.method, r.pattern)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(spellings)) {
		if !l.seen[name] {
			t.Errorf("no answer has the header %q", name)
		}
	}
	for _, name := range headerNames(t, "answerHeader") {
		if spellings[name] == "" {
			t.Errorf("the spellings lack %q", name)
		}
	}
}
