package command

import (
	"strings"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/account"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/query"
	"github.com/mayflydb/mayfly/internal/mongo/write"
)

const adminDatabase = account.AdminDatabase

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

// checkDatabaseName refuses what MongoDB refuses before it looks at the command.
func checkDatabaseName(name string) error {
	switch {
	case strings.Contains(name, "\x00"):
		return write.NullInName()
	case strings.Contains(name, "."):
		return code.New(code.InvalidNamespace, "'.' is an invalid character in a db name: %s", name)
	case len(name) > write.MaxDatabaseName:
		return code.New(code.InvalidNamespace, "db name must be at most %d characters, found: %d", write.MaxDatabaseName, len(name))
	}
	return nil
}

// checkNames checks the name of the database together with the command's own value.
func checkNames(r *request) error {
	if _, on := onCollections[r.Name]; write.IsDatabaseName(r.db) || on && r.arg.Type == bsoncore.TypeString {
		return nil // what has a collection checks both
	}
	return code.New(code.InvalidNamespace, "Invalid database name: '%s'", r.db)
}

// collection reads the name of the container that the command is about: the value of its own member.
func (r *request) collection() string {
	name, ok := doc.AsString(r.arg)
	if !ok {
		r.fault(wrongName(r))
		return ""
	}
	r.faultIf(write.CheckCollectionName(r.db, name))
	return strings.Clone(name)
}

// wrongName is the error for a value that is not a name.
func wrongName(r *request) error {
	_, number := doc.AsFloat(r.arg)
	switch kind := onCollections[r.Name]; {
	case kind == unreadableName:
		return code.New(code.InvalidNamespace, "Failed to parse namespace element")
	case r.Name == "aggregate" && number:
		return code.New(code.BadValue,
			"Invalid command format: the 'aggregate' field must specify a collection name or 1")
	case kind == code.BadValue && isUUID(r.arg):
		return code.New(code.BadValue, "Collection name must be provided. UUID is not valid in this context")
	default:
		return code.New(kind, "collection name has invalid type %s", code.TypeName(r.arg))
	}
}

// isUUID reports whether a value is binary data of subtype 4.
func isUUID(v doc.Value) bool {
	return v.Type == bsoncore.TypeBinary && len(v.Data) == 4+1+16 && v.Data[4] == 4
}

// existingContainer finds the collection that a command is about, which is no view.
func existingContainer(r *request, name string, missing *code.Error) (*catalog.Container, error) {
	c, err := r.Find(r.db, name)
	switch {
	case err != nil:
		return nil, err
	case c == nil:
		return nil, missing
	case query.ViewOf(c) != nil:
		return nil, code.New(code.CommandNotSupportedOnView, "Namespace %s.%s is a view, not a collection", r.db, name)
	}
	return c, nil
}
