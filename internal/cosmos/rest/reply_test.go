package rest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/mayflydb/mayfly/internal/doc"
)

// Names of request headers are map keys: one that is not in canonical form would never be found.
func TestRequestHeaderNamesAreCanonical(t *testing.T) {
	names := headerNames(t, "requestHeader")
	for _, name := range names {
		if name != http.CanonicalHeaderKey(name) {
			t.Errorf("%q should be %q", name, http.CanonicalHeaderKey(name))
		}
	}
	if len(names) < 35 {
		t.Errorf("only %d names were found", len(names))
	}
}

// headerNames reads the constants of a type from headers.go.
func headerNames(t *testing.T, kind string) (names []string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "headers.go", nil, 0)
	must(t, err)
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if id, ok := spec.Type.(*ast.Ident); ok && id.Name == kind {
			name, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
			must(t, err)
			names = append(names, name)
		}
		return true
	})
	return names
}

func TestCommonHeaders(t *testing.T) {
	d := newTestAPI(t)
	d.do("POST", "/dbs", `{"id":"d é"}`).want(201)
	d.do("POST", "/dbs/d%20%C3%A9/colls", `{"id":"c%","partitionKey":{"paths":["/pk"]}}`).want(201)
	for _, a := range []answer{
		d.do("GET", "/", ""),
		d.do("GET", "/dbs", ""),
		d.do("GET", "/dbs/d%20%C3%A9/colls/c%25", ""),
		d.do("GET", "/dbs/x", ""),
		d.send(newRequest("GET", "/dbs", "")),
		d.send(newRequest("GET", "/nowhere", "")),
	} {
		for _, name := range []string{"x-ms-activity-id", "x-ms-session-token", "x-ms-gatewayversion",
			"x-ms-serviceversion",
			"x-ms-schemaversion", "lsn", "x-ms-request-duration-ms", "Content-Length"} {
			if a.header.Get(name) == "" {
				t.Errorf("%d has no %s", a.status, name)
			}
		}
		if ru, err := strconv.ParseFloat(a.header.Get("x-ms-request-charge"), 64); err != nil || ru <= 0 {
			t.Errorf("%d costs %s", a.status, a.header.Get("x-ms-request-charge"))
		}
		if !isGUID(a.header.Get("x-ms-activity-id")) {
			t.Errorf("the activity id is %q", a.header.Get("x-ms-activity-id"))
		}
		if a.header.Get("Content-Type") != "application/json" ||
			a.header.Get("Content-Length") != strconv.Itoa(len(a.text)) {
			t.Errorf("%d has the headers %v", a.status, a.header)
		}
	}
}

func TestActivityIDIsTheClients(t *testing.T) {
	d := newTestAPI(t)
	const mine = "0165ebcb-093c-450b-ae2e-c0f47fc4516f"
	if got := d.do("GET", "/dbs", "", "x-ms-activity-id", mine).header.Get("x-ms-activity-id"); got != mine {
		t.Errorf("got %s", got)
	}
	if got := d.do("GET", "/dbs", "", "x-ms-activity-id", "<script>").header.Get("x-ms-activity-id"); !isGUID(got) {
		t.Errorf("got %s", got)
	}
}

func TestCharges(t *testing.T) {
	small := doc.With(nil, "id", doc.String("i"))
	large := doc.With(small, "text", doc.String(strings.Repeat("x", 1000)))
	if ru := readCharge(1024); ru != 1 {
		t.Errorf("a read of 1 KB costs %v", ru)
	}
	if ru := readCharge(100 << 10); ru < 9 || ru > 11 {
		t.Errorf("a read of 100 KB costs %v", ru)
	}
	if ru := createCharge(large); ru < 5 || ru > 7 || ru <= createCharge(small) {
		t.Errorf("creating 1 KB costs %v, a few bytes %v", ru, createCharge(small))
	}
	if got := cost(4.761); got != 4.77 {
		t.Errorf("4.761 is rounded to %v", got)
	}
	if got := cost(0); got <= 0 {
		t.Errorf("nothing costs %v", got)
	}
}

func TestConsistencyLevels(t *testing.T) {
	d := newTestAPI(t)
	for level, status := range map[string]int{"Session": 200, "eventual": 200, "ConsistentPrefix": 200, "Strong": 400,
		"BoundedStaleness": 400, "Sometimes": 400} {
		d.do("GET", "/dbs", "", "x-ms-consistency-level", level).want(status)
	}
}

func TestAccount(t *testing.T) {
	a := newTestAPI(t).do("GET", "http://box:8081/", "").want(200)
	a.says(`"databaseAccountEndpoint":"http://box:8081/"`).says(`"name":"South Central US"`).
		says(`"defaultConsistencyLevel":"Session"`)
	if _, ok := a.body["queryEngineConfiguration"].(string); !ok {
		t.Error("queryEngineConfiguration is no string")
	}
	d := newTestAPI(t, func(o *Options) {
		o.Region, o.Advertise, o.Consistency = "West", "https://127.0.0.1:8081",
			"strong"
	})
	d.do("GET", "/",
		"").want(200).says(`"databaseAccountEndpoint":"https://127.0.0.1:8081/"`).says(`"name":"West"`).
		says(`"defaultConsistencyLevel":"Strong"`)
}

func TestOptionsAreChecked(t *testing.T) {
	for name, o := range map[string]Options{
		"level":       {Keys: ringOf(t, testKey), Consistency: "Maybe"},
		"advertised":  {Keys: ringOf(t, testKey), Advertise: "localhost:8081"},
		"other shema": {Keys: ringOf(t, testKey), Advertise: "ftp://x/"},
	} {
		if _, err := New(o); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestCertificateNeedsNoCredentials(t *testing.T) {
	d := newTestAPI(t, func(o *Options) { o.CA = func() []byte { return []byte("PEM") } })
	a := d.send(newRequest("GET", "/_mayfly/ca.pem", "")).want(200)
	if a.text != "PEM" {
		t.Errorf("got %q", a.text)
	}
	d.send(newRequest("GET", "/_mayfly/other", "")).want(404)
	d.send(newRequest("POST", "/_mayfly/ca.pem", "")).want(405)
	newTestAPI(t).send(newRequest("GET", "/_mayfly/ca.pem", "")).want(404)
}
