package admin

import (
	"net/http"
	"strconv"

	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/foresight"
)

// entries is how many entries a question about the future may look at (?entries=).
func (a *admin) entries(r *http.Request) (int, error) {
	if a.Foresight == nil {
		return 0, missing("foresight")
	}
	return number(r.URL.Query().Get("entries"), foresight.DefaultEntries, foresight.MaxEntries, "entries")
}

// reply answers 200 with a result, or returns its error.
func (a *admin) reply(w http.ResponseWriter, result any, err error) error {
	if err == nil {
		a.write(w, http.StatusOK, result)
	}
	return err
}

// number is the number of a query parameter, from 1 to most.
func number(text string, otherwise, most int, name string) (int, error) {
	if text == "" {
		return otherwise, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > most {
		return 0, fault.New(fault.Invalid, "%s is a number from 1 to %d, not %q", name, most, text)
	}
	return n, nil
}
