package command

import (
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/account"
	"github.com/mayflydb/mayfly/internal/mongo/code"
)

// One server has all the data, so every read concern reads the same, and every write concern that one server can meet
// waits for the same.

// maxNodes bounds the number of servers in a write concern.
const maxNodes = 50

// checkConcerns reads readConcern and writeConcern.
func checkConcerns(r *request) error {
	if r.readConcern.Type != 0 {
		if err := checkReadConcern(r); err != nil {
			return err
		}
	}
	if r.writeConcern.Type != 0 {
		return checkWriteConcern(r)
	}
	return nil
}

func checkReadConcern(r *request) error {
	d, ok := doc.AsDoc(r.readConcern)
	if !ok {
		return r.wrongType("readConcern", r.readConcern, "object")
	}
	level, after := "", doc.Value{}
	for name, v := range doc.Members(d) {
		switch name {
		case "level":
			if level, ok = doc.AsString(v); !ok {
				return code.New(code.TypeMismatch,
					"\"level\" had the wrong type. Expected string, found %s", code.TypeName(v))
			}
		case "afterClusterTime", "atClusterTime":
			if v.Type != bsoncore.TypeTimestamp {
				return code.New(code.TypeMismatch,
					"\"%s\" had the wrong type. Expected timestamp, found %s", name, code.TypeName(v))
			}
			if name == "atClusterTime" {
				return code.Unsupported("readConcern.atClusterTime")
			}
			after = v
		case "afterOpTime", "provenance", "$allowTransactionTableSnapshot", "$waitLastStableRecoveryTimestamp":
		default:
			return code.New(code.InvalidOptions, "Unrecognized option in readConcern: %.200s", name)
		}
	}
	if err := checkConcernLevel(r, level); err != nil {
		return err
	}
	if after.Type == 0 {
		return nil
	}
	if level == "available" || level == "linearizable" {
		return code.New(code.InvalidOptions,
			"afterClusterTime field can be set only if level is equal to majority, local, or snapshot")
	}
	if err := reachClusterTime(r, stampOf(after)); err != nil || r.Waited == 0 {
		return err
	}
	r.At = r.s.o.Clock.Now() // after the wait, so that the read sees what it has waited for
	r.Now = r.At.Unix()
	return nil
}

// readConcernLevel is the level of the read concern of the request, "" for none.
func readConcernLevel(r *request) string {
	d, _ := doc.AsDoc(r.readConcern)
	level, _ := doc.AsString(doc.Lookup(d, "level"))
	return level
}

var errNoReplica = needsSet(code.NotAReplicaSet, "node needs to be a replica set member to use read concern.")

func checkConcernLevel(r *request, level string) error {
	transacts := r.autocommit.Type != 0
	switch level {
	case "", "local", "majority":
	case "available":
		if transacts {
			return errTransactionLevel
		}
	case "linearizable":
		if transacts {
			return errTransactionLevel
		}
		if r.s.o.ReplSet == "" {
			return errNoReplica
		}
		if err := checkLinearizable(r); err != nil {
			return err
		}
	case "snapshot":
		if r.s.o.ReplSet == "" {
			return errNoReplica
		}
		if !transacts {
			return code.New(code.InvalidOptions,
				"readConcern level snapshot is only valid in a multi-document transaction of mayfly")
		}
	default:
		return code.New(code.FailedToParse,
			"readConcern.level must be either 'local', 'majority', 'linearizable', 'available', or 'snapshot'")
	}
	if transacts && r.startsTxn.Type == 0 {
		return code.New(code.InvalidOptions, "Only the first command in a transaction may specify a readConcern")
	}
	return nil
}

var errTransactionLevel = code.New(code.InvalidOptions,
	"The readConcern level must be either 'local' (default), 'majority' or 'snapshot' in order to run in a transaction")

// checkLinearizable refuses pipelines that write, as MongoDB does.
// mongodb/mongo: src/mongo/db/pipeline/document_source_out.h, document_source_merge.h
func checkLinearizable(r *request) error {
	if r.Name != "aggregate" {
		return nil
	}
	for _, v := range r.list("pipeline") {
		stage, _ := doc.AsDoc(v)
		for name := range doc.Members(stage) {
			if name == "$out" || name == "$merge" {
				return code.New(code.InvalidOptions, "Command aggregate does not support "+
					"{ readConcern: { level: \"linearizable\", provenance: \"clientSupplied\" } }"+
					" :: caused by :: %s cannot be used with a 'linearizable' read concern level", name)
			}
		}
	}
	return nil
}

