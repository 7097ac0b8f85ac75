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
	hintDormant = []string{"This item's ttl is not a valid life span and never takes effect. " +
		"A ttl is -1, or a whole number of seconds from 1 to 2147483647."}
	hintLong = []string{"This item's ttl is more than 31 years. It counts seconds since the last write, " +
		"not milliseconds, and is no point in time."}
)

// lifetime tells what will become of an item, beside what the service says:
// when it expires, and when its ttl looks like a mistake.
func (e *exchange) lifetime(v catalog.View, d *store.Document) {
	if d.Deadline != 0 {
		e.set(outExpiresAt, time.Unix(min(d.Deadline, lastYear), 0).UTC().Format(time.RFC3339))
	}
	if hint := lifetimeHint(v.State, d); hint != nil {
		e.put(outHint, hint)
	}
}

// lifetimeHint is nil when there is nothing to say.
func lifetimeHint(st *catalog.State, d *store.Document) []string {
	switch {
	case d.TTL == expiry.Unset:
		if !doc.IsUndefined(doc.Lookup(d.Body, "ttl")) { // written while TTL was off
			return hintDormant
		}
	case !st.Policy.On():
		return hintOff
	case d.TTL > suspectTTL:
		return hintLong
	}
	return nil
}
