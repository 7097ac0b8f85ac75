package admin

import (
	"net/http"

	"github.com/mayflydb/mayfly/internal/fault"
)

// listKeys shows which account keys there are. With ?show=true it shows them, to senders of a key that may write.
func (a *admin) listKeys(w http.ResponseWriter, r *http.Request) error {
	if a.Keys == nil {
		return missing("keys that rotate")
	}
	show := r.URL.Query().Get("show") == "true"
	if show && !mayWrite(r) {
		return fault.New(fault.Forbidden, "a read-only key does not show keys")
	}
	list, err := a.Keys.List(r.Context(), show)
	return a.reply(w, struct {
		Keys []AccountKey `json:"keys"`
	}{list}, err)
}

// rotateKey replaces a key, and shows the new one.
func (a *admin) rotateKey(w http.ResponseWriter, r *http.Request) error {
	if a.Keys == nil {
		return missing("keys that rotate")
	}
	result, err := a.Keys.Rotate(r.Context(), r.PathValue("name"))
	return a.reply(w, result, err)
}
