package rest

import (
	"fmt"
	"time"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/hint"
	"github.com/mayflydb/mayfly/internal/store"
)

// lastYear bounds what an expiry header shows, RFC 3339 having years of four digits.
const lastYear expiry.Stamp = 253402300799

// lifetime tells what will become of an item that is read, beside what the service says:
// when it expires, and when its ttl looks like a mistake.
func (e *exchange) lifetime(v catalog.View, d *store.Document) {
	e.deadline(d)
	e.hint(hint.Stored(&v.Policy, d.TTL, d.Body))
}

// newLifetime tells the same of an item that was written.
func (e *exchange) newLifetime(v catalog.View, d *store.Document) {
	e.deadline(d)
	e.hint(e.hinted(v, d))
}

func (e *exchange) deadline(d *store.Document) {
	if d.Deadline != 0 {
		e.set(outExpiresAt, time.Unix(min(d.Deadline, lastYear), 0).UTC().Format(time.RFC3339))
	}
}

func (e *exchange) hint(h hint.Hint) {
	if h.Kind != hint.None {
		e.set(outHint, h.Text)
	}
}

// hinted is what there is to say of an item that was written, which the log and the counters hear of as well.
func (e *exchange) hinted(v catalog.View, d *store.Document) hint.Hint {
	h := hint.Written(&v.Policy, d.TTL, d.Body)
	e.tell(v.Container, h)
	return h
}

func (e *exchange) tell(c *catalog.Container, h hint.Hint) {
	if h.Kind != hint.None {
		e.door.hints.Tell(e.at, c.ID, containerPath(c), h.Kind)
	}
}

// definitionHint looks at a container's definition as the client sent it.
func (e *exchange) definitionHint(ttl expiry.TTL, sent doc.Doc) {
	h := hint.Definition(ttl, sent)
	e.hint(h)
	e.tell(e.container, h)
}

// lifetimeChanged tells the client and the log what a change of lifetime did.
func (e *exchange) lifetimeChanged(effect *store.Effect) {
	if effect == nil {
		return
	}
	e.set(outTTLEffect, effect.Count("item", "items")+" expired by this change")
	effect.Log(e.door.log, containerPath(e.container))
	e.door.meter.ExpiredByPolicy(effect.Expired)
}

// containerPath names a container in the log.
func containerPath(c *catalog.Container) string { return c.Database.Name + "/" + c.State().Name }

// manyHints gathers the hints of the operations of one request. A batch answers each of them in
// a form that clients know member by member, so that hints are in a header of the whole answer: the first, and how many more.
type manyHints struct {
	first hint.Hint
	index int
	count int
}

func (m *manyHints) add(index int, h hint.Hint) {
	if h.Kind == hint.None {
		return
	}
	if m.count++; m.count == 1 {
		m.first, m.index = h, index
	}
}

// send sets the header. Operations are counted from 0, as SDKs do.
func (m *manyHints) send(e *exchange) {
	switch m.count {
	case 0:
	case 1:
		e.set(outHint, fmt.Sprintf("Operation %d: %s", m.index, m.first.Text))
	default:
		e.set(outHint, fmt.Sprintf("Operation %d, and %d more: %s", m.index, m.count-1, m.first.Text))
	}
}
