package command

import (
	"cmp"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/account"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/pipeline"
	"github.com/mayflydb/mayfly/internal/mongo/query"
	"github.com/mayflydb/mayfly/internal/mongo/session"
)

// authorize decides whether the client may run the command.
func (r *request) authorize() error {
	if r.command.secret && r.Message.Compressor != 0 {
		return code.New(code.ProtocolError, "%s must not be compressed", r.Name)
	}
	if r.command.admin && r.DB != account.AdminDatabase {
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
	if r.command.needs != account.Any && r.ContainerName() == account.ProfileContainer {
		if r.command.needs == account.Read {
			return query.MayReadProfile(&r.Request, r.DB)
		}
		return r.May(r.command.needs|account.Maintain, r.DB)
	}
	return r.May(r.command.needs, r.DB)
}

// Allowed reports whether the client may do something on a database; "" is all databases and the server.
func (r *request) Allowed(needs account.Action, database string) bool {
	return !r.s.o.Auth || r.c.auth.granted.Allow(needs, database)
}

// May fails with Unauthorized unless the client may do something on a database; "" is all databases and the server.
func (r *request) May(needs account.Action, database string) error {
	if r.Allowed(needs, database) {
		return nil
	}
	return code.New(code.Unauthorized, "not authorized on %s to execute command %s",
		cmp.Or(database, account.AdminDatabase), code.Show(doc.Object(r.Shown())))
}

// mayRun decides whether the client may run a pipeline in the operation of its request. A cursor outlives the request
// that has opened it, so each getMore asks for its own connection.
func mayRun(o *session.Operation, p *pipeline.Pipeline) error {
	return query.MayAggregate(&o.Host.(*request).Request, p)
}

// mayKill reports whether the client may end what a user has begun.
func (r *request) mayKill(of *account.Identity) bool {
	return sameUser(of, r.c.user) || r.Allowed(account.Administer, "")
}

// sameUser reports whether two clients are the same user; nil is a client that has not authenticated.
func sameUser(a, b *account.Identity) bool { return a == b || a != nil && b != nil && *a == *b }

// mayGrant refuses roles that the client may not grant or revoke: those of databases whose users it does not manage.
func (r *request) mayGrant(roles []account.Role) error {
	for _, x := range roles {
		if err := r.May(account.ManageUsers, x.Database); err != nil {
			return err
		}
	}
	return nil
}

// mayEnd reports whether the client may end a cursor of an owner.
func (r *request) mayEnd(of account.Identity) bool {
	return of == r.Owner() || r.Allowed(account.Administer, "")
}
