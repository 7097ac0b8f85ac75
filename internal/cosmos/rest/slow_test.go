package rest

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mayflydb/mayfly/internal/slow"
)

// A tally counts requests as a Meter.
type tally struct {
	mu   sync.Mutex
	seen map[string]int
}

func (m *tally) Operation(name string, label func(int) string) func(int, time.Duration) {
	return func(status int, _ time.Duration) {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.seen[name+" "+label(status)]++
	}
}
func (m *tally) Hint(string)            {}
func (m *tally) ExpiredByPolicy(uint64) {}

// TestMeterNamesOperations sends each kind of request, and some without a route.
func TestMeterNamesOperations(t *testing.T) {
	m := &tally{seen: map[string]int{}}
	d, _ := withContainer(t, "", func(o *Options) { o.Meter = m })
	for _, c := range []struct {
		want, method, path, body string
		header                   []string
	}{
		{"CreateDocument 201", "POST", documents, `{"id":"a","pk":"a"}`, nil},
		{"UpsertDocument 200", "POST", documents, `{"id":"a","pk":"a"}`, []string{"x-ms-documentdb-is-upsert", "true"}},
		{"CreateDocument 409", "POST", documents, `{"id":"a","pk":"a"}`, nil},
		{"ReadDocument 200", "GET", documents + "/a", "", nil},
		{"ReadDocument 404", "GET", documents + "/b", "", nil},
		{"ReplaceDocument 200", "PUT", documents + "/a", `{"id":"a","pk":"a"}`, nil},
		{"PatchDocument 200", "PATCH", documents + "/a", `{"operations":[{"op":"add","path":"/n","value":1}]}`, nil},
		{"QueryDocument 200", "POST", documents, `{"query":"SELECT * FROM c"}`, []string{"Content-Type",
			"application/query+json", "x-ms-documentdb-isquery", "true"}},
		{"ReadFeedDocument 200", "GET", documents, "", nil},
		{"BatchDocument 200", "POST", documents, `[{"operationType":"Read","id":"a"}]`,
			[]string{"x-ms-cosmos-is-batch-request", "true", "x-ms-cosmos-batch-atomic", "true"}},
		{"DeleteDocument 204", "DELETE", documents + "/a", "", nil},
		{"ReadCollection 200", "GET", "/dbs/d/colls/c", "", nil},
		{"ReadFeedDatabase 200", "GET", "/dbs", "", nil},
		{"ReadFeedPartitionKeyRange 200", "GET", "/dbs/d/colls/c/pkranges", "", nil},
		{"ReadDatabaseAccount 200", "GET", "/", "", nil},
		{"DeletePartitionKey 200", "POST", "/dbs/d/colls/c/operations/partitionkeydelete", "", nil},
		{"Unknown 405", "PUT", "/dbs", "", nil},
		{"Unknown 400", "GET", "/nowhere/at/all", "", nil},
	} {
		m.seen = map[string]int{}
		d.do(c.method, c.path, c.body, append([]string{key, inA}, c.header...)...)
		if len(m.seen) != 1 || m.seen[c.want] != 1 {
			t.Errorf("%s %s is counted as %v, want %s", c.method, c.path, m.seen, c.want)
		}
	}
}

// TestSlowRequestsTellNoValues logs every request as slow, and looks for values that clients have sent.
func TestSlowRequestsTellNoValues(t *testing.T) {
	var log bytes.Buffer
	kept := slow.New(1)
	d, _ := withContainer(t, "", func(o *Options) {
		o.Slow = kept
		o.Logger = slog.New(slog.NewTextHandler(&log, nil))
	})
	d.do("POST", documents, `{"id":"secret-1","pk":"a","n":77777}`, key, inA).want(201)
	query := []string{"Content-Type", "application/query+json", "x-ms-documentdb-isquery", "true", key, inA}
	for _, text := range []string{
		`{"query":"SELECT TOP 77777 c.n FROM c WHERE c.name = 'secret-2' AND c.n > 77777 AND c.x IN ('secret-3',` +
			` 77777)"}`,
		`{"query":"SELECT * FROM c WHERE c.name = @p ORDER BY c.n OFFSET 77777 LIMIT ` +
			`77777","parameters":[{"name":"@p","value":"secret-4"}]}`,
		`{"query":"SELECT VALUE {a: 'secret-5', b: [77777, true]} FROM c JOIN x IN c.tags WHERE CONTAINS(x,` +
			` 'secret-6') OR c.id = 'secret-1'"}`,
		`{"query":"SELECT * FROM c WHERE c.name LIKE 'secret-7%' AND c._ts BETWEEN 77777 AND 777777"}`,
	} {
		d.do("POST", documents, text, query...).want(200)
	}
	d.do("GET", documents+"/secret-1", "", key, inA).want(200)
	for _, r := range kept.List(100) {
		fmt.Fprintf(&log, "%s %s/%s %s: %s; %s\n", r.API, r.Database, r.Container, r.Operation, r.Query, r.Plan)
	}
	text := log.String()
	for _, no := range []string{"secret", "77777"} {
		if strings.Contains(text, no) {
			t.Errorf("the log tells %q:\n%s", no, text)
		}
	}
	for _, want := range []string{
		`level=INFO msg="slow request" api=nosql operation=CreateDocument path=/dbs/d/colls/c/docs status=201 duration=`,
		`operation=ReadDocument path=/dbs/d/colls/c/docs/* status=200`,
		`plan="partition ?; index /name/? = ? and /n/? above ?`, `documents=`, `returned=`, `top ?`,
		"nosql d/c QueryDocument: SELECT TOP ? c.n FROM c WHERE (((c.name = ?) AND", "nosql d/c ReadDocument: ; \n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the log lacks %q:\n%s", want, text)
		}
	}
}

// TestSlowLinesAreBounded runs a query whose plan would fill the log.
func TestSlowLinesAreBounded(t *testing.T) {
	var log bytes.Buffer
	d, _ := withContainer(t, "", func(o *Options) {
		o.Slow = slow.New(1)
		o.Logger = slog.New(slog.NewTextHandler(&log, nil))
	})
	text := `{"query":"SELECT * FROM c WHERE LOWER(c.n) IN ('x'` + strings.Repeat(", 'x'", 20_000) + `)"}`
	d.do("POST", documents, text, "Content-Type", "application/query+json", "x-ms-documentdb-isquery", "true", key,
		inA).want(200)
	if n := log.Len(); n > 2*maxPlan || !strings.Contains(log.String(), "…") {
		t.Errorf("a line of %d bytes: %.300s", n, &log)
	}
}

// TestSlowIsOff checks that nothing is logged by default, nor faster requests than the threshold.
func TestSlowIsOff(t *testing.T) {
	for _, threshold := range []time.Duration{0, time.Hour} {
		t.Run(fmt.Sprint(threshold), func(t *testing.T) {
			var log bytes.Buffer
			d, _ := withContainer(t, "", func(o *Options) {
				o.Slow = slow.New(threshold)
				o.Logger = slog.New(slog.NewTextHandler(&log, nil))
			})
			d.do("GET", documents, "", key, inA).want(200)
			if log.Len() > 0 {
				t.Errorf("logged: %s", &log)
			}
		})
	}
}
