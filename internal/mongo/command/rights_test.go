package command_test

import (
	"strings"
	"testing"

	"github.com/xdg-go/scram"
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/mayflydb/mayfly/internal/mongo/command"
)

// A command that does not say what it needs can be run by root alone, which is seldom intended.
func TestEveryCommandSaysWhatItNeeds(t *testing.T) {
	for _, name := range command.Unstated() {
		t.Errorf("%s does not say what it needs", name)
	}
}

// mongodb/mongo: src/mongo/db/auth/builtin_roles.yml says what the roles of MongoDB allow.
func TestRoles(t *testing.T) {
	for _, c := range []struct {
		role, of string
		may      string // commands, each on a database
		mayNot   string
	}{
		{"read", "shop", "find:shop aggregate:shop count:shop distinct:shop listIndexes:shop connectionStatus:other usersInfo:other", "find:other insert:shop createUser:shop dropDatabase:shop hostInfo:admin"},
		{"readWrite", "shop", "find:shop insert:shop update:shop delete:shop findAndModify:shop createIndexes:shop create:shop drop:shop dropIndexes:shop", "collMod:shop validate:shop insert:other createUser:shop hostInfo:admin dropUser:shop"},
		{"dbAdmin", "shop", "collMod:shop createIndexes:shop dropIndexes:shop listIndexes:shop", "find:shop insert:shop createIndexes:other createUser:shop"},
		{"userAdmin", "shop", "createUser:shop dropUser:shop", "find:shop createUser:other createUser:admin"},
		{"dbOwner", "shop", "collMod:shop find:shop insert:shop createUser:shop createIndexes:shop", "find:other hostInfo:shop"},
		{"readAnyDatabase", "admin", "find:shop find:other listIndexes:x", "insert:shop hostInfo:admin"},
		{"readWriteAnyDatabase", "admin", "find:shop insert:other", "collMod:shop createUser:shop"},
		{"dbAdminAnyDatabase", "admin", "createIndexes:shop", "find:shop"},
		{"userAdminAnyDatabase", "admin", "createUser:shop createUser:admin", "find:shop insert:shop"},
		{"clusterMonitor", "admin", "hostInfo:admin getLog:admin replSetGetStatus:admin",
			"find:shop insert:shop createUser:shop"},
		{"clusterAdmin", "admin", "hostInfo:admin", "find:shop insert:shop"},
		{"root", "admin", "find:shop insert:other createUser:x hostInfo:admin", ""},
		{"root", "shop", "", "find:shop insert:shop"},
		{"king", "admin", "", "find:shop"},
	} {
		for want, list := range map[bool]string{true: c.may, false: c.mayNot} {
			for pair := range strings.FieldsSeq(list) {
				name, on, _ := strings.Cut(pair, ":")
				if got := command.Grants(c.role, c.of, name, on); got != want {
					t.Errorf("%s of %s: %s on %s is %v, want %v", c.role, c.of, name, on, got, want)
				}
			}
		}
	}
}

