package command

import (
	"strings"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/wire"
)

// A user is who a connection has shown to be.
type user struct {
	database string
	name     string
	number   uint64 // of its record, which no later user of that name has; 0 for the account's own
}

// authentication is how a connection shows who it is, and what it may do then.
type authentication struct {
	conversation *conversation     // nil when none has begun
	failures     int               // attempts that came to nothing
	record       *catalog.Resource // which rights was read from
	rights       rights
}

// maxFailures is how often a connection may try to show who it is.
const maxFailures = 10

// deny answers an attempt that failed, in the same way whatever was wrong with it.
func (c *connection) deny(mechanism, database, name string, cause error) error {
	c.auth.conversation = nil
	c.auth.failures++
	c.s.log.Warn("authentication failed", "mechanism", mechanism, "user", name, "database", database, "remote", c.remote(), "err", cause)
	return code.New(code.AuthenticationFailed, "Authentication failed.")
}

// become notes who the client is.
func (c *connection) become(u user) error {
	c.auth.conversation = nil
	c.auth.record, c.auth.rights = nil, nil
	c.setUser(&u)
	if _, err := c.permits(); err != nil {
		return err
	}
	if c.user == nil {
		return c.deny("", u.database, u.name, nil)
	}
	c.auth.failures = 0
	c.reader.MaxMessage = wire.MaxMessage
	return nil
}

// forgetUser makes the client a stranger again.
func (c *connection) forgetUser() {
	c.setUser(nil)
	c.auth.record, c.auth.rights = nil, nil
	if c.s.o.Auth {
		c.reader.MaxMessage = maxStranger
	}
}

func (c *connection) setUser(u *user) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.user = u
}

// permits gives what the user of the connection may do at present. Users who have been dropped
// are strangers.
func (c *connection) permits() (rights, error) {
	if c.user == nil || c.user.number == 0 {
		if c.user != nil && c.auth.rights == nil {
			c.auth.rights = rightsOf(accountRoles)
		}
		return c.auth.rights, nil
	}
	record, err := c.s.o.Catalog.ResourceByNumber(catalog.MongoUser, c.user.number)
	switch {
	case isNotFound(err):
		c.forgetUser()
	case err != nil:
		return nil, err
	case record != c.auth.record:
		c.auth.record, c.auth.rights = record, rightsOf(readUser(record.Body).roles)
	}
	return c.auth.rights, nil
}

func (c *connection) remote() string { return c.conn.RemoteAddr().String() }

// clientInfo is what a client says of itself in its first request.
type clientInfo struct {
	document doc.Doc // nil until it has said something
	appName  string
}

// Limits of what a client says of itself.
// https://github.com/mongodb/specifications/blob/master/source/mongodb-handshake/handshake.md
const (
	maxClientBytes  = 512
	maxAppNameBytes = 128
)

// introduce keeps what the client says of itself, which it may do once.
func (c *connection) introduce(d doc.Doc) error {
	name, _ := doc.AsString(doc.Lookup(docMember(d, "application"), "name"))
	switch {
	case c.client.document != nil:
		return code.New(code.ClientMetadataCannotBeMutated, "The client metadata document may only be sent in the first hello")
	case len(d) > maxClientBytes:
		return code.New(code.ClientMetadataDocumentTooLarge, "The client metadata document must be less than or equal to %d bytes", maxClientBytes)
	case len(name) > maxAppNameBytes:
		return code.New(code.ClientMetadataAppNameTooLarge, "The 'client.application.name' field must be less than or equal to %d bytes", maxAppNameBytes)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.client = clientInfo{document: append(doc.Doc(nil), d...), appName: strings.Clone(name)}
	return nil
}
