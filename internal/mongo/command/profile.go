package command

import (
	"cmp"
	"time"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/account"
	"github.com/mayflydb/mayfly/internal/mongo/code"
)

// defaultSlow is MongoDB's slowms. Clients see it while mayfly logs no slow requests.
const defaultSlow = 100 * time.Millisecond

// profile has one level, 0, which records nothing; -1 asks for the level without changing it. At level 0 slowms still
// says which requests are logged, as --slow does.
// https://www.mongodb.com/docs/v7.0/reference/command/profile/
func profile(r *request, a *answer) error {
	level, ok := wholeOf(r.arg)
	switch {
	case !ok:
		return r.wrongType("profile", r.arg, "int")
	case level != 0 && level != -1:
		return code.Unsupported("the database profiler")
	}
	rate, _ := doc.AsFloat(r.get("sampleRate"))
	if r.get("filter").Type != 0 || r.get("sampleRate").Type != 0 && rate != 1 {
		return code.Unsupported("filter or sampleRate of profile")
	}
	was := r.s.slow.Load()
	if level == 0 && r.get("slowms").Type != 0 {
		n := r.int("slowms", 0, 0)
		if r.err != nil {
			return r.err
		}
		if err := r.may(account.Administer, ""); err != nil {
			return err
		}
		r.s.slow.Store(max(1, min(n, maxSlow)*int64(time.Millisecond)))
	}
	a.Int32("was", 0)
	a.Int32("slowms", int(cmp.Or(was, int64(defaultSlow))/int64(time.Millisecond)))
	a.Double("sampleRate", 1)
	return nil
}

// maxSlow bounds slowms, in milliseconds.
const maxSlow = 1<<31 - 1
