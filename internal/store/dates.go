package store

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/keys"
	"github.com/mayflydb/mayfly/internal/kv"
)

// Documents may end by a date that they carry: MongoDB's TTL indexes. The earliest date under the
// index's path decides; what is no date never does. A date has milliseconds and the rule of
// lifetime has seconds, so a document ends at the first whole second that is not before its date
// and the seconds of the index.

// deadByDates reports whether a rule of dates has ended a document.
func deadByDates(v catalog.View, h keys.Header, body doc.Doc, now expiry.Stamp) bool {
	rules := v.DateRules()
	for i := range rules {
		r := &rules[i]
		until := now
		if r.Closed() {
			if h.Sequence > r.Sequence {
				continue
			}
			until = r.Until
		}
		if at, ok := dateDeadline(r, body); ok && at <= until {
			return true
		}
	}
	return false
}

// dateDeadline is the first second at which a rule ends a document, false if it never does.
func dateDeadline(r *catalog.DateRule, body doc.Doc) (at expiry.Stamp, ok bool) {
	ms, ok := earliestDate(doc.Object(body), r.Path)
	if !ok || r.Partial != nil && !r.Partial(body) {
		return 0, false
	}
	return expiry.DateDeadline(ms, r.Seconds), true
}

// earlier is the earlier of a deadline, 0 for none, and those of the rules in force.
func earlier(deadline expiry.Stamp, v catalog.View, body doc.Doc) expiry.Stamp {
	rules := v.DateRules()
	for i := range rules {
		if rules[i].Closed() {
			continue
		}
		if at, ok := dateDeadline(&rules[i], body); ok && (deadline == 0 || at < deadline) {
			deadline = max(at, 1)
		}
	}
	return deadline
}

// earliestDate finds the least date that a document has under a path, in arrays too.
func earliestDate(v doc.Value, path []string) (ms int64, ok bool) {
	note := func(found int64, there bool) {
		if there && (!ok || found < ms) {
			ms, ok = found, true
		}
	}
	if len(path) == 0 {
		if v.Type != bsoncore.TypeArray {
			return doc.AsDate(v)
		}
		for element := range doc.Elements(v) {
			note(doc.AsDate(element))
		}
		return ms, ok
	}
	switch v.Type {
	case bsoncore.TypeEmbeddedDocument:
		return earliestDate(doc.Lookup(doc.Doc(v.Data), path[0]), path[1:])
	case bsoncore.TypeArray:
		if place, number := position(path[0]); number {
			i := 0
			for element := range doc.Elements(v) {
				if i == place {
					return earliestDate(element, path[1:])
				}
				i++
			}
			return 0, false
		}
		for element := range doc.Elements(v) {
			if element.Type == bsoncore.TypeEmbeddedDocument {
				note(earliestDate(element, path))
			}
		}
	}
	return ms, ok
}

// dueEntries calls take with the entries of a rule's index whose date is due, and the number they lead to.
func dueEntries(ctx context.Context, r kv.Reader, v catalog.View, rule *catalog.DateRule, take func(key []byte, number uint64) error) error {
	rng := v.Container.Keys()
	descending := false
	for _, x := range v.Named {
		if x.ID == rule.Index {
			descending = x.Columns[0].Descending
		}
	}
	prefix := rng.NamedPrefix(nil, rule.Index)
	first := keys.AppendBSON(prefix[:len(prefix):len(prefix)], doc.Date(-1<<63), descending)
	last := keys.AppendBSON(prefix[:len(prefix):len(prefix)], doc.Date(expiry.LastDue(v.Now, rule.Seconds)), descending)
	if descending {
		first, last = last, first
	}
	return walk(ctx, r, first, keys.End(last), func(it kv.Iterator) error {
		number, err := keys.Number(it.Key())
		if err != nil {
			return corrupt(err, "index entry")
		}
		return take(it.Key(), number)
	})
}

// gatherDates takes documents whose date is due from the entries of the indexes that say
// so. The entries go with them, so that no later step meets them again.
func (g *gathering) gatherDates(ctx context.Context, r kv.Reader, v catalog.View) error {
	taken := map[uint64]bool{}
	for _, x := range g.victims {
		taken[x.number] = true
	}
	rules := v.DateRules()
	for i := range rules {
		if rules[i].Closed() {
			continue
		}
		if g.full() {
			g.more = true
			return nil
		}
		err := dueEntries(ctx, r, v, &rules[i], func(key []byte, number uint64) error {
			if len(g.stale) >= 4*g.limit || g.full() {
				g.more = true
				return errStopped
			}
			h, body, found, err := copyRecord(r, g.rng.Record(nil, number))
			if err != nil || found && !dead(v, h, body) {
				return err
			}
			g.stale = append(g.stale, append([]byte(nil), key...))
			if found && !taken[number] {
				taken[number] = true
				g.victims = append(g.victims, victimOf(g.rng, number, h, body))
			}
			return nil
		})
		if err == errStopped {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// dates counts the documents out that only a rule of dates has ended.
func (w *wake) dates(ctx context.Context, r kv.Reader, _ *reclaim) error {
	counted := map[uint64]bool{}
	rules := w.v.DateRules()
	for i := range rules {
		err := dueEntries(ctx, r, w.v, &rules[i], func(_ []byte, number uint64) error {
			if counted[number] {
				return w.goOn()
			}
			_, err := getRecord(r, w.v.Container.Keys().Record(nil, number), func(h keys.Header, body doc.Doc) error {
				if !w.v.Policy.Dead(h.Stamp, expiry.TTL(h.TTL), w.v.Now) && deadByDates(w.v, h, body, w.v.Now) {
					counted[number] = true
					w.out(uint64(len(body)), min(w.v.Now, earlier(0, w.v, body)))
				}
				return nil
			})
			if err == nil {
				err = w.goOn()
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}
