package admin

import (
	"net/http"
	"strings"
)

// pageBase is the path of the files of Options.Page. They hold no data, so that nobody needs a key for them.
const pageBase = "/_explorer/"

// root shows browsers the page, and other programs the list of paths.
func (a *admin) root(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Vary", "Accept")
	if a.Page != nil && strings.Contains(r.Header.Get("Accept"), "text/html") {
		a.Page.ServeHTTP(w, r)
		return
	}
	a.aliased(a.answer(a.index))(w, r)
}
