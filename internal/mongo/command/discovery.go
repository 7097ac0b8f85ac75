package command

import (
	"crypto/tls"
	"net"
	"strings"
)

// A client of a replica set leaves the address that it was given for those in `hosts`, so it must be able to reach
// them. Its requests do not say which address it was given, and a server behind a mapped port, a tunnel or a load
// balancer does not know it. A client of a mongos stays at its address, and has transactions, retryable writes and
// change streams too; but a client whose connection string names a replica set does not accept a mongos. So the server
// says that it is a replica set if it knows an address that works, and to clients that ask for one as Azure's
// connection strings do. Otherwise it says that it is a mongos. See docs/decisions/0019-discovery.md.
// mongodb/specifications: source/server-discovery-and-monitoring/server-discovery-and-monitoring.md

// Where several processes share the data, each of them is a mongos to all clients. Drivers then keep a transaction and
// a cursor at the process that has it, if they are given the addresses of all processes. Behind one address they know
// nothing of the processes, unless they are told loadBalanced=true: then they keep both at their connection.
// mongodb/specifications: source/load-balancers/load-balancers.md

// inSet reports whether the client sees a member of a replica set.
func (c *connection) inSet() bool {
	return c.s.o.ReplSet != "" && !c.s.Shares && (!c.s.o.Exposed || c.s.o.Advertise != "" || c.client.fromAzure())
}

// fromAzure reports whether the application's name is in the form of Azure's connection strings, @ACCOUNT@. These name
// a replica set too.
func (i clientInfo) fromAzure() bool {
	return len(i.appName) > 2 && strings.HasPrefix(i.appName, "@") && strings.HasSuffix(i.appName, "@")
}

// address is the address of the only member of the replica set: the one that the operator has set, or else the name
// that the client has asked for over TLS, or else the address that the client has reached.
func (c *connection) address() string {
	if c.s.o.Advertise != "" {
		return c.s.o.Advertise
	}
	if secure, ok := c.conn.(*tls.Conn); ok {
		if name := secure.ConnectionState().ServerName; name != "" {
			_, port, _ := net.SplitHostPort(c.local)
			return net.JoinHostPort(name, port)
		}
	}
	return c.local
}
