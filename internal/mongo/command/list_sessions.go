package command

import (
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/account"
	"github.com/mayflydb/mayfly/internal/mongo/call"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/pipeline"
	"github.com/mayflydb/mayfly/internal/mongo/query"
	"github.com/mayflydb/mayfly/internal/mongo/session"
)

// listSessions gives a row for each session of the client's user, or of all users.
func listSessions(r *request, arg doc.Value) pipeline.Rows {
	options, _ := doc.AsDoc(arg)
	all := call.IsTrue(doc.Lookup(options, "allUsers"))
	if doc.Lookup(options, "users").Type != 0 {
		return query.Failed(code.Unsupported("the option 'users' of $listSessions"))
	}
	if all {
		if err := r.May(account.Monitor, ""); err != nil {
			return query.Failed(err)
		}
	}
	mine := r.Owner()
	list := r.Node.Sessions.Choose(func(x *session.Session) bool { return all || x.Key.User == mine })
	return func(yield func(doc.Doc, error) bool) {
		for _, x := range list {
			a := doc.NewWriter(nil)
			a.Object("_id")
			x.Describe(a)
			a.Close()
			a.Date("lastUse", x.Seen.Load())
			if u := x.Key.User; all && u.Name != "" {
				a.String("user", u.Name+"@"+u.Database)
			}
			if !yield(a.End(), nil) {
				return
			}
		}
	}
}
