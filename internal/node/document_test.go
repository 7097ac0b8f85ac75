package node

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"

	"github.com/mayflydb/mayfly/internal/admin"
)

// documentText is the OpenAPI document as the admin API serves it.
func documentText() []byte {
	r := httptest.NewRequest(http.MethodGet, admin.Base+"/openapi.yaml", nil)
	w := httptest.NewRecorder()
	admin.New(admin.Options{}).ServeHTTP(w, r)
	return w.Body.Bytes()
}

// document is the OpenAPI document of the admin API, and its paths.
var document = sync.OnceValues(func() (*openapi3.T, *http.ServeMux) {
	doc, err := openapi3.NewLoader().LoadFromData(documentText())
	if err != nil {
		panic(err)
	}
	mux := http.NewServeMux()
	for path := range doc.Paths.Map() {
		if path == "/" {
			path = "/{$}"
		}
		mux.Handle(path, http.NotFoundHandler())
	}
	return doc, mux
})

func init() { // lines of JSON are text to the document
	openapi3filter.RegisterBodyDecoder("application/x-ndjson", openapi3filter.FileBodyDecoder)
}

func TestDocumentIsValid(t *testing.T) {
	doc, _ := document()
	if err := doc.Validate(t.Context(), openapi3.IsOpenAPI31OrLater()); err != nil {
		t.Error(err)
	}
}

// checkAgainstDocument compares a request that was accepted, and every answer, with what the OpenAPI document says.
func checkAgainstDocument(t *testing.T, r *http.Request, response *http.Response, body []byte) {
	t.Helper()
	if err := againstDocument(r, response, body); err != nil {
		t.Errorf("%s %s: status %d: %v", r.Method, r.URL, response.StatusCode, err)
	}
}

// The document is strict enough to find a member too many, one too few, and a status that it does not have.
func TestDocumentFindsMistakes(t *testing.T) {
	for body, ok := range map[string]bool{
		`{"id":"a","containers":1}`:         true,
		`{"id":"a","containers":1,"new":1}`: false,
		`{"id":"a"}`:                        false,
		`{"id":1,"containers":1}`:           false,
	} {
		r := httptest.NewRequest(http.MethodGet, admin.Base+"/databases/a", nil)
		answer := &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"application/json"}}}
		if err := againstDocument(r, answer, []byte(body)); (err == nil) != ok {
			t.Errorf("%s: error %v", body, err)
		}
	}
	r := httptest.NewRequest(http.MethodGet, admin.Base+"/databases/a?x", nil)
	answer := &http.Response{StatusCode: 404, Header: http.Header{"Content-Type": {"application/json"}}}
	if err := againstDocument(r, answer, []byte(`{"error":"no"}`)); err == nil {
		t.Error("an error that is no problem passes")
	}
}

func againstDocument(r *http.Request, response *http.Response, body []byte) error {
	doc, mux := document()
	inside := r.Clone(r.Context())
	inside.URL.Path = strings.TrimPrefix(r.URL.Path, admin.Base)
	inside.URL.RawPath = strings.TrimPrefix(r.URL.EscapedPath(), admin.Base)
	_, path := mux.Handler(inside)
	item := doc.Paths.Value(strings.TrimSuffix(path, "{$}"))
	if item == nil || item.GetOperation(r.Method) == nil {
		if response.StatusCode != http.StatusNotFound && response.StatusCode != http.StatusMethodNotAllowed {
			return errors.New("the document does not have the path")
		}
		return nil
	}
	options := &openapi3filter.Options{
		IncludeResponseStatus: true, RejectWhenRequestBodyNotSpecified: true, SkipSettingDefaults: true,
		AuthenticationFunc: openapi3filter.NoopAuthenticationFunc,
	}
	parameters := map[string]string{}
	values := strings.Split(inside.URL.EscapedPath(), "/")
	for i, step := range strings.Split(path, "/") {
		if strings.HasPrefix(step, "{") && step != "{$}" {
			parameters[strings.Trim(step, "{}")] = values[i]
		}
	}
	input := &openapi3filter.RequestValidationInput{
		Request: r, PathParams: parameters, Options: options,
		Route: &routers.Route{
			Spec: doc, Path: path, PathItem: item, Method: r.Method, Operation: item.GetOperation(r.Method),
		},
	}
	if response.StatusCode < 300 {
		if err := openapi3filter.ValidateRequest(r.Context(), input); err != nil {
			return fmt.Errorf("the request was accepted: %w", err)
		}
	}
	return openapi3filter.ValidateResponse(r.Context(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: input, Status: response.StatusCode, Header: response.Header,
		Body: io.NopCloser(bytes.NewReader(body)), Options: options,
	})
}

// generator makes a client from an OpenAPI document.
const generator = "github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2"

// TestClientGenerator makes a client in Go from the document. It needs the module proxy for the generator's code.
func TestClientGenerator(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped with -short: it fetches and builds a generator; CI runs it without -short")
	}
	dir := t.TempDir()
	file, out := filepath.Join(dir, "openapi.yaml"), filepath.Join(dir, "client.go")
	if err := os.WriteFile(file, documentText(), 0o600); err != nil {
		t.Fatal(err)
	}
	run := exec.CommandContext(t.Context(), "go", "run", generator,
		"-generate", "types,client", "-package", "client", "-o", out, file)
	run.Dir = dir
	if text, err := run.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	client, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	for path, item := range mustPaths() {
		for method, operation := range item.Operations() {
			name := strings.ToUpper(operation.OperationID[:1]) + operation.OperationID[1:]
			if !bytes.Contains(client, []byte("func (c *Client) "+name)) {
				t.Errorf("the client has no method for %s %s", method, path)
			}
		}
	}
}

func mustPaths() map[string]*openapi3.PathItem {
	doc, _ := document()
	return doc.Paths.Map()
}
