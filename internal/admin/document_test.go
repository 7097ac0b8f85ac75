package admin

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v2"

	"github.com/mayflydb/mayfly/internal/fault"
)

// An openAPI is the part of the document that the tests compare with the routes.
type openAPI struct {
	Paths      map[string]map[string]struct{ Summary string }
	Components struct {
		Schemas map[string]struct {
			Properties map[string]struct{ Enum []string }
		}
	}
}

func parsedDocument(t *testing.T) (d openAPI) {
	t.Helper()
	if err := yaml.UnmarshalStrict(document(), new(map[string]any)); err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(document(), &d); err != nil {
		t.Fatal(err)
	}
	return d
}

// Every route is in the document with the same summary, and the document has no other.
func TestDocumentHasTheRoutes(t *testing.T) {
	var want, got []string
	for _, rt := range routes {
		want = append(want, fmt.Sprint(rt.method, " ", strings.TrimSuffix(rt.path, "{$}"), ": ", rt.summary))
	}
	for path, methods := range parsedDocument(t).Paths {
		for method, operation := range methods {
			got = append(got, fmt.Sprint(strings.ToUpper(method), " ", path, ": ", operation.Summary))
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	for _, line := range want {
		if !slices.Contains(got, line) {
			t.Errorf("the document does not have %s", line)
		}
	}
	for _, line := range got {
		if !slices.Contains(want, line) {
			t.Errorf("no route is %s", line)
		}
	}
}

func TestDocumentHasTheKindsOfFaults(t *testing.T) {
	var want []string
	for k := range fault.Kinds() {
		want = append(want, k.String())
	}
	if got := parsedDocument(t).Components.Schemas["problem"].Properties["kind"].Enum; !slices.Equal(got, want) {
		t.Errorf("kinds %q, want %q", got, want)
	}
}

func TestRoutesAreSorted(t *testing.T) {
	sorted := slices.IsSortedFunc(routes, func(a, b route) int {
		path := func(rt route) string { return strings.TrimSuffix(rt.path, "{$}") }
		return cmp.Or(cmp.Compare(path(a), path(b)), cmp.Compare(a.method, b.method))
	})
	if !sorted {
		t.Error("sort the table by path, then by method")
	}
}

func TestDocumentIsServed(t *testing.T) {
	o, _ := virtualOptions()
	if w := send(New(o), "GET", "/openapi.yaml", ""); w.Code != 200 || w.Body.String() != string(document()) {
		t.Errorf("%d with %d bytes", w.Code, w.Body.Len())
	}
}
