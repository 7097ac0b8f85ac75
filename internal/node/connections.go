package node

import (
	"fmt"

	"github.com/mayflydb/mayfly/internal/admin"
)

// connections lists the clients that are connected to the addresses of this node, in no order.
func (n *Node) connections() []admin.Connection {
	var list []admin.Connection
	for _, of := range []struct {
		id, api string
		*endpoint
	}{{"nosql", apiNoSQL, n.nosql}, {"compute", apiNoSQL, n.compute}, {"admin", "admin", n.admin}} {
		if of.endpoint == nil {
			continue
		}
		for _, value := range of.clients.Range {
			c := value.(*client)
			list = append(list, admin.Connection{
				ID: fmt.Sprintf("%s-%d", of.id, c.number), API: of.api, Remote: c.remote, Since: c.since,
				Client: c.name(), Requests: c.requests.Load(), Active: c.active.Load(),
			})
		}
	}
	if n.mongoServer == nil {
		return list
	}
	for _, c := range n.mongoServer.Connections() {
		x := admin.Connection{
			ID: fmt.Sprintf("mongo-%d", c.Number), API: apiMongo, Remote: c.Remote, Since: c.Since, Client: c.Client,
			User: c.User, Requests: c.Requests,
		}
		if c.Active {
			x.Active = 1
		}
		list = append(list, x)
	}
	return list
}
