package command

import (
	"maps"

	"github.com/mayflydb/mayfly/internal/mongo/account"
	"github.com/mayflydb/mayfly/internal/mongo/call"
)

// A command is one entry of the table.
type command struct {
	name       string // its key in the table: see commands
	run        func(r *request, a *answer) error
	help       string
	fields     map[string]bool // members that it takes in addition to its own and call.GenericFields
	needs      account.Action  // what the client must be allowed on the database; 0 is everything
	open       bool            // needs no authentication
	greets     bool            // may come as OP_QUERY
	test       bool            // only with --mongo-test-commands
	loose      bool            // takes any member
	admin      bool            // only on the database admin
	txn        bool            // may run in a multi-document transaction
	write      bool            // may be retried with a transaction number
	waits      bool            // maxTimeMS bounds how long it waits, not how long it may take
	deprecated bool            // in the Stable API
	secret     bool            // its members are shown to nobody, and it must not be compressed
}

// table lists every command, sorted by name. A command that is missing here does not exist.
var table = map[string]command{
	"abortTransaction": {run: abortTransaction, help: "Aborts a transaction.",
		needs: account.Any, admin: true, txn: true, fields: call.FieldSet("recoveryToken")},
	"aggregate": {run: aggregate, help: "Runs a pipeline over a collection.", needs: account.Any, txn: true,
		fields: call.FieldSet(`pipeline cursor explain allowDiskUse hint collation let
			fromMongos needsMerge exchange`)},
	"applyOps":                {run: refuse, help: refused, needs: account.Any, loose: true},
	"buildInfo":               {run: buildInfo, help: "Gives the version of the server.", open: true},
	"cloneCollectionAsCapped": {run: refuse, help: refused, needs: account.Any, loose: true},
	"collMod": {run: collMod, help: "Changes options of a collection, a view or an index.", needs: account.Modify,
		fields: collModFields},
	"collStats": {run: collStats, help: "Gives the size of a collection.", needs: account.List,
		fields: call.FieldSet("scale freeStorage waitForLock numericOnly")},
	"commitTransaction": {run: commitTransaction, help: "Commits a transaction.",
		needs: account.Any, admin: true, txn: true,
		fields: call.FieldSet("recoveryToken commitTimestamp durableTimestamp")},
	"compact": {run: compact, help: "Returns the disk space of reclaimed documents.", needs: account.Maintain,
		fields: call.FieldSet("force dryRun freeSpaceTargetMB")},
	"configureFailPoint": {run: configureFailPoint, help: "Makes commands fail, to test clients.",
		needs: account.Administer, admin: true, test: true, fields: call.FieldSet("mode data")},
	"connectionStatus": {run: connectionStatus, help: "Shows the user of the connection and its rights.", open: true,
		fields: call.FieldSet("showPrivileges")},
	"convertToCapped": {run: refuse, help: refused, needs: account.Any, loose: true},
	"count": {run: count, help: "Counts documents.", needs: account.Read,
		fields: call.FieldSet("query limit skip hint collation fields")},
	"create": {run: create, help: "Creates a collection or a view.", needs: account.Define, txn: true,
		fields: createFields},
	"createIndexes": {run: createIndexes, help: "Creates indexes.", needs: account.Define, txn: true,
		fields: call.FieldSet("indexes commitQuorum ignoreUnknownIndexOptions")},
	"createRole":          {run: refuseRoles, help: refusedRoles, needs: account.ManageUsers, loose: true},
	"createSearchIndexes": {run: refuseSearch, help: refused, needs: account.Any, loose: true},
	"createUser": {run: createUser, help: "Creates a user.", needs: account.ManageUsers, secret: true,
		fields: userFields},
	"currentOp": {run: currentOp, help: "Lists running requests.",
		needs: account.Any, loose: true, admin: true},
	"customAction": {run: customAction, help: "Runs one of the extension commands of Cosmos DB.", needs: account.List,
		fields: call.FieldSet("collection offerThroughput autoScaleSettings shardKey indexes startAtOperationTime")},
	"dataSize": {run: dataSize, help: "Gives the size of the documents of a collection.", needs: account.Any,
		fields: call.FieldSet("keyPattern min max estimate")},
	"dbHash": {run: refuse, help: refused, needs: account.Any, loose: true},
	"dbStats": {run: dbStats, help: "Gives the size of a database.", needs: account.List,
		fields: call.FieldSet("scale freeStorage")},
	"delete": {run: runDelete, help: "Deletes documents.", needs: account.Write, txn: true, write: true,
		fields: call.FieldSet("deletes ordered let")},
	"deleteIndexes": {run: dropIndexes, help: "Drops indexes: the older name of dropIndexes.", needs: account.Define,
		fields: call.FieldSet("index")},
	"distinct": {run: distinct, help: "Lists the distinct values of a field.", needs: account.Read, txn: true,
		fields: call.FieldSet("key query collation hint")},
	"drop": {run: drop, help: "Drops a collection or a view.", needs: account.Define,
		fields: call.FieldSet("collectionUUID encryptedFields")},
	"dropAllRolesFromDatabase": {run: refuseRoles, help: refusedRoles, needs: account.ManageUsers, loose: true},
	"dropAllUsersFromDatabase": {run: dropAllUsers, help: "Drops all users of a database.", needs: account.ManageUsers},
	"dropDatabase": {run: dropDatabase, help: "Drops a database and all of its collections.",
		needs: account.Maintain},
	"dropIndexes": {run: dropIndexes, help: "Drops indexes.", needs: account.Define,
		fields: call.FieldSet("index")},
	"dropRole":        {run: refuseRoles, help: refusedRoles, needs: account.ManageUsers, loose: true},
	"dropSearchIndex": {run: refuseSearch, help: refused, needs: account.Any, loose: true},
	"dropUser":        {run: dropUser, help: "Drops a user.", needs: account.ManageUsers},
	"endSessions":     {run: endSessions, help: "Ends sessions.", needs: account.Any},
	"explain": {run: runExplain, help: "Shows how a command finds its documents.", needs: account.Any,
		fields: call.FieldSet("verbosity")},
	"find": {run: find, help: "Selects documents.", needs: account.Read, txn: true,
		fields: findFields},
	"findAndModify": {run: findAndModify, help: "Changes or deletes one document and returns it.",
		needs: account.Write, txn: true, write: true,
		fields: call.FieldSet("query sort remove update new fields upsert collation arrayFilters hint let")},
	"fsync": {run: fsync, help: "Answers that writes are durable, as they always are once they are acknowledged.",
		needs: account.Administer, admin: true,
		fields: call.FieldSet("lock async fsyncLockAcquisitionTimeoutMillis forBackup")},
	"fsyncUnlock": {run: fsyncUnlock, help: "Fails, because fsync never locks.",
		needs: account.Administer, admin: true},
	"getCmdLineOpts": {run: getCmdLineOpts, help: "Shows how the server was started.",
		needs: account.Monitor, admin: true},
	"getLastRequestStatistics": {run: refuse, help: refused, needs: account.Any, loose: true},
	"getLog": {run: getLog, help: "Shows recent lines of the log.",
		needs: account.Monitor, admin: true},
	"getMore": {run: getMore, help: "Reads the next batch of a cursor.", needs: account.Any, txn: true, waits: true,
		fields: call.FieldSet("collection batchSize term lastKnownCommittedOpTime")},
	"getParameter": {run: getParameter, help: "Shows settings of the server.",
		needs: account.Monitor, loose: true, admin: true},
	"grantPrivilegesToRole": {run: refuseRoles, help: refusedRoles, needs: account.ManageUsers, loose: true},
	"grantRolesToRole":      {run: refuseRoles, help: refusedRoles, needs: account.ManageUsers, loose: true},
	"grantRolesToUser": {run: grantRolesToUser, help: "Grants roles to a user.", needs: account.Any,
		fields: call.FieldSet("roles")},
	"hello": {run: hello,
		help: "Describes the server to a client.", open: true, greets: true, loose: true, secret: true},
	"hostInfo": {run: hostInfo, help: "Describes the machine.", needs: account.Monitor},
	"insert": {run: insert, help: "Inserts documents.", needs: account.Write, txn: true, write: true,
		fields: call.FieldSet("documents ordered encryptionInformation")},
	"isMaster": {run: hello,
		help: "Describes the server to an old client.", open: true, greets: true, loose: true, secret: true},
	"isdbgrid": {run: isdbgrid, help: "Answers that the server is a mongos.", open: true},
	"killAllSessions": {run: killAllSessions, help: "Ends requests, cursors and transactions in the sessions of users.",
		needs: account.Administer},
	"killAllSessionsByPattern": {run: killByPattern,
		help:  "Ends requests, cursors and transactions in the sessions that patterns match.",
		needs: account.Administer},
	"killCursors": {run: killCursors, help: "Closes cursors.", needs: account.Any, txn: true,
		fields: call.FieldSet("cursors")},
	"killOp": {run: killOp, help: "Ends a running request.", needs: account.Any, admin: true,
		fields: call.FieldSet("op")},
	"killSessions": {run: killSessions, help: "Ends requests, cursors and transactions in sessions.",
		needs: account.Any},
	"listCollections": {run: listCollections, help: "Lists the collections and views of a database.",
		needs: account.List, fields: call.FieldSet("filter nameOnly authorizedCollections cursor")},
	"listCommands": {run: listCommands, help: "Lists the commands.", open: true},
	"listDatabases": {run: listDatabases, help: "Lists the databases that have collections.",
		needs: account.Any, admin: true, fields: call.FieldSet("filter nameOnly authorizedDatabases")},
	"listIndexes": {run: listIndexes, help: "Lists the indexes of a collection.", needs: account.List,
		fields: call.FieldSet("cursor includeBuildUUIDs includeIndexBuildInfo")},
	"listSearchIndexes": {run: refuseSearch, help: refused, needs: account.Any, loose: true},
	"listShards": {run: listShards, help: "Lists the one shard of a mongos.",
		needs: account.Monitor, admin: true},
	"logout":    {run: logout, help: "Logs the client out.", open: true},
	"mapReduce": {run: refuse, help: refused, needs: account.Any, loose: true},
	"ping":      {run: ping, help: "Answers that the server is alive.", open: true, txn: true},
	"planCacheClear": {run: planCacheClear, help: "Does nothing, because plans are not cached.", needs: account.Write,
		fields: call.FieldSet("query projection sort comment collation")},
	"planCacheClearFilters": {run: refuse, help: refused, needs: account.Any, loose: true},
	"planCacheListFilters":  {run: refuse, help: refused, needs: account.Any, loose: true},
	"planCacheSetFilter":    {run: refuse, help: refused, needs: account.Any, loose: true},
	"profile": {run: profile,
		help:  "Shows and sets which requests of a database are recorded, and which requests count as slow.",
		needs: account.Any, fields: call.FieldSet("slowms sampleRate filter")},
	"reIndex": {run: reIndex, help: "Lists the indexes of a collection, which need no rebuild.",
		needs: account.Maintain},
	"refreshSessions": {run: refreshSessions, help: "Postpones the timeout of sessions.", needs: account.Any},
	"renameCollection": {run: renameCollection, help: "Renames a collection.", needs: account.Any, admin: true,
		fields: call.FieldSet("to dropTarget stayTemp collectionUUID encryptedFields")},
	"replSetGetConfig": {run: replSetGetConfig, help: "Shows the configuration of the replica set of one.",
		needs: account.Monitor, admin: true, fields: call.FieldSet("commitmentStatus")},
	"replSetGetStatus": {run: replSetGetStatus, help: "Shows the state of the replica set of one.",
		needs: account.Monitor, admin: true, fields: call.FieldSet("initialSync")},
	"replSetInitiate": {run: replSetInitiate, help: "Fails, because the replica set exists already.",
		needs: account.Administer, admin: true, loose: true},
	"revokePrivilegesFromRole": {run: refuseRoles, help: refusedRoles, needs: account.ManageUsers, loose: true},
	"revokeRolesFromRole":      {run: refuseRoles, help: refusedRoles, needs: account.ManageUsers, loose: true},
	"revokeRolesFromUser": {run: revokeRolesFromUser, help: "Revokes roles of a user.", needs: account.Any,
		fields: call.FieldSet("roles")},
	"rolesInfo": {run: rolesInfo, help: "Lists roles.", needs: account.Any,
		fields: call.FieldSet("showPrivileges showBuiltinRoles showAuthenticationRestrictions")},
	"saslContinue": {run: saslContinue, help: "Continues an authentication.", open: true, secret: true,
		fields: call.FieldSet("conversationId payload")},
	"saslStart": {run: saslStart, help: "Starts an authentication.", open: true, secret: true,
		fields: call.FieldSet("mechanism payload autoAuthorize options db")},
	"serverStatus": {run: serverStatus, help: "Gives figures about the server.", needs: account.Monitor, loose: true},
	"setParameter": {run: setParameter, help: "Changes settings of the server.",
		needs: account.Administer, loose: true, admin: true},
	"shardCollection": {run: shardCollection, help: "Creates a collection if it does not exist, as Cosmos DB does.",
		needs:  account.Any,
		fields: call.FieldSet("key unique numInitialChunks collation presplitHashedZones timeseries")},
	"startSession": {run: startSession, help: "Starts a session.", needs: account.Any},
	"testDeprecation": {run: doNothing, help: "Is deprecated in the Stable API.",
		needs: account.Any, loose: true, test: true, deprecated: true},
	"testVersion2": {run: doNothing, help: "Is not in the Stable API.", needs: account.Any, loose: true, test: true},
	"top": {run: top, help: "Shows how long requests to each collection took.",
		needs: account.Monitor, admin: true},
	"update": {run: runUpdate, help: "Updates documents.", needs: account.Write, txn: true, write: true,
		fields: call.FieldSet("updates ordered let encryptionInformation")},
	"updateRole":        {run: refuseRoles, help: refusedRoles, needs: account.ManageUsers, loose: true},
	"updateSearchIndex": {run: refuseSearch, help: refused, needs: account.Any, loose: true},
	"updateUser": {run: updateUser, help: "Changes a user.", needs: account.ManageUsers, secret: true,
		fields: userFields},
	"usersInfo": {run: usersInfo, help: "Lists users.", needs: account.Any,
		fields: call.FieldSet("showCredentials showCustomData showPrivileges showAuthenticationRestrictions filter")},
	"validate": {run: validate, help: "Reads all documents and indexes of a collection, and checks them.",
		needs: account.Maintain, fields: validateFields},
	"whatsmyuri": {run: whatsmyuri, help: "Gives the address of the client.", open: true},
}

// commands is the table with the name of each command in it. A server keeps it in a field, because Go does not let
// the functions in the table ask for the table itself: that is an initialization cycle.
func commands() map[string]command {
	list := maps.Clone(table)
	for name, c := range list {
		c.name = name
		list[name] = c
	}
	return list
}

// aliases are the other spellings that MongoDB knows; every other one is an unknown command.
var aliases = map[string]string{
	"buildinfo":     "buildInfo",
	"collstats":     "collStats",
	"datasize":      "dataSize",
	"dbhash":        "dbHash",
	"dbstats":       "dbStats",
	"findandmodify": "findAndModify",
	"ismaster":      "isMaster",
	"mapreduce":     "mapReduce",
}
