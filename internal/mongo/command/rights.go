package command

import (
	"cmp"
	"slices"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/pipeline"
)

// An action is what a command does that not every user may. A command that does not say what
// it needs is for those only who may do everything.
type action uint16

const (
	readAction     action = 1 << iota // documents
	listAction                        // which containers there are, their indexes and sizes
	writeAction                       // documents
	shapeAction                       // make, rename and drop containers and their indexes
	changeAction                      // change options of containers and indexes that are there
	databaseAction                    // drop the database, check its containers
	userAction                        // users and their roles
	monitorAction                     // how the server fares
	serverAction                      // settings of the server, operations of others

	allActions = 1<<iota - 1
	anyAction  = action(1 << 15) // what every user may
)

// actionNames are MongoDB's names of what an action allows on a container, and on the server.
// https://www.mongodb.com/docs/v7.0/reference/privilege-actions/
var actionNames = []struct {
	action     action
	containers []string
	server     []string
}{
	{readAction, []string{"find", "changeStream", "killCursors"}, nil},
	{listAction, []string{"listCollections", "listIndexes", "collStats", "dbStats", "dbHash"}, []string{"listDatabases"}},
	{writeAction, []string{"insert", "update", "remove"}, nil},
	{shapeAction, []string{"createCollection", "createIndex", "dropCollection", "dropIndex", "convertToCapped", "renameCollectionSameDB"}, nil},
	{changeAction, []string{"collMod"}, nil},
	{databaseAction, []string{"dropDatabase", "compact", "validate", "reIndex"}, nil},
	{userAction, []string{"createUser", "dropUser", "grantRole", "revokeRole", "viewUser", "viewRole", "changePassword", "changeCustomData"}, nil},
	{monitorAction, nil, []string{"serverStatus", "inprog", "top", "hostInfo", "getLog", "getCmdLineOpts", "getParameter", "replSetGetStatus", "replSetGetConfig"}},
	{serverAction, nil, []string{"setParameter", "killop", "killAnySession", "killAnyCursor", "fsync", "logRotate"}},
}

// rights are what a user may do.
type rights []grant

// A grant allows actions on a database.
type grant struct {
	actions  action
	database string // "" for all, and the server
}

func rightsOf(roles []role) rights {
	list := rights{}
	for _, x := range roles {
		b, ok := x.find()
		if !ok {
			continue
		}
		g := grant{actions: b.actions, database: x.database}
		if b.anywhere {
			g.database = ""
		}
		list = append(list, g)
	}
	return list
}

// allow reports whether an action is allowed on a database.
func (r rights) allow(needs action, database string) bool {
	if needs == 0 {
		needs = allActions
	}
	for _, g := range r {
		switch {
		case g.actions&needs != needs:
		case g.database == "", g.database == database && needs&(monitorAction|serverAction) == 0:
			return true
		}
	}
	return needs == anyAction
}

// authorize decides whether the command may run: its client is someone, who may.
func (r *request) authorize() error {
	if r.command.secret && r.msg.Compressor != 0 {
		return code.New(code.ProtocolError, "%s must not be compressed", r.name)
	}
	if r.command.admin && r.db != adminDatabase {
		return code.New(code.Unauthorized, "%s may only be run against the admin database.", r.name)
	}
	if !r.s.o.Auth || r.command.open {
		return nil
	}
	if _, err := r.c.permits(); err != nil {
		return err
	}
	if r.c.user == nil {
		return code.New(code.Unauthorized, "Command %s requires authentication", r.name)
	}
	return r.may(r.command.needs, r.db)
}

// allowed reports whether the client may do something on a database.
func (r *request) allowed(needs action, database string) bool {
	return !r.s.o.Auth || r.c.auth.rights.allow(needs, database)
}

// may fails with Unauthorized unless the client may do something on a database.
func (r *request) may(needs action, database string) error {
	if r.allowed(needs, database) {
		return nil
	}
	return code.New(code.Unauthorized, "not authorized on %s to execute command %s", cmp.Or(database, adminDatabase), code.Show(doc.Object(r.shown())))
}

// mayRun decides whether the client may run a pipeline: it reads, and may write, several containers.
// Stages about the server alone decide themselves.
func (r *request) mayRun(p *pipeline.Pipeline) error {
	reads, writes := p.Containers()
	switch source, arg := p.Source(); source {
	case "$currentOp", "$listSessions", "$listLocalSessions":
	case "$changeStream":
		options, _ := doc.AsDoc(arg)
		database := r.db
		if isTrue(doc.Lookup(options, "allChangesForCluster")) {
			database = ""
		}
		if err := r.may(readAction, database); err != nil {
			return err
		}
	default:
		reads = append(reads, pipeline.Namespace{})
	}
	for _, n := range reads {
		if err := r.may(readAction, cmp.Or(n.Database, r.db)); err != nil {
			return err
		}
	}
	if writes == nil {
		return nil
	}
	return r.may(writeAction, cmp.Or(writes.Database, r.db))
}

// mayKill reports whether the client may end what a user has begun.
func (r *request) mayKill(of *user) bool {
	return sameUser(of, r.c.user) || r.allowed(serverAction, "")
}

// shown is the command as others may see it.
func (r *request) shown() doc.Doc {
	if !r.command.secret {
		return r.body
	}
	a := newAnswer(nil)
	a.value(r.name, r.arg)
	a.string("$db", r.db)
	return a.end()
}

// privileges writes rights as MongoDB shows them.
func (a *answer) privileges(name string, list rights) {
	a.array(name)
	for _, g := range list {
		var containers, server []string
		for _, n := range actionNames {
			if g.actions&n.action != 0 {
				containers, server = append(containers, n.containers...), append(server, n.server...)
			}
		}
		slices.Sort(containers)
		slices.Sort(server)
		if len(containers) > 0 {
			a.object(a.index())
			a.object("resource")
			a.string("db", g.database)
			a.string("collection", "")
			a.close()
			a.strings("actions", containers)
			a.close()
		}
		if len(server) > 0 && g.database == "" {
			a.object(a.index())
			a.object("resource")
			a.bool("cluster", true)
			a.close()
			a.strings("actions", server)
			a.close()
		}
	}
	a.close()
}

// isTrue reads a member that is a switch: true or a number that is not zero.
func isTrue(v doc.Value) bool {
	if b, ok := doc.AsBool(v); ok {
		return b
	}
	f, ok := doc.AsFloat(v)
	return ok && f != 0 && v.Type != bsoncore.TypeDecimal128
}
