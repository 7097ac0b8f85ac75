package write

import (
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/hint"
	"github.com/mayflydb/mayfly/internal/mongo/session"
	"github.com/mayflydb/mayfly/internal/store"
)

// hintWrites tells the log and the counters of documents whose lifetime looks like a mistake: answers have no
// place for it. Only where lifetime counts from the stamp does a ttl mean anything; elsewhere it is as good as any
// other field.
func hintWrites(o *session.Operation, c *catalog.Container, ops []store.Op, results []store.Result) {
	st := c.State()
	if !st.Policy.On() {
		return
	}
	for i := range results {
		// Only a write that stored something has a lifetime to judge.
		if verb := ops[i].Verb; verb == store.Read || verb == store.Delete || results[i].Skipped {
			continue
		}
		TellHint(o, c, hint.Written(&st.Policy, results[i].TTL, results[i].Body).Kind)
	}
}

// NamespaceOf is the full name of a container: database, dot, name.
func NamespaceOf(c *catalog.Container) string { return c.Database.Name + "." + c.State().Name }

// TellHint tells of something about a container that looks like a mistake.
func TellHint(o *session.Operation, c *catalog.Container, k hint.Kind) {
	if k != hint.None {
		o.Node.Hints.Tell(o.At, c.ID, NamespaceOf(c), k)
	}
}
