package node

import (
	"time"

	"github.com/mayflydb/mayfly/internal/cosmos/rest"
)

// front is what the page for browsers may tell anybody who reaches it. Where others than this machine do,
// and the key is a secret, that is nothing.
func (n *Node) front() rest.PageInfo {
	exposed := n.nosql.exposed() || n.compute.exposed()
	if exposed && !n.account.wellKnown {
		return rest.PageInfo{}
	}
	f := rest.PageInfo{Version: n.version, Mongo: n.MongoURI(), MongoAuth: n.askMongo}
	if n.account.wellKnown {
		f.Key = n.account.key
	}
	if n.Virtual() {
		f.Clock = n.clock.Now().UTC().Format(time.RFC3339)
	}
	return f
}
