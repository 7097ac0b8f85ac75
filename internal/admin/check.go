package admin

import "net/http"

// startCheck answers 202 with an operation.
func (a *admin) startCheck(w http.ResponseWriter, r *http.Request) error {
	if a.Check == nil {
		return missing("check of a running node")
	}
	p, err := a.operations.Start(r.Context(), "check", "", "documents", a.Check)
	return a.accept(w, p, err)
}
