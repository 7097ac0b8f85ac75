package command

import (
	"strings"
	"time"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/call"
)

// A ConnectionState is a connection of a client as an operator sees it.
type ConnectionState struct {
	Number   int32
	Remote   string
	Since    time.Time // by the machine's clock
	Client   string    // the name of the application and that of the driver, as far as the client has told them
	User     string    // "" for none
	Requests int64     // since it was opened
	Active   bool      // a request is running
}

// Connections lists the connections of clients, in no order. Those of Local are not among them.
func (s *Server) Connections() []ConnectionState {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]ConnectionState, 0, len(s.connections))
	for c := range s.connections {
		if !c.inside() {
			list = append(list, c.state())
		}
	}
	return list
}

// inside reports whether a connection is one of Local.
func (c *connection) inside() bool { return c.conn.RemoteAddr().Network() == "pipe" }

func (c *connection) state() ConnectionState {
	c.mu.Lock()
	defer c.mu.Unlock()
	x := ConnectionState{
		Number: c.id, Remote: c.conn.RemoteAddr().String(), Since: c.since, Client: c.client.name(),
		Requests: c.requests.Load(), Active: c.running != nil,
	}
	if c.user != nil {
		x.User = c.user.Name
	}
	return x
}

// name is what the client calls itself: its application, then its driver.
func (i clientInfo) name() string {
	driver := call.Member(i.document, "driver")
	name, _ := doc.AsString(doc.Lookup(driver, "name"))
	version, _ := doc.AsString(doc.Lookup(driver, "version"))
	text := strings.TrimSpace(name + " " + version)
	switch {
	case i.appName == "":
		return text
	case text == "":
		return i.appName
	}
	return i.appName + " (" + text + ")"
}
