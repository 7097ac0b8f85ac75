package session

import (
	"sync"
	"sync/atomic"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/mongo/plan"
)

// IndexUses counts how often plans used the indexes of a container since the server began. Numbers
// of indexes are not given out again.
type IndexUses struct{ counts sync.Map } // access.NamedIndex.Index -> *atomic.Int64

// Of gives the counter of an index.
func (u *IndexUses) Of(index uint32) *atomic.Int64 {
	n, ok := u.counts.Load(index)
	if !ok {
		n, _ = u.counts.LoadOrStore(index, new(atomic.Int64))
	}
	return n.(*atomic.Int64)
}

// UsesOf gives the counters of a container.
func (n *Node) UsesOf(c *catalog.Container) *IndexUses {
	u, ok := n.Uses.Load(c.ID)
	if !ok {
		u, _ = n.Uses.LoadOrStore(c.ID, new(IndexUses))
	}
	return u.(*IndexUses)
}

// Used notes that a plan is carried out.
func (n *Node) Used(c *catalog.Container, p *plan.Plan) {
	for _, index := range p.Indexes() {
		n.UsesOf(c).Of(index).Add(1)
	}
}
