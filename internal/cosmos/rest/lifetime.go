package rest

import (
	"fmt"
	"time"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/hint"
	"github.com/mayflydb/mayfly/internal/store"
)

// lastYear is the latest time in an expiry header, because years in RFC 3339 have four digits.
const lastYear expiry.Stamp = 253402300799

// sendLifetime sets mayfly's own headers about an item that was read: when it expires, and a hint if its ttl looks
// like a mistake.
func (e *exchange) sendLifetime(v catalog.View, d *access.Document) {
	e.deadline(d)
	e.hint(hint.Stored(&v.Policy, d.TTL, d.Body))
}

// sendNewLifetime sets the same headers for an item that was written.
func (e *exchange) sendNewLifetime(v catalog.View, d *access.Document) {
	e.deadline(d)
	e.hint(e.writeHint(v, d))
}

func (e *exchange) deadline(d *access.Document) {
	if d.Deadline != 0 {
		e.set(outExpiresAt, time.Unix(min(d.Deadline, lastYear), 0).UTC().Format(time.RFC3339))
	}
}

func (e *exchange) hint(h hint.Hint) {
	if h.Kind != hint.None {
		e.set(outHint, h.Text)
	}
}

// writeHint returns the hint about an item that was written, and reports it to the log and the metrics.
func (e *exchange) writeHint(v catalog.View, d *access.Document) hint.Hint {
	h := hint.Written(&v.Policy, d.TTL, d.Body)
	e.tell(v.Container, h)
	return h
}

func (e *exchange) tell(c *catalog.Container, h hint.Hint) {
	if h.Kind != hint.None {
		e.api.hints.Tell(e.at, c.ID, containerPath(c), h.Kind)
	}
}

// definitionHint checks a container's definition for likely mistakes, as the client sent it.
func (e *exchange) definitionHint(ttl expiry.TTL, sent doc.Doc) {
	h := hint.Definition(ttl, sent)
	e.hint(h)
	e.tell(e.container, h)
}

// sendTTLEffect reports the effect of a changed TTL to the client and the log.
func (e *exchange) sendTTLEffect(effect *store.Effect) {
	if effect == nil {
		return
	}
	e.set(outTTLEffect, effect.Count("item", "items")+" expired by this change")
	effect.Log(e.api.log, containerPath(e.container))
	e.api.meter.ExpiredByPolicy(effect.Expired)
}

// containerPath is the name of a container in the log.
func containerPath(c *catalog.Container) string { return c.Database.Name + "/" + c.State().Name }

// hintSummary collects the hints of the operations of one request. Clients expect exact members in the entries of a
// batch, so the hints go into a header of the whole answer: the first hint, and the number of others.
type hintSummary struct {
	first hint.Hint
	index int
	count int
}

func (m *hintSummary) add(index int, h hint.Hint) {
	if h.Kind == hint.None {
		return
	}
	if m.count++; m.count == 1 {
		m.first, m.index = h, index
	}
}

// send sets the header. Operations are counted from 0, as in SDKs.
func (m *hintSummary) send(e *exchange) {
	switch m.count {
	case 0:
	case 1:
		e.set(outHint, fmt.Sprintf("Operation %d: %s", m.index, m.first.Text))
	default:
		e.set(outHint, fmt.Sprintf("Operation %d, and %d more: %s", m.index, m.count-1, m.first.Text))
	}
}
