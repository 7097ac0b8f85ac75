package call

import (
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/account"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/session"
)

// MongoDB's Stable API is a set of commands, members, stages and operators that never change. A client names the
// version that it wants, and with apiStrict everything else is refused.
// https://www.mongodb.com/docs/v7.0/reference/stable-api/
// https://github.com/mongodb/specifications/blob/master/source/versioned-api/versioned-api.md

// StableCommands are the commands of version 1 that mayfly has: apiVersions() in MongoDB's source gives kApiVersions1.
// https://www.mongodb.com/docs/v7.0/reference/stable-api-changelog/
var StableCommands = FieldSet(`abortTransaction aggregate collMod commitTransaction count create createIndexes
	delete deleteIndexes drop dropDatabase dropIndexes endSessions explain find findAndModify getMore hello insert
	killCursors listCollections listDatabases listIndexes ping refreshSessions saslContinue saslStart
	testDeprecation update`)

// unstableFields are the members of stable commands that are not stable: "stability: unstable" in the .idl files of
// mongodb/mongo: src/mongo/db/pipeline/aggregate_command.idl, src/mongo/db/query/find_command.idl,
// src/mongo/db/create_indexes.idl and their like. Members that only routers send are left out.
var unstableFields = map[string]map[string]bool{
	"aggregate": FieldSet(`explain $queryOptions $_requestReshardingResumeToken runtimeConstants isMapReduceCommand
		collectionUUID $_passthroughToShard encryptionInformation $_externalDataSources sampleId
		$_requestResumeToken $_resumeAfter`),
	"collMod": FieldSet("collectionUUID"),
	"count":   FieldSet("$queryOptions collectionUUID encryptionInformation"),
	"create": FieldSet(
		"autoIndexId storageEngine indexOptionDefaults recordPreImages temp flags encryptedFields"),
	"createIndexes": FieldSet("ignoreUnknownIndexOptions returnOnStart collectionUUID"),
	"delete":        FieldSet("collectionUUID encryptionInformation"),
	"drop":          FieldSet("collectionUUID"),
	"dropIndexes":   FieldSet("collectionUUID"),
	"find": FieldSet(`ntoreturn min max returnKey showRecordId $queryOptions tailable oplogReplay noCursorTimeout
		awaitData options term readOnce allowSpeculativeMajorityRead $_requestResumeToken $_resumeAfter
		runtimeConstants collectionUUID encryptionInformation`),
	"findAndModify":   FieldSet("runtimeConstants collectionUUID encryptionInformation sampleId"),
	"getMore":         FieldSet("term lastKnownCommittedOpTime"),
	"insert":          FieldSet("collectionUUID encryptionInformation"),
	"listCollections": FieldSet("includePendingDrops"),
	"listIndexes":     FieldSet("includeBuildUUIDs includeIndexBuildInfo"),
	"update":          FieldSet("runtimeConstants collectionUUID encryptionInformation sampleId"),
}

// unstableOptions are the members of an element of indexes in createIndexes, and of index in collMod.
// mongodb/mongo: src/mongo/db/create_indexes.idl, src/mongo/db/coll_mod.idl
var unstableOptions = FieldSet(`background sparse storageEngine bucketSize columnstoreProjection columnstoreCompressor
	dropDups originalSpec prepareUnique forceNonUnique`)

// MustMatch fails when the request says something else than the one that has begun what it goes on with.
func MustMatch(r *Request, first session.API, what string) error {
	if r.API == first {
		return nil
	}
	return code.New(code.APIMismatchError, "API parameter mismatch: %s used params %s, the %s used %s", r.Name,
		code.Show(doc.Object(r.API.Doc())), what, code.Show(doc.Object(first.Doc())))
}

// CheckAPI refuses commands that are not in the API that the client asks for.
func CheckAPI(r *Request, required bool) error {
	if r.API == (session.API{}) {
		if required {
			return code.New(498870,
				"The apiVersion parameter is required, please configure your MongoClient's API version")
		}
		return nil
	}
	switch {
	case r.API.Version == "":
		return code.New(4886600, "Provided apiStrict and/or apiDeprecationErrors without passing apiVersion")
	case r.Strict() && !StableCommands[r.Name]:
		return code.New(code.APIStrictError,
			"Provided apiStrict:true, but the command %s is not in API Version 1. Information on supported commands "+
				"and migrations in API Version 1 can be found at https://dochub.mongodb.org/core/manual-versioned-api",
			r.Name)
	case r.Strict() && r.Traits.Needs&account.Write != 0 && r.ContainerName() == "system.js":
		return code.New(code.APIStrictError,
			"Provided apiStrict:true, but the command %s attempts to write to system.js", r.Name)
	case r.API.Deprecation == session.GivenTrue && r.Traits.Deprecated:
		return code.New(code.APIDeprecationError,
			"Provided apiDeprecationErrors:true, but the command %s is deprecated in API Version 1", r.Name)
	}
	return nil
}

// CheckStableFields refuses members of the command, and of what is in it, that are not in the Stable API.
func CheckStableFields(r *Request) error {
	for name, v := range doc.Members(r.Body) {
		switch {
		case unstableFields[r.Name][name]:
			return unstableField(r.Name + "." + name)
		case r.Name == "createIndexes" && name == "indexes":
			for element := range doc.Elements(v) {
				if err := checkStableIndex("NewIndexSpec", element); err != nil {
					return err
				}
			}
		case r.Name == "collMod" && name == "index":
			if err := checkStableIndex("collMod.index", v); err != nil {
				return err
			}
		case r.Name == "create" && name == "capped" && IsTrue(v) && r.Get("size").Type != 0:
			return unstableField("create.capped")
		}
	}
	return nil
}

// checkStableIndex refuses members of an index definition that are not in the Stable API.
func checkStableIndex(within string, v doc.Value) error {
	d, _ := doc.AsDoc(v)
	for name := range doc.Members(d) {
		if unstableOptions[name] {
			return unstableField(within + "." + name)
		}
	}
	for _, kind := range doc.Members(Member(d, "key")) {
		if s, _ := doc.AsString(kind); kind.Type == bsoncore.TypeString && (s == "text" || s == "columnstore") {
			return code.Unstable("an index of type '" + s + "'")
		}
	}
	return nil
}

// unstableField is the error about a member.
// mongodb/mongo: src/mongo/idl/idl_parser.cpp, throwAPIStrictErrorIfApplicable
func unstableField(path string) error {
	return code.New(code.APIStrictError, "BSON field '%s' is not allowed with apiStrict:true.", path)
}
