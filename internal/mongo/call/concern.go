package call

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

// CheckConcerns reads readConcern and writeConcern.
func CheckConcerns(r *Request) error {
	if r.ReadConcern.Type != 0 {
		if err := checkReadConcern(r); err != nil {
			return err
		}
	}
	if r.WriteConcern.Type != 0 {
		return checkWriteConcern(r)
	}
	return nil
}

func checkReadConcern(r *Request) error {
	d, ok := doc.AsDoc(r.ReadConcern)
	if !ok {
		return r.WrongType("readConcern", r.ReadConcern, "object")
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
	r.At = r.Node.Clock.Now() // after the wait, so that the read sees what it has waited for
	r.Now = r.At.Unix()
	return nil
}

// readConcernLevel is the level of the read concern of the request, "" for none.
func readConcernLevel(r *Request) string {
	d, _ := doc.AsDoc(r.ReadConcern)
	level, _ := doc.AsString(doc.Lookup(d, "level"))
	return level
}

var errNoReplica = NeedsSet(code.NotAReplicaSet, "node needs to be a replica set member to use read concern.")

func checkConcernLevel(r *Request, level string) error {
	transacts := r.Autocommit.Type != 0
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
		if !r.Node.Replicates {
			return errNoReplica
		}
		if err := checkLinearizable(r); err != nil {
			return err
		}
	case "snapshot":
		if !r.Node.Replicates {
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
	if transacts && r.StartsTxn.Type == 0 {
		return code.New(code.InvalidOptions, "Only the first command in a transaction may specify a readConcern")
	}
	return nil
}

var errTransactionLevel = code.New(code.InvalidOptions,
	"The readConcern level must be either 'local' (default), 'majority' or 'snapshot' in order to run in a transaction")

// checkLinearizable refuses pipelines that write, as MongoDB does.
// mongodb/mongo: src/mongo/db/pipeline/document_source_out.h, document_source_merge.h
func checkLinearizable(r *Request) error {
	if r.Name != "aggregate" {
		return nil
	}
	for _, v := range r.List("pipeline") {
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

func checkWriteConcern(r *Request) error {
	d, ok := doc.AsDoc(r.WriteConcern)
	if !ok {
		return r.WrongType("writeConcern", r.WriteConcern, "object")
	}
	if r.Autocommit.Type != 0 && !r.EndsTransaction() {
		return code.New(code.InvalidOptions, "writeConcern is not allowed within a multi-statement transaction")
	}
	for name, v := range doc.Members(d) {
		if err := checkConcernMember(r, name, v); err != nil {
			return err
		}
	}
	return nil
}

func checkConcernMember(r *Request, name string, v doc.Value) error {
	switch name {
	case "w":
		return checkNodes(r, v)
	case "j", "fsync":
		if _, ok := Truth(v); !ok && v.Type != bsoncore.TypeNull {
			return r.WrongType("writeConcern."+name, v, "[bool, long, int, decimal, double]")
		}
	case "wtimeout", "wElectionId", "wOpTime", "getLastError", "provenance":
	default:
		return code.New(code.FailedToParse, "unrecognized write concern field: %.200s", name)
	}
	return nil
}

func checkNodes(r *Request, v doc.Value) error {
	if mode, ok := doc.AsString(v); ok {
		if !r.Node.Replicates && mode != "majority" && mode != "" {
			return NeedsSet(code.BadValue,
				"cannot use non-majority 'w' mode \"%.200s\" when a host is not a member of a replica set.", mode)
		}
		return nil
	}
	if v.Type == bsoncore.TypeEmbeddedDocument {
		return nil
	}
	n, ok := WholeOf(v)
	switch {
	case !ok:
		return code.New(code.FailedToParse, "w has to be a number, string, or object; found: %s", code.TypeName(v))
	case n < 0 || n > maxNodes:
		return code.New(code.FailedToParse,
			"w has to be a non-negative number and not greater than %d; found: %d", maxNodes, n)
	case n > 1 && !r.Node.Replicates:
		return NeedsSet(code.BadValue, "cannot use 'w' > 1 when a host is not replicated.")
	}
	return nil
}

// WriteConcernError adds the error of a write concern that cannot be met, or the one that a fail point asks for.
func WriteConcernError(r *Request, a *doc.Writer) {
	if r.Forced != nil && r.Forced.Concern != nil {
		a.Doc("writeConcernError", r.Forced.Concern)
		c, _ := WholeOf(doc.Lookup(r.Forced.Concern, "code"))
		labels := labelsOf(r, code.Code(c), true)
		if r.Forced.Labelled {
			labels = r.Forced.Labels
		}
		WriteLabels(a, labels)
		return
	}
	const changes = account.Write | account.Define | account.Modify | account.Maintain | account.ManageUsers
	if r.WriteConcern.Type == 0 || !r.Traits.Retryable && !r.EndsTransaction() && r.Traits.Needs&changes == 0 {
		return
	}
	d, _ := doc.AsDoc(r.WriteConcern)
	v := doc.Lookup(d, "w")
	if e := unmetConcern(r, v); e != nil {
		a.Object("writeConcernError")
		a.Int32("code", int(e.Code))
		a.String("codeName", e.Code.Name())
		a.String("errmsg", e.Message)
		a.Object("errInfo")
		a.Object("writeConcern")
		a.Value("w", v)
		wait, _ := WholeOf(doc.Lookup(d, "wtimeout"))
		a.Count("wtimeout", wait)
		a.String("provenance", "clientSupplied")
		a.Close()
		a.Close()
		a.Close()
	}
}

// unmetConcern gives the error of a write concern that one server cannot meet, nil if it can.
func unmetConcern(r *Request, w doc.Value) *code.Error {
	if mode, ok := doc.AsString(w); ok {
		if mode == "majority" || mode == "" {
			return nil
		}
		return code.New(code.UnknownReplWriteConcern,
			"No write concern mode named '%.200s' found in replica set configuration", mode)
	}
	if n, ok := WholeOf(w); w.Type == bsoncore.TypeEmbeddedDocument || ok && n > 1 {
		return code.New(code.UnsatisfiableWriteConcern, "Not enough data-bearing nodes")
	}
	return nil
}
