package command

import (
	"slices"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
)

// A role is one that a user has been given.
type role struct {
	name     string
	database string
}

// A builtin is one of MongoDB's built-in roles, in a coarse form.
// https://www.mongodb.com/docs/v7.0/reference/built-in-roles/
type builtin struct {
	actions   action
	anywhere  bool // on all databases and the server, not only on that of the role
	adminOnly bool // only the database admin has the role
}

// What roles allow on a database.
const (
	reading   = readAction | listAction
	writing   = reading | writeAction | shapeAction
	tending   = listAction | shapeAction | changeAction | databaseAction
	owning    = writing | tending | userAction
	watching  = listAction | monitorAction
	governing = watching | databaseAction | serverAction
)

var builtins = map[string]builtin{
	"read":                 {actions: reading},
	"readWrite":            {actions: writing},
	"dbAdmin":              {actions: tending},
	"userAdmin":            {actions: userAction},
	"dbOwner":              {actions: owning},
	"readAnyDatabase":      {actions: reading, anywhere: true, adminOnly: true},
	"readWriteAnyDatabase": {actions: writing, anywhere: true, adminOnly: true},
	"dbAdminAnyDatabase":   {actions: tending, anywhere: true, adminOnly: true},
	"userAdminAnyDatabase": {actions: userAction | listAction, anywhere: true, adminOnly: true},
	"clusterMonitor":       {actions: watching, anywhere: true, adminOnly: true},
	"clusterManager":       {actions: watching, anywhere: true, adminOnly: true},
	"hostManager":          {actions: watching | serverAction, anywhere: true, adminOnly: true},
	"clusterAdmin":         {actions: governing, anywhere: true, adminOnly: true},
	"backup":               {actions: reading | monitorAction, anywhere: true, adminOnly: true},
	"restore":              {actions: writing | tending | userAction, anywhere: true, adminOnly: true},
	"root":                 {actions: allActions, anywhere: true, adminOnly: true},
}

// find gives the built-in role, not ok when there is none of that name on that database.
func (x role) find() (builtin, bool) {
	b, ok := builtins[x.name]
	return b, ok && (!b.adminOnly || x.database == adminDatabase)
}

// maxRoles bounds the roles that a command names.
const maxRoles = 1000

// readRoles reads a list of roles: names, of the request's database, and documents {role, db}.
func (r *request) readRoles(field string) ([]role, error) {
	if r.get(field).Type == 0 {
		return nil, code.New(code.MissingFieldOfCommand, "BSON field '%s.%s' is missing but a required field", r.name, field)
	}
	list := r.list(field)
	if r.err != nil {
		return nil, r.err
	}
	if len(list) > maxRoles {
		return nil, code.New(code.BadValue, "there are %d roles, and may be %d", len(list), maxRoles)
	}
	var roles []role
	for _, v := range list {
		x, err := r.readRole(v)
		if err != nil {
			return nil, err
		}
		if _, ok := x.find(); !ok {
			return nil, code.New(code.RoleNotFound, "Could not find role: %s@%s", x.name, x.database)
		}
		if !slices.Contains(roles, x) {
			roles = append(roles, x)
		}
	}
	return roles, nil
}

func (r *request) readRole(v doc.Value) (role, error) {
	if name, ok := doc.AsString(v); ok {
		return role{name: name, database: r.db}, nil
	}
	d, ok := doc.AsDoc(v)
	if !ok {
		return role{}, code.New(code.BadValue, "Role names must be either strings or objects")
	}
	name, isName := doc.AsString(doc.Lookup(d, "role"))
	database, isDatabase := doc.AsString(doc.Lookup(d, "db"))
	if !isName || !isDatabase {
		return role{}, code.New(code.BadValue, "Role names must have the string fields 'role' and 'db'")
	}
	return role{name: name, database: database}, nil
}

// mayGive refuses roles that the user of the request may not give or take away: those of
// databases whose users are not its business.
func (r *request) mayGive(roles []role) error {
	for _, x := range roles {
		if err := r.may(userAction, x.database); err != nil {
			return err
		}
	}
	return nil
}

func (a *answer) roles(name string, roles []role) {
	a.array(name)
	for _, x := range roles {
		a.object(a.index())
		a.string("role", x.name)
		a.string("db", x.database)
		a.close()
	}
	a.close()
}

func (a *answer) strings(name string, list []string) {
	a.array(name)
	for _, s := range list {
		a.string(a.index(), s)
	}
	a.close()
}
