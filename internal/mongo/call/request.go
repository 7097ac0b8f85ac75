// Package call is a command of a client as the packages that carry it out see it. A Request has the command's own
// arguments, the generic ones that any command may have, such as its session, transaction, concerns and the Stable API,
// and the operation. The package reads and checks what a client says; it opens no connection, knows no command by its
// function, and reads no document.
package call

import (
	"cmp"
	"strings"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/account"
	"github.com/mayflydb/mayfly/internal/mongo/expression"
	"github.com/mayflydb/mayfly/internal/mongo/session"
)

// A Request is one command of a client: its arguments, and the operation that carries it out.
type Request struct {
	session.Operation
	Arguments
	Generic
	Traits Traits
	Client Client
	Number int32 // of the operation, by which killOp finds it; 0 until it runs

	Forced    *Forced // what a fail point wants of the answer, nil for nothing
	Repeated  bool    // the answer is that of an earlier request
	Spoilt    bool    // what it has read cannot be read again
	Following bool    // it reads a change stream
}

// Traits are what the table of commands says of a command.
type Traits struct {
	Needs         account.Action // what the client must be allowed on the database
	Transactional bool           // may run in a multi-document transaction
	Retryable     bool           // may be retried with a transaction number
	Deprecated    bool           // in the Stable API
	Secret        bool           // its members are shown to nobody
}

// A Client is the client whose request it is.
type Client interface {
	// User is who it has authenticated as, nil for nobody.
	User() *account.Identity
	// AppName is the name of its application, "" for none.
	AppName() string
	// Address is the address of the server as the client knows it.
	Address() string
	// Allowed reports whether it may do something on a database; "" is all databases and the server.
	Allowed(needs account.Action, database string) bool
	// May fails with Unauthorized unless it is allowed.
	May(needs account.Action, database string) error
}

// Forced is what a fail point changes in the answer of a command that runs.
type Forced struct {
	Concern  doc.Doc // writeConcernError, nil for none
	Labels   []string
	Labelled bool // Labels are in place of the usual ones
}

// Generic are the arguments that any command may have. Those that are zero are missing.
type Generic struct {
	LSID       doc.Value
	TxnNumber  int64
	HasTxn     bool
	Autocommit doc.Value
	StartsTxn  doc.Value

	ReadConcern, WriteConcern doc.Value
	Gossiped                  doc.Value // $clusterTime

	Help bool // it asks what the command is, and does not want it run
}

// GenericFields are members that every command takes, whether it has a use for them or not.
var GenericFields = FieldSet(`$db $readPreference $clusterTime $audit $client $configTime $topologyTime $queryOptions
	lsid txnNumber autocommit startTransaction stmtId stmtIds comment maxTimeMS maxAwaitTimeMS apiVersion apiStrict
	apiDeprecationErrors readConcern writeConcern bypassDocumentValidation bypassEmptyTsReplacement rawData
	errorsOnly mayBypassWriteBlocking allowImplicitCollectionCreation isTimeseriesNamespace databaseVersion
	shardVersion readOnce`)

// ReadGeneric takes in a member that any command may have, and leaves others alone.
func (r *Request) ReadGeneric(name string, v doc.Value) error {
	switch name {
	case "$db":
		s, ok := doc.AsString(v)
		if !ok {
			return r.WrongType(name, v, "string")
		}
		r.DB = strings.Clone(s)
	case "maxTimeMS":
		return readMaxTime(r, v)
	case "lsid":
		r.LSID = v
	case "txnNumber":
		n, ok := doc.AsInt64Exact(v)
		if !ok || v.Type != bsoncore.TypeInt64 {
			return r.WrongType(name, v, "long")
		}
		r.TxnNumber, r.HasTxn = n, true
	case "autocommit":
		r.Autocommit = v
	case "startTransaction":
		r.StartsTxn = v
	case "$clusterTime":
		r.Gossiped = v
	case "help":
		r.Help = expression.Truthy(v)
	case "readConcern":
		r.ReadConcern = v
	case "writeConcern":
		r.WriteConcern = v
	case "apiVersion", "apiStrict", "apiDeprecationErrors":
		return r.API.Read(name, v)
	}
	return nil
}

// Shown is the command as other users may see it: without passwords.
func (r *Request) Shown() doc.Doc {
	if !r.Traits.Secret {
		return r.Body
	}
	a := doc.NewWriter(nil)
	a.Value(r.Name, r.Arg)
	a.String("$db", r.DB)
	return a.End()
}

// aboutContainers are the actions of commands about one container.
const aboutContainers = account.Read | account.List | account.Write | account.Define | account.Modify | account.Maintain

// ContainerName is the name of the container that the request is about, "" if it is about none. It shares the memory of
// the request.
func (r *Request) ContainerName() string {
	v := r.Arg
	switch {
	case r.Name == "getMore":
		v = doc.Lookup(r.Body, "collection")
	case r.Name != "aggregate" && r.Traits.Needs&aboutContainers == 0:
		return ""
	}
	name, _ := doc.AsString(v)
	return name
}

// Namespace is the container that the request is about, or MongoDB's $cmd.
func (r *Request) Namespace() string {
	return r.DB + "." + cmp.Or(r.ContainerName(), "$cmd")
}

// Owner is the user that sessions and cursors of the request belong to, the zero value where clients do not
// authenticate.
func (r *Request) Owner() account.Identity {
	if u := r.Client.User(); u != nil {
		return *u
	}
	return account.Identity{}
}
