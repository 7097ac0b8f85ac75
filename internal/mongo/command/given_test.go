package command_test

import (
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/mayflydb/mayfly/internal/mongo/command"
)

// What mongosh reads of the database local for rs.printSecondaryReplicationInfo() and rs.printReplicationInfo().
func TestLocalDatabaseOfAReplicaSet(t *testing.T) {
	d := newServer(t, func(o *command.Options) { o.ReplSet = "globaldb" })
	local := d.Database("local")
	names, err := local.ListCollectionNames(t.Context(), bson.D{})
	must(t, err)
	same(t, names, []string{"oplog.rs", "system.replset"})
	if n, err := local.Collection("system.replset").CountDocuments(t.Context(), bson.D{}); n != 1 || err != nil {
		t.Errorf("there are %d configurations, %v", n, err)
	}
	var config bson.M
	must(t, local.Collection("system.replset").FindOne(t.Context(), eq("_id", "globaldb")).Decode(&config))
	if members, _ := config["members"].(bson.A); len(members) != 1 {
		t.Errorf("the configuration is %v", config)
	}
	for _, c := range []string{
		`{find: 'oplog.rs', sort: {$natural: -1}, limit: 1}`, `{find: 'oplog.rs', filter: {ns: 'shop.c'}}`,
		`{aggregate: 'oplog.rs', pipeline: [{$collStats: {storageStats: {}}}], cursor: {}}`,
		`{count: 'oplog.rs'}`, `{distinct: 'oplog.rs', key: 'ns'}`,
		`{aggregate: 'oplog.rs', pipeline: [{$match: {ns: 'shop.c'}}], cursor: {}}`,
	} {
		if err := send(t, local, c); codeOf(err) != 115 || !strings.Contains(err.Error(), "change stream") {
			t.Errorf("%s: %v", c, err)
		}
	}
	alone := newServer(t, nil)
	if names, err := alone.Database("local").ListCollectionNames(t.Context(), bson.D{}); len(names) > 0 || err != nil {
		t.Errorf("a stand-alone server has %v, %v", names, err)
	}
}
