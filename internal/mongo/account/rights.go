package account

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
)

// An Action is what not every user may do. The zero value stands for everything: a command that does not say what it
// needs may be run only by users who may do everything.
type Action uint16

// The actions: about documents, about containers, about users, and about the server.
const (
	Read        Action = 1 << iota // documents
	List                           // containers, their indexes and sizes
	Write                          // documents
	Define                         // create, rename and drop containers and their indexes
	Modify                         // change options of existing containers and indexes
	Maintain                       // drop the database, check and compact its containers
	ManageUsers                    // and their roles
	Monitor                        // the state of the server
	Administer                     // settings of the server, operations of other users

	All Action = 1<<iota - 1
	Any Action = 1 << 15 // what every user may do
)

// ProfileContainer is the collection of a database that shows the requests to it, with the values of their queries. Who
// may read documents may not read it: that takes Maintain on the database, or Monitor.
// https://www.mongodb.com/docs/v7.0/reference/built-in-roles/#mongodb-authrole-dbAdmin
const ProfileContainer = "system.profile"

// actionNames are MongoDB's names of what an action allows on a container, and on the server.
// https://www.mongodb.com/docs/v7.0/reference/privilege-actions/
var actionNames = []struct {
	action     Action
	containers []string
	server     []string
}{
	{Read, []string{"find", "changeStream", "killCursors"}, nil},
	{List, []string{"listCollections", "listIndexes", "collStats", "dbStats", "dbHash"}, []string{"listDatabases"}},
	{Write, []string{"insert", "update", "remove"}, nil},
	{Define, []string{
		"createCollection", "createIndex", "dropCollection", "dropIndex", "convertToCapped", "renameCollectionSameDB",
	}, nil},
	{Modify, []string{"collMod"}, nil},
	{Maintain, []string{"dropDatabase", "compact", "validate", "reIndex"}, nil},
	{ManageUsers, []string{
		"createUser", "dropUser", "grantRole", "revokeRole", "viewUser", "viewRole", "changePassword",
		"changeCustomData",
	}, nil},
	{Monitor, nil, []string{
		"serverStatus", "inprog", "top", "hostInfo", "getLog", "getCmdLineOpts", "getParameter",
		"replSetGetStatus", "replSetGetConfig",
	}},
	{Administer, nil, []string{"setParameter", "killop", "killAnySession", "killAnyCursor", "fsync", "logRotate"}},
}

// Rights are what a user may do.
type Rights []grant

// A grant allows actions on a database.
type grant struct {
	actions  Action
	database string // "" for all, and the server
}

// RightsOf gives what roles allow together. Roles that do not exist allow nothing.
func RightsOf(roles []Role) Rights {
	list := Rights{}
	for _, x := range roles {
		b, ok := x.find()
		if !ok {
			continue
		}
		g := grant{actions: b.actions, database: x.Database}
		if b.anywhere {
			g.database = ""
		}
		list = append(list, g)
	}
	return list
}

// Allow reports whether actions are allowed on a database; "" is all databases and the server.
func (r Rights) Allow(needs Action, database string) bool {
	if needs == 0 {
		needs = All
	}
	for _, g := range r {
		switch {
		case g.actions&needs != needs:
		case g.database == "", g.database == database && needs&(Monitor|Administer) == 0:
			return true
		}
	}
	return needs == Any
}

// Privileges gives the rights as MongoDB shows them: an array of documents {resource, actions}.
func (r Rights) Privileges() doc.Value {
	list := bsoncore.NewArrayBuilder()
	for _, g := range r {
		var containers, server []string
		for _, n := range actionNames {
			if g.actions&n.action != 0 {
				containers, server = append(containers, n.containers...), append(server, n.server...)
			}
		}
		if len(containers) > 0 {
			resource := bsoncore.NewDocumentBuilder().AppendString("db", g.database).AppendString("collection", "")
			list.AppendDocument(privilege(resource.Build(), containers))
		}
		if len(server) > 0 && g.database == "" {
			list.AppendDocument(privilege(bsoncore.NewDocumentBuilder().AppendBoolean("cluster", true).Build(), server))
		}
	}
	return doc.Array(doc.Doc(list.Build()))
}

func privilege(resource doc.Doc, actions []string) doc.Doc {
	slices.Sort(actions)
	names := bsoncore.NewArrayBuilder()
	for _, name := range actions {
		names.AppendString(name)
	}
	return bsoncore.NewDocumentBuilder().
		AppendDocument("resource", resource).
		AppendArray("actions", names.Build()).
		Build()
}
