package admin

import (
	"context"
	"math"
	"net/http"
	"strconv"

	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/foresight"
)

// listExpiring takes ?from=1767323045&until=1767326645&max=100&continuation=...
func (a *admin) listExpiring(w http.ResponseWriter, r *http.Request) error {
	if a.Foresight == nil {
		return missing("foresight")
	}
	query := r.URL.Query()
	s := foresight.Span{Continuation: query.Get("continuation")}
	var err error
	if s.From, err = second(query.Get("from"), 0, "from"); err != nil {
		return err
	}
	if s.Until, err = second(query.Get("until"), math.MaxInt64, "until"); err != nil {
		return err
	}
	if s.Max, err = number(query.Get("max"), pageItems, foresight.MaxExpiring, "max"); err != nil {
		return err
	}
	var result *foresight.Expiring
	err = a.Foresight(r.Context(), func(ctx context.Context, f *foresight.Foresight) error {
		c, err := f.Container(r.PathValue("db"), r.PathValue("c"))
		if err == nil {
			result, err = f.Expiring(ctx, c, a.Clock.Now().Unix(), s, 0)
		}
		return err
	})
	return a.reply(w, result, err)
}

// second is the instant of a query parameter, in seconds since 1970.
func second(text string, otherwise int64, name string) (int64, error) {
	if text == "" {
		return otherwise, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, fault.New(fault.Invalid, "%s is an instant in seconds since 1970, not %q", name, text)
	}
	return n, nil
}
