package command

import "github.com/mayflydb/mayfly/internal/mongo/code"

func init() {
	register("profile", command{run: profile, help: "Tells that no requests are recorded; recording them is not supported.", needs: monitorAction,
		fields: fieldSet("slowms sampleRate filter")})
}

// profile knows one level: none. MongoDB's -1 asks for it without a change.
func profile(r *request, a *answer) error {
	level, ok := wholeOf(r.arg)
	switch {
	case !ok:
		return r.wrongType("profile", r.arg, "int")
	case level != 0 && level != -1:
		return code.Unsupported("the database profiler")
	}
	a.int32("was", 0)
	a.int32("slowms", 100)
	a.double("sampleRate", 1)
	return nil
}
