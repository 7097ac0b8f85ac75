package command

import (
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/account"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/pipeline"
)

// listSessions gives a row for each session of the client's user, or of all users.
func listSessions(r *request, arg doc.Value) pipeline.Rows {
	options, _ := doc.AsDoc(arg)
	all := isTrue(doc.Lookup(options, "allUsers"))
	if doc.Lookup(options, "users").Type != 0 {
		return failed(code.Unsupported("the option 'users' of $listSessions"))
	}
	if all {
		if err := r.may(account.Monitor, ""); err != nil {
			return failed(err)
		}
	}
	mine := keyOf(string(make([]byte, 16)), r.c.user).user
	list := r.s.sessions.choose(func(x *session) bool { return all || x.key.user == mine })
	return func(yield func(doc.Doc, error) bool) {
		for _, x := range list {
			a := newAnswer(nil)
			a.object("_id")
			x.describe(a)
			a.close()
			a.date("lastUse", x.seen.Load())
			if u := x.key.user; all && u.Name != "" {
				a.string("user", u.Name+"@"+u.Database)
			}
			if !yield(a.end(), nil) {
				return
			}
		}
	}
}
