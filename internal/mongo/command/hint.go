package command

import (
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/hint"
	"github.com/mayflydb/mayfly/internal/store"
)

// hint reports documents whose time to live looks like a mistake, to the log and to counters, because answers have no
// place for it. A ttl has a meaning only in containers whose time to live counts from _ts; elsewhere it is a field like
// any other.
func (r *request) hint(c *catalog.Container, ops []store.Op, results []store.Result) {
	st := c.State()
	if !st.Policy.On() {
		return
	}
	for i := range results {
		if verb := ops[i].Verb; verb == store.Read || verb == store.Delete || results[i].Skipped {
			continue
		}
		r.tell(c, hint.Written(&st.Policy, results[i].TTL, results[i].Body).Kind)
	}
}

// hintSeconds does the same for the seconds of a TTL index.
func (r *request) hintSeconds(c *catalog.Container, seconds int64) {
	r.tell(c, hint.Definition(expiry.TTL(seconds), nil).Kind)
}

// lifetimeChanged logs how many documents a change of the time to live has expired, and remembers it for the answer.
func (r *request) lifetimeChanged(c *catalog.Container, effect *store.Effect) {
	if effect == nil {
		return
	}
	effect.Log(r.s.log, namespaceOf(c))
	r.s.o.Meter.ExpiredByPolicy(effect.Expired)
	if r.effect != nil { // one command may change several indexes
		effect.Expired += r.effect.Expired
		effect.More = effect.More || r.effect.More
	}
	r.effect = effect
}

// noteEffect adds to an answer how many documents the change has expired, if any. In the answer to createIndexes the
// member note is MongoDB's own, and drivers ignore it; clients of collMod get the whole answer.
func (r *request) noteEffect(a *answer) {
	if r.effect != nil && r.effect.Expired > 0 {
		a.string("note", r.effect.Count("document", "documents")+" expired by this change")
	}
}

func namespaceOf(c *catalog.Container) string { return c.Database.Name + "." + c.State().Name }

func (r *request) tell(c *catalog.Container, k hint.Kind) {
	if k != hint.None {
		r.s.o.Hints.Tell(r.at, c.ID, namespaceOf(c), k)
	}
}
