package monitor

import (
	"strconv"
	"testing"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/account"
	"github.com/mayflydb/mayfly/internal/mongo/call"
)

// Usage counts by container and kind, leaves out what is not about a container, and remembers a bounded number of them.
func TestUsage(t *testing.T) {
	u := &Usage{}
	note := func(command, container string, needs account.Action) {
		body := bsoncore.NewDocumentBuilder().AppendString(command, container).Build()
		r := &call.Request{Traits: call.Traits{Needs: needs}}
		r.Name, r.DB, r.Body, r.Arg = command, "shop", doc.Doc(body), doc.Lookup(doc.Doc(body), command)
		u.Note(r)
	}
	note("find", "books", account.Read)
	note("find", "books", account.Read)
	note("insert", "books", account.Write)
	note("ping", "books", account.Any)
	note("find", "no$name", account.Read)
	if all := u.all(); len(all) != 1 || all[containerName{"shop", "books"}].count != [6]int64{2, 0, 1} {
		t.Errorf("%v", all)
	}
	for n := range maxUsage {
		note("find", "c"+strconv.Itoa(n), account.Read)
	}
	if n := len(u.all()); n != 1 {
		t.Errorf("%d containers after the most that are remembered", n)
	}
}
