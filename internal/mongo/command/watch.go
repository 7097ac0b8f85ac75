package command

import (
	"strings"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/pipeline"
	"github.com/mayflydb/mayfly/internal/store"
)

// watchOptions are the members of $changeStream.
// https://www.mongodb.com/docs/v7.0/reference/operator/aggregation/changeStream/
type watchOptions struct {
	lookup     string // fullDocument, "default" if missing
	before     string // fullDocumentBeforeChange, "off" if missing
	expanded   bool
	everything bool // allChangesForCluster

	resumeAfter, startAfter doc.Value
	startAt                 doc.Value
}

// openStream answers with a change stream.
func (r *request) openStream(a *answer, x *aggregation, arg doc.Value, size int64) error {
	switch {
	case r.s.o.ReplSet == "":
		return needsSet(40573, "The $changeStream stage is only supported on replica sets.")
	case r.tx != nil:
		return code.New(code.OperationNotSupportedInTransaction,
			"Stage not supported inside of a multi-document transaction: $changeStream")
	}
	stages := r.list("pipeline")
	if x.container != nil && viewOf(x.container) != nil || stageName(stages) != "$changeStream" {
		return code.New(code.CommandNotSupportedOnView, "Namespace %s is a view, not a collection", x.ns)
	}
	o, err := readWatch(arg)
	if err != nil {
		return err
	}
	s := &stream{s: r.s, watchOptions: o, env: &pipeline.Env{Now: r.at, ClusterTime: doc.Clone(r.clusterTime()),
		Random: random, Vars: x.vars}}
	if s.scope, err = r.scopeOf(&o, x.container); err != nil {
		return err
	}
	if s.rest, err = pipeline.Compile(stages[1:], pipeline.Options{Names: x.names}); err != nil {
		return err
	}
	if _, err = s.rest.Each(r.ctx, s.env); err != nil {
		return err
	}
	if err = s.begin(r.ctx); err != nil {
		return err
	}
	return r.reply(a, x.ns, s, size, func(c *cursor) { c.await, c.token = true, s.token })
}

// readWatch reads the argument of $changeStream.
func readWatch(arg doc.Value) (o watchOptions, err error) {
	d, ok := doc.AsDoc(arg)
	if !ok {
		return o, code.New(50808, "$changeStream stage expects a document as argument")
	}
	o.lookup, o.before = "default", "off"
	for name, v := range doc.Members(d) {
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
				err = wrongTypeOf("$changeStream."+name, v, "timestamp")
			}
		case "showExpandedEvents":
			o.expanded, err = readTruth(name, v)
		case "allChangesForCluster":
			o.everything, err = readTruth(name, v)
		case "showMigrationEvents", "allowToRunOnConfigDB", "allowToRunOnSystemNS", "showSystemEvents",
			"showRawUpdateDescription":
			if on, err := readTruth(name, v); on || err != nil {
				return o, cmpOr(err, code.Unsupported("the option "+name+" of $changeStream"))
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

func (o *watchOptions) check() error {
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
		return false, wrongTypeOf("$changeStream."+name, v, "bool")
	}
	return b, nil
}

func oneOf(name string, v doc.Value, into *string, words string) error {
	s, ok := doc.AsString(v)
	if !ok {
		return wrongTypeOf("$changeStream."+name, v, "string")
	}
	for word := range strings.FieldsSeq(words) {
		if s == word {
			*into = word
			return nil
		}
	}
	return code.New(code.BadValue, "Enumeration value '%s' for field '$changeStream.%s' is not a valid value.", s, name)
}

// A watchScope is what a change stream watches: all databases, one database, or one container. It has their names, so
// that a stream may be opened before its container is created.
type watchScope struct{ database, container string }

// scopeOf gives the scope of the request, and checks that it may be watched.
func (r *request) scopeOf(o *watchOptions, c *catalog.Container) (s watchScope, err error) {
	if name, ok := doc.AsString(r.arg); ok {
		s.container = strings.Clone(name) // the request's bytes do not outlive it
	}
	s.database = strings.Clone(r.db)
	switch {
	case o.everything && (r.db != adminDatabase || s.container != ""):
		return s, code.New(code.InvalidOptions, "A $changeStream with 'allChangesForCluster:true' may only be opened "+
			"on the 'admin' database, and with no collection name; found %s",
			strings.TrimSuffix(r.db+"."+s.container, "."))
	case o.everything:
		return watchScope{}, nil
	case isInternal(r.db):
		return s, code.New(code.InvalidNamespace, "$changeStream may not be opened on the internal %s database", r.db)
	case strings.HasPrefix(s.container, "system."):
		return s, code.New(code.InvalidNamespace,
			"$changeStream may not be opened on the internal %s.%s collection", r.db, s.container)
	case c != nil && c.State().Dialect != catalog.Mongo:
		return s, code.New(code.CommandNotSupported, "The collection '%s.%s' is a Cosmos DB for NoSQL container, "+
			"whose changes are followed through its own API.", r.db, s.container)
	}
	return s, nil
}

// isInternal reports whether a database is one that change streams do not see.
func isInternal(db string) bool { return db == adminDatabase || db == "config" || db == "local" }

// sees reports whether an entry of the log is in the scope. A stream over one collection does not see views.
func (s watchScope) sees(e *store.LogEntry) bool {
	_, isView := ofViews[e.Kind]
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
	return e.Kind == logRename && renamedTo(e) == s.container
}

// ends reports whether an entry that a stream sees is its last.
func (s watchScope) ends(e *store.LogEntry) bool {
	switch e.Kind {
	case logDropDatabase:
		return s.database != ""
	case logDrop, logRename:
		return s.container != ""
	}
	return false
}
