package admin

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/mayflydb/mayfly/internal/foresight"
)

// previewLifetime takes a policy as PUT lifetime does, or only what would change of it, and changes nothing.
func (a *admin) previewLifetime(w http.ResponseWriter, r *http.Request) error {
	entries, err := a.entries(r)
	if err != nil {
		return err
	}
	body, err := read[json.RawMessage](r, `{"defaultTtl": 90}`)
	if err != nil {
		return err
	}
	change, err := foresight.ParseChange(body)
	if err != nil {
		return err
	}
	var result *foresight.Preview
	err = a.Foresight(r.Context(), func(ctx context.Context, f *foresight.Foresight) error {
		c, err := f.Container(r.PathValue("db"), r.PathValue("c"))
		if err == nil {
			result, err = f.Preview(ctx, c, a.Clock.Now().Unix(), change, entries)
		}
		return err
	})
	return a.reply(w, result, err)
}