// What users may do through a driver, also after their roles have changed or they have been dropped.
func TestRightsAreEnforced(t *testing.T) {
	d := newServer(t, withAuth)
	root := d.asAccount()
	shop := root.Database("shop")
	for name, roles := range map[string]bson.A{"reader": {"read"}, "writer": {"readWrite"}, "keeper": {"userAdmin"}} {
		must(t, shop.RunCommand(t.Context(), pairs("createUser", name, "pwd", "x", "roles", roles)).Err())
	}
	_, err := shop.Collection("c").InsertOne(t.Context(), bson.D{{Key: "_id", Value: 1}})
	must(t, err)
	reader := d.login("reader:x", "authSource=shop")
	writer := d.login("writer:x", "authSource=shop")
	keeper := d.login("keeper:x", "authSource=shop")

	_, err = reader.Database("shop").Collection("c").InsertOne(t.Context(), bson.D{{Key: "n", Value: 1}})
	if codeOf(err) != 13 || !strings.HasPrefix(err.Error(), `(Unauthorized) not authorized on shop to execute command { insert: "c"`) {
		t.Errorf("a reader writes: %v", err)
	}
	if n, err := reader.Database("shop").Collection("c").CountDocuments(t.Context(), bson.D{}); n != 1 {
		t.Errorf("a reader counts %d, error %v", n, err)
	}
	if err := reader.Database("other").Collection("c").FindOne(t.Context(), bson.D{}).Err(); codeOf(err) != 13 {
		t.Errorf("a reader reads elsewhere: %v", err)
	}
	if _, err := writer.Database("shop").Collection("c").InsertOne(t.Context(), bson.D{}); err != nil {
		t.Errorf("a writer does not write: %v", err)
	}
	elsewhere := pairs("db", "other", "coll", "c")
	for _, stage := range []bson.D{eq("$out", elsewhere), eq("$merge", eq("into", elsewhere))} {
		if _, err := writer.Database("shop").Collection("c").Aggregate(t.Context(), bson.A{stage}); codeOf(err) != 13 {
			t.Errorf("%v to another database: %v", stage, err)
		}
	}
	_, err = reader.Database("shop").Collection("c").Aggregate(t.Context(), bson.A{eq("$out", "d")})
	if codeOf(err) != 13 {
		t.Errorf("a reader writes with $out: %v", err)
	}
	king := `{createUser: 'king', pwd: 'secretly', roles: [{role: 'root', db: 'admin'}]}`
	err = send(t, keeper.Database("shop"), king)
	if codeOf(err) != 13 || strings.Contains(err.Error(), "secretly") {
		t.Errorf("a keeper of users gives more than is its own: %v", err)
	}
	if err := send(t, reader.Database("shop"), `{usersInfo: 'reader'}`); err != nil {
		t.Errorf("a user does not know itself: %v", err)
	}
	if err := send(t, reader.Database("shop"), `{usersInfo: 'writer'}`); codeOf(err) != 13 {
		t.Errorf("a user knows another: %v", err)
	}

	must(t, send(t, shop, `{grantRolesToUser: 'reader', roles: ['readWrite']}`))
	if _, err := reader.Database("shop").Collection("c").InsertOne(t.Context(), bson.D{}); err != nil {
		t.Errorf("a new role does nothing: %v", err)
	}
	must(t, shop.RunCommand(t.Context(), bson.D{{Key: "dropUser", Value: "reader"}}).Err())
	if err := send(t, reader.Database("shop"), `{count: 'c'}`); codeOf(err) != 13 {
		t.Errorf("a user who is gone reads: %v", err)
	}
	must(t, send(t, shop, `{createUser: 'reader', pwd: 'y', roles: ['read']}`))
	if err := send(t, reader.Database("shop"), `{count: 'c'}`); codeOf(err) != 13 && codeOf(err) != 18 && err == nil {
		t.Errorf("a user who is gone is taken for another of that name: %v", err)
	}
}

// A cursor that reads a view goes by the rights of the connection that reads it, and not by those of the one that
// opened it.
func TestViewReadOverAnotherConnection(t *testing.T) {
	d := newServer(t, withAuth)
	opens, reads := d.peer(), d.peer()
	for _, p := range []*peer{opens, reads} {
		p.sasl("admin", "acct", accountKey, scram.SHA256, "SCRAM-SHA-256", true)
	}
	for _, cmd := range []bson.D{
		document(t, `{insert: 'c', documents: [{_id: 1}, {_id: 2}]}`),
		document(t, `{create: 'v', viewOn: 'c', pipeline: []}`),
	} {
		if answer := opens.ask(append(cmd, bson.E{Key: "$db", Value: "test"})); codeIn(answer) != 0 {
			t.Fatal(answer)
		}
	}
	first := opens.ask(document(t,
		`{aggregate: 'c', pipeline: [{$unionWith: 'v'}], cursor: {batchSize: 1}, $db: 'test'}`))
	id := first.Lookup("cursor", "id").Int64()
	opens.ask(bson.D{{Key: "logout", Value: 1}, {Key: "$db", Value: "admin"}})
	rest := reads.ask(bson.D{{Key: "getMore", Value: id}, {Key: "collection", Value: "c"}, {Key: "$db", Value: "test"}})
	rows, err := rest.LookupErr("cursor", "nextBatch")
	if err != nil {
		t.Fatal(rest)
	}
	list, err := rows.Array().Values()
	must(t, err)
	same(t, len(list), 3)
}
