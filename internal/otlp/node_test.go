package otlp_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	collector "go.opentelemetry.io/proto/slim/otlp/collector/trace/v1"
	wire "go.opentelemetry.io/proto/slim/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/mayflydb/mayfly/internal/clock"
	"github.com/mayflydb/mayfly/internal/kv/memory"
	"github.com/mayflydb/mayfly/internal/node"
	"github.com/mayflydb/mayfly/internal/otlp"
)

// spans collects what a node sends.
type spans struct {
	mu   sync.Mutex
	list []*wire.Span
}

func (s *spans) ServeHTTP(_ http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	var m collector.ExportTraceServiceRequest
	_ = proto.Unmarshal(body, &m)
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, of := range m.ResourceSpans {
		for _, scope := range of.ScopeSpans {
			s.list = append(s.list, scope.Spans...)
		}
	}
}

// path is the names of a span and all above it, the highest first.
func (s *spans) path(x *wire.Span) string {
	for _, above := range s.list {
		if string(above.SpanId) == string(x.ParentSpanId) && string(above.TraceId) == string(x.TraceId) {
			return s.path(above) + " > " + x.Name
		}
	}
	return x.Name
}

// paths are those of all spans of a trace; of all traces if id is empty.
func (s *spans) paths(id string) map[string]bool {
	found := map[string]bool{}
	for _, x := range s.list {
		if id == "" || hex.EncodeToString(x.TraceId) == id {
			found[s.path(x)] = true
		}
	}
	return found
}

const callers = "0af7651916cd43dd8448eb211c80319c"

func send(t *testing.T, n *node.Node, method, path, kind, link, body string, header ...string) {
	t.Helper()
	secret, err := base64.StdEncoding.DecodeString(n.Key())
	must(t, err)
	date := clock.Wall().UTC().Format(http.TimeFormat)
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte(strings.ToLower(method) + "\n" + kind + "\n" + link + "\n" + strings.ToLower(date) + "\n\n"))
	r, err := http.NewRequestWithContext(t.Context(), method, n.PlainEndpoint()+path, strings.NewReader(body))
	must(t, err)
	r.Header.Set("Authorization",
		url.QueryEscape("type=master&ver=1.0&sig="+base64.StdEncoding.EncodeToString(mac.Sum(nil))))
	r.Header.Set("x-ms-date", date)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	response, err := http.DefaultClient.Do(r)
	must(t, err)
	response.Body.Close()
	if response.StatusCode/100 != 2 {
		t.Fatalf("%s %s: %s", method, path, response.Status)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// A request is traced through the API, the store and the engine, under the trace of its client. No id and no content of
// a document is in a span.
func TestSpansOfANode(t *testing.T) {
	var got spans
	receiver := httptest.NewServer(&got)
	defer receiver.Close()
	tracer, err := otlp.New(otlp.Options{URL: receiver.URL, Ratio: 1})
	must(t, err)
	n, err := node.Start(t.Context(), node.Options{
		Engine: memory.New(), NoSQL: "127.0.0.1:0", Mongo: node.Mongo{Address: "127.0.0.1:0"}, Virtual: true,
		Tracer: tracer,
	})
	must(t, err)
	send(t, n, "POST", "dbs", "dbs", "", `{"id":"shop"}`)
	send(t, n, "POST", "dbs/shop/colls", "colls", "dbs/shop",
		`{"id":"orders","partitionKey":{"paths":["/id"]},"defaultTtl":10}`)
	const items = "dbs/shop/colls/orders"
	send(t, n, "POST", items+"/docs", "docs", items, `{"id":"sensitive-id","a":"sensitive value"}`,
		"x-ms-documentdb-partitionkey", `["sensitive-id"]`, "traceparent", "00-"+callers+"-b7ad6b7169203331-01")
	send(t, n, "GET", items+"/docs/sensitive-id", "docs", items+"/docs/sensitive-id", "",
		"x-ms-documentdb-partitionkey", `["sensitive-id"]`)
	send(t, n, "POST", items+"/docs", "docs", items, `{"query":"SELECT * FROM c WHERE c.a = 'sensitive value'"}`,
		"x-ms-documentdb-isquery", "True", "Content-Type", "application/query+json",
		"x-ms-documentdb-query-enablecrosspartition", "True")
	client, err := mongo.Connect(options.Client().ApplyURI(n.MongoURI()))
	must(t, err)
	c := client.Database("app").Collection("notes")
	_, err = c.InsertOne(t.Context(), bson.M{"_id": "sensitive-id"})
	must(t, err)
	must(t, c.FindOne(t.Context(), bson.M{"a": nil}).Err())
	must(t, client.Disconnect(t.Context()))
	_, err = n.Move(t.Context(), func(now time.Time) time.Time { return now.Add(time.Hour) })
	must(t, err)
	must(t, n.ReclaimNow(t.Context()))
	must(t, n.Close(context.Background()))
	must(t, tracer.Close(t.Context()))

	own, all := got.paths(callers), got.paths("")
	for path, where := range map[string]map[string]bool{
		"CreateDocument > store.write > engine.apply": own,
		"ReadDocument > store.read":                   all,
		"QueryDocument > store.scan":                  all,
		"insert > store.write > engine.apply":         all,
		"find > store.scan":                           all,
		"reaper.reclaim > engine.apply":               all,
	} {
		if !where[path] {
			t.Errorf("no span %q in %v", path, where)
		}
	}
	if len(own) != 3 {
		t.Errorf("the client's trace has %v", own)
	}
	if text := fmt.Sprint(got.list); strings.Contains(text, "sensitive") || !strings.Contains(text, "orders") {
		t.Errorf("spans say %s", text)
	}
}
