package command

import (
	"github.com/mayflydb/mayfly/internal/audit"
	"github.com/mayflydb/mayfly/internal/mongo/account"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/wire"
)

// authentication is how a connection proves who it is, and what it may do then.
type authentication struct {
	exchange *exchange       // nil while none is going on
	failures int             // attempts that failed since the last one that succeeded
	granted  account.Granted // to connection.user
}

// maxFailures is how many attempts of a connection may fail.
const maxFailures = 10

// deny answers an attempt that failed, in the same way whatever was wrong with it.
func (c *connection) deny(mechanism string, u account.Identity, cause error) error {
	c.auth.exchange = nil
	c.auth.failures++
	c.s.Log.Warn("authentication failed", "mechanism", mechanism, "user", u.Name, "database", u.Database,
		"remote", c.remote(), "err", cause)
	return code.New(code.AuthenticationFailed, "Authentication failed.")
}

// logIn notes who the client has proven to be.
func (c *connection) logIn(id account.Identity) error {
	c.auth.exchange, c.auth.granted = nil, account.Granted{}
	c.setUser(&id)
	if err := c.refreshRights(); err != nil {
		return err
	}
	if c.user == nil { // the user was dropped after its first step
		return c.deny("", id, nil)
	}
	c.auth.failures = 0
	c.reader.MaxMessage = wire.MaxMessage
	return nil
}

// logOut makes the client anonymous again.
func (c *connection) logOut() {
	c.setUser(nil)
	c.auth.granted = account.Granted{}
	if c.s.o.Auth {
		c.reader.MaxMessage = maxAnonymousFrame
	}
}

func (c *connection) setUser(id *account.Identity) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.user = id
}

// refreshRights finds what the user of the connection may do now, because others may change and drop users at any time.
// A user who has been dropped is logged out.
func (c *connection) refreshRights() error {
	if c.user == nil {
		return nil
	}
	granted, known, err := c.s.accounts.Granted(*c.user, c.auth.granted)
	switch {
	case err != nil:
		return err
	case !known:
		c.logOut()
	default:
		c.auth.granted = granted
	}
	return nil
}

// Who is the client, for the audit trail.
func (c *connection) Who() audit.Who {
	c.mu.Lock()
	defer c.mu.Unlock()
	w := audit.Who{API: audit.MongoDB, Address: c.remote()}
	if c.user != nil {
		w.Principal = c.user.String()
	}
	return w
}

func (c *connection) remote() string { return c.conn.RemoteAddr().String() }

func logout(r *request, a *answer) error {
	if r.c.user != nil && r.c.user.Database == r.DB {
		r.c.logOut()
	}
	return nil
}
