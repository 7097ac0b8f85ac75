package command

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/account"
	"github.com/mayflydb/mayfly/internal/mongo/call"
	"github.com/mayflydb/mayfly/internal/mongo/code"
)

// Who may end which request, and what others learn.
func TestKillOpEnds(t *testing.T) {
	ann := &account.Identity{Database: "shop", Name: "ann", Number: 1}
	bob := &account.Identity{Database: "shop", Name: "bob", Number: 2}
	host := account.RightsOf([]account.Role{{Name: "hostManager", Database: "admin"}})
	for _, c := range []struct {
		name      string
		auth      bool
		by, of    *account.Identity
		rights    account.Rights
		opid      int32
		killed    bool
		forbidden bool
	}{
		{name: "without authentication", opid: 7, killed: true},
		{name: "another number", opid: 8},
		{name: "one's own", auth: true, by: ann, of: &account.Identity{Database: "shop", Name: "ann", Number: 1},
			opid: 7, killed: true},
		{name: "one's own that has ended", auth: true, by: ann, of: ann, opid: 6, forbidden: true},
		{name: "another's", auth: true, by: ann, of: bob, opid: 7, forbidden: true},
		{name: "another's that has ended", auth: true, by: ann, of: bob, opid: 6, forbidden: true},
		{name: "another's, by who may", auth: true, by: ann, of: bob, rights: host, opid: 7, killed: true},
		{name: "another's that has ended, by who may", auth: true, by: ann, of: bob, rights: host, opid: 6},
	} {
		killed := false
		s := &Server{o: Options{Auth: c.auth}}
		running := &request{Request: call.Request{Number: 7}}
		busy := &connection{s: s, user: c.of, running: running, cancel: func() { killed = true }}
		s.connections = map[*connection]struct{}{busy: {}}
		body := bsoncore.NewDocumentBuilder().AppendInt32("killOp", 1).AppendInt32("op", c.opid).Build()
		auth := authentication{granted: account.Granted{Rights: c.rights}}
		r := &request{s: s, c: &connection{s: s, user: c.by, auth: auth}}
		r.Client, r.Body = r, doc.Doc(body)
		r.use(commands()["killOp"])
		err := killOp(r, newAnswer(nil))
		if killed != c.killed || code.Is(err, code.Unauthorized) != c.forbidden || err != nil && !c.forbidden {
			t.Errorf("%s: killed %v, error %v", c.name, killed, err)
		}
	}
}
