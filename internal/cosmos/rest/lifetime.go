package rest

import (
	"time"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/store"
)

// suspectTTL is the life above which a ttl looks like milliseconds, or like
// the instant of death itself: more than 31 years.
const suspectTTL expiry.TTL = 1_000_000_000

// lastYear bounds what an expiry header shows, RFC 3339 having years of four digits.
const lastYear expiry.Stamp = 253402300799

// The hints, as header values.
var (
	hintOff = []string{"This item's ttl does nothing, because the container has no defaultTtl. " +
		"Set defaultTtl to -1 to let items expire by their own ttl alone."}
	hintLong = []string{"This item's ttl is more than 31 years. It counts seconds since the last write, " +
		"not milliseconds, and is no point in time."}
)

// lifetime tells what will become of an item, beside what the service says:
// when it expires, and when its ttl looks like a mistake.
func (e *exchange) lifetime(v catalog.View, d *store.Document) {
	if d.Deadline != 0 {
		e.set(hExpiresAt, time.Unix(min(d.Deadline, lastYear), 0).UTC().Format(time.RFC3339))
	}
	if hint := lifetimeHint(v.State, d); hint != nil {
		e.header[hHint] = hint
	}
}

// lifetimeHint is nil when there is nothing to say.
func lifetimeHint(st *catalog.State, d *store.Document) []string {
	switch {
	case !st.Policy.On():
		if d.TTL != expiry.Unset || !doc.IsUndefined(doc.Lookup(d.Body, "ttl")) {
			return hintOff
		}
	case d.TTL > suspectTTL:
		return hintLong
	}
	return nil
}
