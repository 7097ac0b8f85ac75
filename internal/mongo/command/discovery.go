package command

import (
	"crypto/tls"
	"net"
	"strings"
)

// A client that learns that it talks to a member of a replica set leaves the address that it was given for those in
// `hosts`, and so must be able to reach them. Nothing in its requests tells which address it was given, and a
// server behind a mapped port, a tunnel or a balancer does not know it. A client that learns that it talks to a mongos
// stays where it is, and has transactions, retryable writes and change streams all the same; but one whose connection
// string names a replica set takes no mongos. So the server is a replica set where it knows an address that
// works, and for clients that ask for one as connection strings of Azure do; else it is a mongos.
// See docs/decisions/0019-discovery.md.
// https://github.com/mongodb/specifications/blob/master/source/server-discovery-and-monitoring/server-discovery-and-monitoring.md

// inSet reports whether the client is told of the replica set.
func (c *connection) inSet() bool {
	return c.s.o.ReplSet != "" && (!c.s.o.Exposed || c.s.o.Advertise != "" || c.client.fromAzure())
}

// fromAzure reports whether the client's name is one of Azure's connection strings, @ACCOUNT@. They name
// the replica set too.
func (i clientInfo) fromAzure() bool {
	return len(i.appName) > 2 && strings.HasPrefix(i.appName, "@") && strings.HasSuffix(i.appName, "@")
}

// self is the address of the replica set's one member: what the operator has said, else the name that the
// client has called over TLS, else the address at which it has arrived.
func (r *request) self() string {
	if r.s.o.Advertise != "" {
		return r.s.o.Advertise
	}
	if secure, ok := r.c.conn.(*tls.Conn); ok {
		if name := secure.ConnectionState().ServerName; name != "" {
			_, port, _ := net.SplitHostPort(r.c.local)
			return net.JoinHostPort(name, port)
		}
	}
	return r.c.local
}
