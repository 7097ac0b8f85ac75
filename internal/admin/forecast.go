package admin

import (
	"cmp"
	"context"
	"net/http"

	"github.com/mayflydb/mayfly/internal/foresight"
)

// forecast serves a container, a database and everything: ?by=hour|day|month&count=30.
func (a *admin) forecast(w http.ResponseWriter, r *http.Request) error {
	entries, err := a.entries(r)
	if err != nil {
		return err
	}
	query := r.URL.Query()
	count, err := number(query.Get("count"), 0, foresight.MaxBuckets, "count")
	if err != nil {
		return err
	}
	scope := foresight.Scope{Database: r.PathValue("db"), Container: r.PathValue("c")}
	var result *foresight.Forecast
	err = a.Foresight(r.Context(), func(ctx context.Context, f *foresight.Foresight) (err error) {
		by := cmp.Or(query.Get("by"), foresight.ByDay)
		result, err = f.Forecast(ctx, scope, a.Clock.Now().Unix(), by, count, entries)
		return err
	})
	return a.reply(w, result, err)
}
