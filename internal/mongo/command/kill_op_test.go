package command

import (
	"testing"

	"github.com/mayflydb/mayfly/internal/mongo/code"
)

// Who may end which request.
func TestKillOpEnds(t *testing.T) {
	ann, bob := &user{database: "shop", name: "ann", number: 1}, &user{database: "shop", name: "bob", number: 2}
	for _, c := range []struct {
		name      string
		auth      bool
		by, of    *user
		rights    rights
		opid      int64
		killed    bool
		forbidden bool
	}{
		{name: "without authentication", opid: 7, killed: true},
		{name: "another number", opid: 8},
		{name: "one's own", auth: true, by: ann, of: &user{database: "shop", name: "ann", number: 1}, opid: 7, killed: true},
		{name: "another's", auth: true, by: ann, of: bob, opid: 7, forbidden: true},
		{name: "another's number that has ended", auth: true, by: ann, of: bob, opid: 6},
		{name: "another's, by who may", auth: true, by: ann, of: bob, rights: rightsOf([]role{{name: "hostManager", database: "admin"}}), opid: 7, killed: true},
	} {
		killed := false
		s := &Server{o: Options{Auth: c.auth}}
		busy := &connection{s: s, user: c.of, running: &request{opid: 7}, cancel: func() { killed = true }}
		r := &request{s: s, c: &connection{s: s, user: c.by, auth: authentication{rights: c.rights}}, body: emptyDocument}
		err := busy.end(r, c.opid)
		if killed != c.killed || code.Is(err, code.Unauthorized) != c.forbidden {
			t.Errorf("%s: killed %v, error %v", c.name, killed, err)
		}
	}
}
