package command

import (
	"cmp"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/account"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/pipeline"
	"github.com/mayflydb/mayfly/internal/mongo/session"
)

// authorize decides whether the client may run the command.
func (r *request) authorize() error {
	if r.command.secret && r.msg.Compressor != 0 {
		return code.New(code.ProtocolError, "%s must not be compressed", r.Name)
	}
	if r.command.admin && r.db != adminDatabase {
		return code.New(code.Unauthorized, "%s may only be run against the admin database.", r.Name)
	}
	if !r.s.o.Auth || r.command.open {
		return nil
	}
	if err := r.c.refreshRights(); err != nil {
		return err
	}
	if r.c.user == nil {
		return code.New(code.Unauthorized, "Command %s requires authentication", r.Name)
	}
	return r.may(r.command.needs, r.db)
}

// allowed reports whether the client may do something on a database; "" is all databases and the server.
func (r *request) allowed(needs account.Action, database string) bool {
	return !r.s.o.Auth || r.c.auth.granted.Allow(needs, database)
}

// may fails with Unauthorized unless the client may do something on a database; "" is all databases and the server.
func (r *request) may(needs account.Action, database string) error {
	if r.allowed(needs, database) {
		return nil
	}
	return code.New(code.Unauthorized, "not authorized on %s to execute command %s",
		cmp.Or(database, adminDatabase), code.Show(doc.Object(r.shown())))
}

// mayRun is request.mayRun for the request that an operation belongs to.
func mayRun(o *session.Operation, p *pipeline.Pipeline) error { return o.Host.(*request).mayRun(p) }

// mayRun decides whether the client may run a pipeline, which reads, and perhaps writes, several containers.
func (r *request) mayRun(p *pipeline.Pipeline) error {
	reads, writes := p.Containers()
	switch source, arg := p.Source(); source {
	case "$currentOp", "$listSessions", "$listLocalSessions":
		// These read no container, and check by themselves what the client may see.
	case "$changeStream":
		options, _ := doc.AsDoc(arg)
		database := r.db
		if isTrue(doc.Lookup(options, "allChangesForCluster")) {
			database = ""
		}
		if err := r.may(account.Read, database); err != nil {
			return err
		}
	default:
		reads = append(reads, pipeline.Namespace{})
	}
	for _, n := range reads {
		if err := r.may(account.Read, cmp.Or(n.Database, r.db)); err != nil {
			return err
		}
	}
	if writes == nil {
		return nil
	}
	return r.may(account.Write, cmp.Or(writes.Database, r.db))
}

// mayKill reports whether the client may end what a user has begun.
func (r *request) mayKill(of *account.Identity) bool {
	return sameUser(of, r.c.user) || r.allowed(account.Administer, "")
}

// sameUser reports whether two clients are the same user; nil is a client that has not authenticated.
func sameUser(a, b *account.Identity) bool { return a == b || a != nil && b != nil && *a == *b }

// mayGrant refuses roles that the client may not grant or revoke: those of databases whose users it does not manage.
func (r *request) mayGrant(roles []account.Role) error {
	for _, x := range roles {
		if err := r.may(account.ManageUsers, x.Database); err != nil {
			return err
		}
	}
	return nil
}

// shown is the command as other users may see it: without passwords.
func (r *request) shown() doc.Doc {
	if !r.command.secret {
		return r.body
	}
	a := doc.NewWriter(nil)
	a.Value(r.Name, r.arg)
	a.String("$db", r.db)
	return a.End()
}

// ownerOf is a user as sessions and cursors know it.
func ownerOf(u *account.Identity) session.Owner {
	if u == nil {
		return session.Owner{}
	}
	return session.Owner{Database: u.Database, Name: u.Name, Number: u.Number}
}

// mayEnd reports whether the client may end a cursor of an owner.
func (r *request) mayEnd(of session.Owner) bool {
	return of == ownerOf(r.c.user) || r.allowed(account.Administer, "")
}