func checkWriteConcern(r *request) error {
	d, ok := doc.AsDoc(r.writeConcern)
	if !ok {
		return r.wrongType("writeConcern", r.writeConcern, "object")
	}
	if r.autocommit.Type != 0 && !endsTransaction(r) {
		return code.New(code.InvalidOptions, "writeConcern is not allowed within a multi-statement transaction")
	}
	for name, v := range doc.Members(d) {
		if err := checkConcernMember(r, name, v); err != nil {
			return err
		}
	}
	return nil
}

func checkConcernMember(r *request, name string, v doc.Value) error {
	switch name {
	case "w":
		return checkNodes(r, v)
	case "j", "fsync":
		if _, ok := truth(v); !ok && v.Type != bsoncore.TypeNull {
			return r.wrongType("writeConcern."+name, v, "[bool, long, int, decimal, double]")
		}
	case "wtimeout", "wElectionId", "wOpTime", "getLastError", "provenance":
	default:
		return code.New(code.FailedToParse, "unrecognized write concern field: %.200s", name)
	}
	return nil
}

func checkNodes(r *request, v doc.Value) error {
	if mode, ok := doc.AsString(v); ok {
		if r.s.o.ReplSet == "" && mode != "majority" && mode != "" {
			return needsSet(code.BadValue,
				"cannot use non-majority 'w' mode \"%.200s\" when a host is not a member of a replica set.", mode)
		}
		return nil
	}
	if v.Type == bsoncore.TypeEmbeddedDocument {
		return nil
	}
	n, ok := wholeOf(v)
	switch {
	case !ok:
		return code.New(code.FailedToParse, "w has to be a number, string, or object; found: %s", code.TypeName(v))
	case n < 0 || n > maxNodes:
		return code.New(code.FailedToParse,
			"w has to be a non-negative number and not greater than %d; found: %d", maxNodes, n)
	case n > 1 && r.s.o.ReplSet == "":
		return needsSet(code.BadValue, "cannot use 'w' > 1 when a host is not replicated.")
	}
	return nil
}

// writeConcernError adds the error of a write concern that cannot be met, or the one that a fail point asks for.
func writeConcernError(r *request, a *answer) {
	if r.forced != nil && r.forced.concern != nil {
		a.Doc("writeConcernError", r.forced.concern)
		c, _ := wholeOf(doc.Lookup(r.forced.concern, "code"))
		labels := labelsOf(r, code.Code(c), true)
		if r.forced.labelled {
			labels = r.forced.labels
		}
		a.labels(labels)
		return
	}
	const changes = account.Write | account.Define | account.Modify | account.Maintain | account.ManageUsers
	if r.writeConcern.Type == 0 || !r.command.write && !endsTransaction(r) && r.command.needs&changes == 0 {
		return
	}
	d, _ := doc.AsDoc(r.writeConcern)
	v := doc.Lookup(d, "w")
	if e := unmetConcern(r, v); e != nil {
		a.Object("writeConcernError")
		a.Int32("code", int(e.Code))
		a.String("codeName", e.Code.Name())
		a.String("errmsg", e.Message)
		a.Object("errInfo")
		a.Object("writeConcern")
		a.Value("w", v)
		wait, _ := wholeOf(doc.Lookup(d, "wtimeout"))
		a.Count("wtimeout", wait)
		a.String("provenance", "clientSupplied")
		a.Close()
		a.Close()
		a.Close()
	}
}

// unmetConcern gives the error of a write concern that one server cannot meet, nil if it can.
func unmetConcern(r *request, w doc.Value) *code.Error {
	if mode, ok := doc.AsString(w); ok {
		if mode == "majority" || mode == "" {
			return nil
		}
		return code.New(code.UnknownReplWriteConcern,
			"No write concern mode named '%.200s' found in replica set configuration", mode)
	}
	if n, ok := wholeOf(w); w.Type == bsoncore.TypeEmbeddedDocument || ok && n > 1 {
		return code.New(code.UnsatisfiableWriteConcern, "Not enough data-bearing nodes")
	}
	return nil
}
