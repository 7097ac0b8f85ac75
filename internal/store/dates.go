package store

import (
	"bytes"
	"context"
	"maps"
	"math"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/keys"
	"github.com/mayflydb/mayfly/internal/kv"
)

// Documents may end by a date that they carry, see expiry.DateRule. The entries of the rule's index are in the order of
// the dates, so what is due is found there without a look at the other documents.

// dueEntries calls take with the entries of a rule's index whose date is due, and the number they lead to.
func dueEntries(
	ctx context.Context, r kv.Reader, v catalog.View, rule *expiry.DateRule, take func(key []byte, number uint64) error,
) error {
	lower, upper := datedEntries(v, rule, -1<<63, rule.LastDue(v.Now))
	return walk(ctx, r, lower, upper, func(it kv.Iterator) error {
		number, err := keys.Number(it.Key())
		if err != nil {
			return corrupt(err, "index entry")
		}
		return take(it.Key(), number)
	})
}

// datedEntries is where the entries of a rule's index lie whose date is from first to last, in milliseconds.
func datedEntries(v catalog.View, rule *expiry.DateRule, first, last int64) (lower, upper []byte) {
	rng, descending := v.Container.Only(), descends(v, rule)
	prefix := rng.NamedPrefix(nil, rule.Index)
	lower = keys.AppendBSON(prefix[:len(prefix):len(prefix)], doc.Date(first), descending)
	upper = keys.AppendBSON(prefix[:len(prefix):len(prefix)], doc.Date(last), descending)
	if descending {
		lower, upper = upper, lower
	}
	return lower, keys.End(upper)
}

// descends reports whether the latest date comes first in a rule's index.
func descends(v catalog.View, rule *expiry.DateRule) bool {
	for _, x := range v.Named {
		if x.ID == rule.Index {
			return x.Columns[0].Descending
		}
	}
	return false
}

// datePassEvery is how many seconds a pass over due dates may take before the next one starts.
const datePassEvery = 10

// A datePass is where a pass over the due dates goes on, so that no step of it walks over what the ones before have
// removed. A document that is written with a date of long ago waits for the next pass. An index whose latest date
// comes first has no such place, since what becomes due lies before it.
type datePass struct {
	began expiry.Stamp
	next  map[uint32][]byte // by index, the entry to go on from
}

// from is where a step goes on.
func (d datePass) from(now expiry.Stamp) datePass {
	if d.next == nil || now < d.began || now >= d.began+datePassEvery {
		return datePass{began: now, next: map[uint32][]byte{}}
	}
	return datePass{began: d.began, next: maps.Clone(d.next)}
}

// gatherDates takes documents whose date is due from the entries of the indexes that say
// so. The entries go with them, so that no later step meets them again.
func (step *reclaimStep) gatherDates(ctx context.Context, r kv.Reader, v catalog.View) error {
	// A document may be in a queue and in several indexes. It must be a victim once, or the counter would be wrong.
	taken := map[uint64]bool{}
	for _, x := range step.victims {
		taken[x.number] = true
	}
	rules, records := v.Policy.Dates, newFetcher(r)
	for i := range rules {
		if step.full() {
			step.more = true
			return nil
		}
		index, descending := rules[i].Index, descends(v, &rules[i])
		lower, upper := datedEntries(v, &rules[i], math.MinInt64, rules[i].LastDue(v.Now))
		if next := step.dates.next[index]; !descending && bytes.Compare(next, lower) > 0 {
			lower = next
		}
		ahead := &lookahead{ctx: ctx, records: &records, rng: step.rng, visit: func(key []byte, number uint64) error {
			if step.full() {
				step.more, step.dates.next[index] = true, bytes.Clone(key)
				return errStopped
			}
			over := true // also if there is no such document: then the entry alone is left
			_, err := records.record(ctx, step.rng, number, func(h keys.Header, body doc.Doc) error {
				if over = dead(v, h, body); over && !taken[number] {
					step.read += len(body)
					taken[number] = true
					x := step.victimOf(number, h, body)
					x.id = identityOf(body)
					step.take(x)
				}
				return nil
			})
			if err == nil && over {
				step.looked++
				step.stale = append(step.stale, step.arena.keep(key))
			}
			return err
		}}
		err := walk(ctx, r, lower, upper, func(it kv.Iterator) error {
			number, err := keys.Number(it.Key())
			if err != nil {
				return corrupt(err, "index entry")
			}
			return ahead.see(it.Key(), number)
		})
		if err == nil {
			err = ahead.rest()
		}
		if err == errStopped {
			return nil
		}
		if err != nil {
			return err
		}
		step.dates.next[index] = bytes.Clone(upper)
	}
	if !step.more {
		step.dates = datePass{}
	}
	return nil
}

// dates counts the documents out that only a rule of dates has ended.
func (dc *deadCounter) dates(ctx context.Context, r kv.Reader, _ queueMarks) error {
	if dc.estimates {
		return dc.dateEntries(ctx, r)
	}
	counted := map[uint64]bool{}
	rules := dc.v.Policy.Dates
	for i := range rules {
		err := dueEntries(ctx, r, dc.v, &rules[i], func(_ []byte, number uint64) error {
			if counted[number] {
				return dc.goOn()
			}
			_, err := getRecord(ctx, r, dc.rng.Record(nil, number), func(h keys.Header, body doc.Doc) error {
				died, dated := dc.v.Policy.DateDeadline(body)
				if dated && died <= dc.v.Now && !dc.v.Policy.DeadByTTL(h.Stamp, expiry.TTL(h.TTL), dc.v.Now) {
					counted[number] = true
					dc.out(uint64(len(body)), died)
				}
				return nil
			})
			if err == nil {
				err = dc.goOn()
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// dateEntries does so by the entries of the indexes alone, without a look at the documents: it takes each for as
// large as the mean of all, and one that another rule has ended counts twice.
func (dc *deadCounter) dateEntries(ctx context.Context, r kv.Reader) error {
	rules, bytes := dc.v.Policy.Dates, dc.usage.Bytes/max(dc.usage.Documents, 1)
	var stopped error
	for i := range rules {
		counted, descending := map[uint64]bool{}, descends(dc.v, &rules[i])
		several, err := r.Get(ctx, dc.rng.Multikey(nil, rules[i].Index), func([]byte) error { return nil })
		if err != nil {
			return err
		}
		err = dueEntries(ctx, r, dc.v, &rules[i], func(key []byte, number uint64) error {
			ms, err := keys.NamedDate(key, descending)
			if err != nil {
				return corrupt(err, "index entry")
			}
			if !counted[number] {
				dc.out(bytes, max(1, rules[i].Deadline(ms)))
			}
			if several {
				counted[number] = true
			}
			return dc.goOn()
		})
		if err == errStopped { // the next one may have an older document
			stopped = err
		} else if err != nil {
			return err
		}
	}
	return stopped
}
