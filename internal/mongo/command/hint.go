package command

import (
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/hint"
	"github.com/mayflydb/mayfly/internal/mongo/write"
	"github.com/mayflydb/mayfly/internal/store"
)

// hintLifetime does the same for the seconds of a lifetime that an index sets.
func hintLifetime(r *request, c *catalog.Container, seconds int64) {
	write.TellHint(&r.Operation, c, hint.Definition(expiry.TTL(seconds), nil).Kind)
}

// lifetimeChanged logs how many documents a change of the time to live has expired, and remembers it for the answer.
func lifetimeChanged(r *request, c *catalog.Container, effect *store.Effect) {
	if effect == nil {
		return
	}
	effect.Log(r.s.Log, write.NamespaceOf(c))
	r.s.o.Meter.ExpiredByPolicy(effect.Expired)
	if r.effect != nil { // one command may change several indexes
		effect.Expired += r.effect.Expired
		effect.More = effect.More || r.effect.More
	}
	r.effect = effect
}

// writeEffect adds to an answer how many documents the change has expired, if any. In the answer to createIndexes the
// member note is MongoDB's own, and drivers ignore it; clients of collMod get the whole answer.
func writeEffect(r *request, a *answer) {
	if r.effect != nil && r.effect.Expired > 0 {
		a.String("note", r.effect.Count("document", "documents")+" expired by this change")
	}
}
