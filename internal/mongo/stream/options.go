package stream

import (
	"cmp"
	"strings"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/write"
	"github.com/mayflydb/mayfly/internal/store"
)

// Options are the members of $changeStream.
// https://www.mongodb.com/docs/v7.0/reference/operator/aggregation/changeStream/
type Options struct {
	lookup     string // fullDocument, "default" if missing
	before     string // fullDocumentBeforeChange, "off" if missing
	expanded   bool
	everything bool // allChangesForCluster

	resumeAfter, startAfter doc.Value
	startAt                 doc.Value
}

// ReadOptions reads the argument of $changeStream.
func ReadOptions(arg doc.Value) (o Options, err error) {
	d, ok := doc.AsDoc(arg)
	if !ok {
		return o, code.New(50808, "$changeStream stage expects a document as argument")
	}
	o.lookup, o.before = "default", "off"
	for name, v := range doc.Members(d) {
		// Drivers send null for options that are not set.
		if v.Type == bsoncore.TypeNull {
			continue
		}
		switch name {
		case "fullDocument":
			err = oneOf(name, v, &o.lookup, "default updateLookup whenAvailable required")
		case "fullDocumentBeforeChange":
			err = oneOf(name, v, &o.before, "off whenAvailable required")
		case "resumeAfter":
			o.resumeAfter = v
		case "startAfter":
			o.startAfter = v
		case "startAtOperationTime":
			if o.startAt = v; v.Type != bsoncore.TypeTimestamp {
				err = code.WrongType("$changeStream."+name, v, "timestamp")
			}
		case "showExpandedEvents":
			o.expanded, err = readTruth(name, v)
		case "allChangesForCluster":
			o.everything, err = readTruth(name, v)
		case "showMigrationEvents", "allowToRunOnConfigDB", "allowToRunOnSystemNS", "showSystemEvents",
			"showRawUpdateDescription":
			// false is the default, which drivers may send. true would change what the stream shows, and cannot be
			// honoured.
			if on, err := readTruth(name, v); on || err != nil {
				return o, cmp.Or(err, error(code.Unsupported("the option "+name+" of $changeStream")))
			}
		default:
			err = code.New(code.UnknownFieldOfCommand, "BSON field '$changeStream.%s' is an unknown field.", name)
		}
		if err != nil {
			return o, err
		}
	}
	return o, o.check()
}

func (o *Options) check() error {
	switch resumes := o.resumeAfter.Type != 0; {
	case resumes && o.startAfter.Type != 0:
		return code.New(50865, "Do not specify both 'resumeAfter' and 'startAfter' in a $changeStream stage")
	case o.startAt.Type != 0 && (resumes || o.startAfter.Type != 0):
		return code.New(40674, "Only one type of resume option is allowed, but multiple were found.")
	}
	return nil
}

func readTruth(name string, v doc.Value) (bool, error) {
	b, ok := doc.AsBool(v)
	if !ok {
		return false, code.WrongType("$changeStream."+name, v, "bool")
	}
	return b, nil
}

func oneOf(name string, v doc.Value, into *string, words string) error {
	s, ok := doc.AsString(v)
	if !ok {
		return code.WrongType("$changeStream."+name, v, "string")
	}
	for word := range strings.FieldsSeq(words) {
		if s == word {
			*into = word
			return nil
		}
	}
	return code.New(code.BadValue, "Enumeration value '%s' for field '$changeStream.%s' is not a valid value.", s, name)
}

// A Scope is what a change stream looks at: all databases, one, or one container of it.
// It goes by names, so that a stream may wait for a container to be made.
type Scope struct{ database, container string }

// ScopeOf tells what is watched: a database, or the container called name, which c is if it is there.
func (o *Options) ScopeOf(db, name string, c *catalog.Container) (s Scope, err error) {
	s.database, s.container = strings.Clone(db), strings.Clone(name) // the request's bytes do not outlive it
	switch {
	case o.everything && (db != "admin" || s.container != ""):
		return s, code.New(code.InvalidOptions,
			"A $changeStream with 'allChangesForCluster:true' may only be opened on the 'admin' database, and with "+
				"no collection name; found %s",
			strings.TrimSuffix(db+"."+s.container, "."))
	case o.everything:
		return Scope{}, nil
	case isInternal(db):
		return s, code.New(code.InvalidNamespace, "$changeStream may not be opened on the internal %s database", db)
	case strings.HasPrefix(s.container, "system."):
		return s, code.New(code.InvalidNamespace, "$changeStream may not be opened on the internal %s.%s collection",
			db, s.container)
	case c != nil && c.State().Dialect != catalog.Mongo:
		return s, code.New(code.CommandNotSupported,
			"The collection '%s.%s' is a Cosmos DB for NoSQL container, whose changes are followed through its own "+
				"API.", db, s.container)
	}
	return s, nil
}

// isInternal reports whether streams leave a database out.
func isInternal(db string) bool { return db == "admin" || db == "config" || db == "local" }

// sees reports whether an entry of the log is within the scope. Who watches one collection hears nothing of views.
func (s Scope) sees(e *store.LogEntry) bool {
	_, isView := write.OfViews[e.Kind]
	switch {
	case s.container != "" && isView:
		return false
	case s.database == "" && isInternal(e.DatabaseName), s.database != "" && s.database != e.DatabaseName:
		return false
	case s.container == "":
		return !strings.HasPrefix(e.ContainerName, "system.")
	case e.ContainerName == s.container:
		return true
	}
	// A rename to the watched name ends the stream: the container that it watched is replaced.
	return e.Kind == write.LogRename && write.RenamedTo(e) == s.container
}

// ends reports whether a stream is over with an entry that it sees.
func (s Scope) ends(e *store.LogEntry) bool {
	switch e.Kind {
	case write.LogDropDatabase:
		return s.database != ""
	case write.LogDrop, write.LogRename:
		return s.container != ""
	}
	return false
}
