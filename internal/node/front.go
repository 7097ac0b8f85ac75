package node

import (
	"time"

	"github.com/mayflydb/mayfly/internal/cosmos/rest"
)

// front is what the start page for browsers shows, without credentials. It shows nothing if other machines reach the
// page and the account key is secret.
func (n *Node) front() rest.PageInfo {
	exposed := n.nosql.exposed() || n.compute.exposed()
	if exposed && !n.account.wellKnown {
		return rest.PageInfo{}
	}
	f := rest.PageInfo{Version: n.version, Mongo: n.MongoURI(), MongoAuth: n.mongoAuth}
	if n.account.wellKnown {
		f.Key = n.account.key
	}
	if n.Virtual() {
		f.Clock = n.clock.Now().UTC().Format(time.RFC3339)
	}
	return f
}
