package admin

import (
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/mayflydb/mayfly/internal/fault"
)

// index lists all paths outside Base, and where Base is.
func (a *admin) index(*http.Request) (any, error) {
	return struct {
		Paths []string `json:"paths"`
	}{slices.SortedFunc(maps.Keys(a.aliases()), byPath)}, nil
}

func byPath(a, b string) int {
	methodA, pathA, _ := strings.Cut(a, " ")
	methodB, pathB, _ := strings.Cut(b, " ")
	return strings.Compare(pathA+" "+methodA, pathB+" "+methodB)
}

// noRoute answers requests without a route: the path does not exist, or not with this method.
func (a *admin) noRoute(w http.ResponseWriter, r *http.Request) {
	var allowed []string
	for pattern := range a.aliases() {
		if method, path, _ := strings.Cut(pattern, " "); path == r.URL.Path {
			allowed = append(allowed, method)
		}
	}
	if r.URL.Path == "/" {
		allowed = []string{http.MethodGet}
	}
	if len(allowed) == 0 {
		a.refuse(w, r, fault.New(fault.NotFound, "the path %s does not exist: GET / lists all paths", r.URL.Path))
		return
	}
	slices.Sort(allowed)
	list := strings.Join(allowed, ", ")
	w.Header().Set("Allow", list)
	a.refuse(w, r, fault.New(fault.MethodNotAllowed, "%s supports %s, not %s", r.URL.Path, list, r.Method))
}
