package account

import (
	"maps"
	"slices"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
)

// A Role is one that a user has been granted.
type Role struct {
	Name     string
	Database string
}

// A builtin is one of MongoDB's built-in roles, with the actions of this package in place of MongoDB's finer ones.
// https://www.mongodb.com/docs/v7.0/reference/built-in-roles/
type builtin struct {
	actions   Action
	anywhere  bool // on all databases and the server, not only on the database of the role
	adminOnly bool // only AdminDatabase has the role
}

// Actions that several roles allow.
const (
	reading   = Read | List
	writing   = reading | Write | Define
	tending   = List | Define | Modify | Maintain
	owning    = writing | tending | ManageUsers
	watching  = List | Monitor
	governing = watching | Maintain | Administer
)

var builtins = map[string]builtin{
	"backup":               {actions: reading | Monitor, anywhere: true, adminOnly: true},
	"clusterAdmin":         {actions: governing, anywhere: true, adminOnly: true},
	"clusterManager":       {actions: watching, anywhere: true, adminOnly: true},
	"clusterMonitor":       {actions: watching, anywhere: true, adminOnly: true},
	"dbAdmin":              {actions: tending},
	"dbAdminAnyDatabase":   {actions: tending, anywhere: true, adminOnly: true},
	"dbOwner":              {actions: owning},
	"hostManager":          {actions: watching | Administer, anywhere: true, adminOnly: true},
	"read":                 {actions: reading},
	"readAnyDatabase":      {actions: reading, anywhere: true, adminOnly: true},
	"readWrite":            {actions: writing},
	"readWriteAnyDatabase": {actions: writing, anywhere: true, adminOnly: true},
	"restore":              {actions: writing | tending | ManageUsers, anywhere: true, adminOnly: true},
	"root":                 {actions: All, anywhere: true, adminOnly: true},
	"userAdmin":            {actions: ManageUsers},
	"userAdminAnyDatabase": {actions: ManageUsers | List, anywhere: true, adminOnly: true},
}

// BuiltinRoles are the names of all roles, sorted.
func BuiltinRoles() []string { return slices.Sorted(maps.Keys(builtins)) }

// find gives the built-in role, not ok if its database has none of that name.
func (x Role) find() (builtin, bool) {
	b, ok := builtins[x.Name]
	return b, ok && (!b.adminOnly || x.Database == AdminDatabase)
}

// Exists reports whether the database of the role has a role of that name.
func (x Role) Exists() bool {
	_, ok := x.find()
	return ok
}

// maxRoles bounds how many roles a command names.
const maxRoles = 1000

// ReadRoles reads roles that exist, each once, from the forms that ReadRole knows.
func ReadRoles(list []doc.Value, database string) (roles []Role, err error) {
	if len(list) > maxRoles {
		return nil, code.New(code.BadValue, "Too many roles: %d (limit %d)", len(list), maxRoles)
	}
	for _, v := range list {
		x, err := ReadRole(v, database)
		if err != nil {
			return nil, err
		}
		if !x.Exists() {
			return nil, code.New(code.RoleNotFound, "Could not find role: %s@%s", x.Name, x.Database)
		}
		if !slices.Contains(roles, x) {
			roles = append(roles, x)
		}
	}
	return roles, nil
}

// ReadRole reads a role, which need not exist: the name of one of a database, or a document {role, db}.
func ReadRole(v doc.Value, database string) (Role, error) {
	if name, ok := doc.AsString(v); ok {
		return Role{Name: name, Database: database}, nil
	}
	d, ok := doc.AsDoc(v)
	if !ok {
		return Role{}, code.New(code.BadValue, "Role names must be either strings or objects")
	}
	name, isName := doc.AsString(doc.Lookup(d, "role"))
	of, isDatabase := doc.AsString(doc.Lookup(d, "db"))
	if !isName || !isDatabase {
		return Role{}, code.New(code.BadValue, "Role names must have the string fields 'role' and 'db'")
	}
	return Role{Name: name, Database: of}, nil
}

// ListRoles gives roles as MongoDB shows them: an array of documents {role, db}.
func ListRoles(roles []Role) doc.Value {
	list := bsoncore.NewArrayBuilder()
	for _, x := range roles {
		d := bsoncore.NewDocumentBuilder().AppendString("role", x.Name).AppendString("db", x.Database)
		list.AppendDocument(d.Build())
	}
	return doc.Array(doc.Doc(list.Build()))
}
