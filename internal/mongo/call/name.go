package call

import (
	"strings"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
)

// onCollections are the commands whose own value is the name of a collection. MongoDB 7.0 refuses a value of another
// type with one of three errors, which differ by command. The texts are recorded in FerretDB/FerretDB:
// integration/{query,distinct,explain,indexes_command}_test.go.
var onCollections = map[string]code.Code{
	"aggregate":      code.BadValue,
	"collMod":        code.BadValue,
	"collStats":      code.BadValue,
	"create":         code.BadValue,
	"createIndexes":  code.BadValue,
	"delete":         code.BadValue,
	"deleteIndexes":  code.BadValue,
	"drop":           code.BadValue,
	"dropIndexes":    code.BadValue,
	"findAndModify":  code.BadValue,
	"insert":         code.BadValue,
	"listIndexes":    code.BadValue,
	"update":         code.BadValue,
	"compact":        code.InvalidNamespace,
	"planCacheClear": code.InvalidNamespace,
	"reIndex":        code.InvalidNamespace,
	"validate":       code.InvalidNamespace,
	"count":          unreadableName,
	"distinct":       unreadableName,
	"find":           unreadableName,
}

// unreadableName marks the commands that check the type of the name before they read anything else.
const unreadableName code.Code = 0

// CheckDatabaseName refuses what MongoDB refuses before it looks at the command.
func CheckDatabaseName(name string) error {
	switch {
	case strings.Contains(name, "\x00"):
		return nullInName()
	case strings.Contains(name, "."):
		return code.New(code.InvalidNamespace, "'.' is an invalid character in a db name: %s", name)
	case len(name) > maxDatabaseName:
		return code.New(code.InvalidNamespace,
			"db name must be at most %d characters, found: %d", maxDatabaseName, len(name))
	}
	return nil
}

// CheckNames checks the name of the database together with the command's own value.
func CheckNames(r *Request) error {
	if _, on := onCollections[r.Name]; isDatabaseName(r.DB) || on && r.Arg.Type == bsoncore.TypeString {
		return nil // what has a collection checks both
	}
	return code.New(code.InvalidNamespace, "Invalid database name: '%s'", r.DB)
}

// Collection reads the name of the container that the command is about: the value of its own member.
func (r *Request) Collection() string {
	name, ok := doc.AsString(r.Arg)
	if !ok {
		r.Fault(wrongName(r))
		return ""
	}
	r.FaultIf(CheckName(r.DB, name))
	return strings.Clone(name)
}

// wrongName is the error for a value that is not a name.
func wrongName(r *Request) error {
	_, number := doc.AsFloat(r.Arg)
	switch kind := onCollections[r.Name]; {
	case kind == unreadableName:
		return code.New(code.InvalidNamespace, "Failed to parse namespace element")
	case r.Name == "aggregate" && number:
		return code.New(code.BadValue,
			"Invalid command format: the 'aggregate' field must specify a collection name or 1")
	case kind == code.BadValue && isUUID(r.Arg):
		return code.New(code.BadValue, "Collection name must be provided. UUID is not valid in this context")
	default:
		return code.New(kind, "collection name has invalid type %s", code.TypeName(r.Arg))
	}
}

// isUUID reports whether a value is binary data of subtype 4.
func isUUID(v doc.Value) bool {
	return v.Type == bsoncore.TypeBinary && len(v.Data) == 4+1+16 && v.Data[4] == 4
}

// Limits of names, as MongoDB has them.
const (
	maxDatabaseName = 63
	maxNamespace    = 255
)

// nullInName is the answer to a name with a NUL in it.
func nullInName() error {
	return code.New(code.InvalidNamespace, "namespaces cannot have embedded null characters")
}

// isDatabaseName reports whether a database may have this name; a $ is refused when it is to be made.
func isDatabaseName(name string) bool { return name != "" && !strings.ContainsAny(name, "/\\ \"") }

// CheckName refuses names that no collection can have.
func CheckName(db, name string) error {
	switch {
	case strings.Contains(name, "\x00"):
		return nullInName()
	case strings.HasPrefix(name, "."):
		return code.New(code.InvalidNamespace, "Collection names cannot start with '.': %s", name)
	case name == "" || !isDatabaseName(db):
		return code.New(code.InvalidNamespace, "Invalid namespace specified '%s.%s'", db, name)
	case strings.Contains(name, "$"):
		return code.New(code.InvalidNamespace, "Invalid collection name: %s", name)
	case len(db)+1+len(name) > maxNamespace:
		return code.New(code.InvalidNamespace,
			"Fully qualified namespace is too long. Namespace: %s.%s Max: %d", db, name, maxNamespace)
	}
	return nil
}

// SplitNamespace reads "database.collection".
func SplitNamespace(ns string) (db, name string, err error) {
	db, name, ok := strings.Cut(ns, ".")
	if !ok || CheckDatabaseName(db) != nil {
		return "", "", code.New(code.InvalidNamespace, "Invalid namespace specified '%s'", ns)
	}
	return db, name, CheckName(db, name)
}
