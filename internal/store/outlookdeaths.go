package store

import (
	"bytes"
	"context"
	"math"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/keys"
	"github.com/mayflydb/mayfly/internal/kv"
)

// Queued reports whether Deaths can follow a policy: each of its deadlines is in an order that the store keeps.
// Deadlines that count from a property are in none, and neither are dates without an index (DateIndex).
func (o *Outlook) Queued(q *expiry.Policy) bool {
	for i := range q.Dates {
		if DateIndex(o.View.State, &q.Dates[i]) == 0 {
			return false
		}
	}
	return q.Property == "" || !q.On()
}

// Deaths calls take with the documents that are alive and that q, a policy for which Queued holds, ends by until: each
// once, in the order of their deadlines. What is due by now comes first. It stops when the budget is spent: what it has
// then reported is complete up to and including the second reach. all says that no document ends after until either.
//
// It seeks to where each queue begins, so its cost is that of the documents it reports; but it passes over entries
// between them, of documents with a ttl of their own and of those that q does not end. It reads documents only where
// stamp and own ttl do not decide alone.
func (o *Outlook) Deaths(
	ctx context.Context, q *expiry.Policy, until expiry.Stamp, b *Budget, take func(Life),
) (reach expiry.Stamp, all bool, err error) {
	m := deathMerge{ctx: ctx, o: o, q: q, budget: b}
	defer m.close()
	h, err := m.walk(until, func(l Life) bool { take(l); return true })
	switch {
	case err != nil:
		return 0, false, err
	case h == nil:
		return until, true, nil
	case m.spent:
		return h.at - 1, false, nil
	}
	return until, false, nil
}

// A Place is where a walk over deaths goes on: at the second At, there at an entry of a queue. The zero Place is the
// beginning. It stays valid while documents change; what a change moves to a place before it is not reported.
type Place struct {
	At    expiry.Stamp
	Queue int    // the queues before this one are done with At; those of a range are together
	Key   []byte // of the entry; nil for the first one of the second
}

// DeathsFrom is Deaths from a place on, until take returns false. more says that there may be others, from next on.
func (o *Outlook) DeathsFrom(
	ctx context.Context, q *expiry.Policy, from Place, until expiry.Stamp, b *Budget, take func(Life) bool,
) (next Place, more bool, err error) {
	m := deathMerge{ctx: ctx, o: o, q: q, budget: b, from: from, paged: true}
	defer m.close()
	h, err := m.walk(until, take)
	if err != nil || h == nil || h.at > until {
		return Place{}, false, err
	}
	return Place{At: h.at, Queue: h.index, Key: bytes.Clone(h.it.Key())}, true, nil
}

// A deathMerge walks the queues of a container side by side, in the order of deadlines.
type deathMerge struct {
	ctx    context.Context
	o      *Outlook
	q      *expiry.Policy
	budget *Budget
	plain  bool // entries say it all
	spent  bool // the budget is
	full   bool // take wants no more
	paged  bool // what comes after until does not matter
	from   Place
	steps  int
	queues []*deathQueue
}

// A deathQueue is one of them. at and the rest are those of its present entry.
type deathQueue struct {
	rng        keys.Range
	index      int // in all queues of the container
	kind       int // in those of the range
	it         kv.Iterator
	descending bool
	decode     func(kv.Iterator, *deathQueue) (due bool, err error)

	over   bool // there is no further entry
	due    bool // false for an entry to pass over; its at says how far the queue is
	at     expiry.Stamp
	number uint64
	bytes  uint64
	ms     int64 // the date that has put the document here
}

// The queues of a range: that of own ttls, the feed, and from datedQueues on the rules of dates. A document that
// several of them have in the same second is reported from the first.
const (
	ownQueue = iota
	feedQueue
	datedQueues

	queuesOfRange = 1 << 16 // the index of a queue is that of its range times this, and its kind
)

func (d *deathQueue) dated() bool { return d.kind >= datedQueues }

func queueIndex(rng keys.Range, kind int) int { return int(rng.Range)*queuesOfRange + kind }

func (m *deathMerge) close() {
	for _, d := range m.queues {
		d.it.Close()
	}
}

// walk reports until the end, until the budget is spent, or until take wants no more. It returns the queue with the
// first entry that it has not reported, nil if there is none.
func (m *deathMerge) walk(until expiry.Stamp, take func(Life) bool) (*deathQueue, error) {
	if err := m.begin(); err != nil {
		return nil, err
	}
	for {
		h := m.first()
		if h == nil || m.spent || m.full || h.at > until && (h.due || m.paged) {
			return h, nil
		}
		if !h.due {
			if err := m.move(h); err != nil {
				return nil, err
			}
			continue
		}
		l, ok, err := m.confirm(h)
		if err != nil {
			return nil, err
		}
		if m.spent {
			return h, nil
		}
		if ok {
			m.full = !take(l)
		}
		if err := m.move(h); err != nil {
			return nil, err
		}
	}
}

// begin opens the queues that the policy needs.
func (m *deathMerge) begin() error {
	m.plain = m.o.decides(m.q)
	for i := range m.o.marks {
		if err := m.beginIn(&m.o.marks[i]); err != nil {
			return err
		}
	}
	return nil
}

// beginIn opens those of one range.
func (m *deathMerge) beginIn(marks *rangeMarks) error {
	inherit, own := m.o.View.Policy.Floors(m.o.View.Now)
	rng := marks.rng
	if m.q.On() {
		_, upper := rng.Bounds(keys.KindDeadline)
		at := max(own+1, m.second(rng, ownQueue))
		if err := m.open(rng, ownQueue, rng.Deadline(nil, at, 0), upper, false, decodeOwn); err != nil {
			return err
		}
	}
	if m.q.Default > expiry.Unset {
		sequence := marks.feed
		if second := m.second(rng, feedQueue); second > 0 {
			inherit = max(inherit, second-1-expiry.Stamp(m.q.Default))
		}
		if inherit != 0 {
			at, err := sequenceAt(m.ctx, m.o.snapshot, rng, inherit)
			if err != nil {
				return err
			}
			sequence = max(sequence, at)
		}
		_, upper := rng.Bounds(keys.KindFeed)
		if err := m.open(rng, feedQueue, rng.Feed(nil, sequence+1), upper, false, m.decodeFeed); err != nil {
			return err
		}
	}
	for i := range m.q.Dates {
		if err := m.openDates(rng, datedQueues+i, &m.q.Dates[i]); err != nil {
			return err
		}
	}
	return nil
}

// second is the first second that is asked of a queue, 0 for all.
func (m *deathMerge) second(rng keys.Range, kind int) expiry.Stamp {
	if m.from.Key != nil && queueIndex(rng, kind) < m.from.Queue {
		return m.from.At + 1
	}
	return m.from.At
}

// openDates opens the index of a rule of dates. What the rule has ended already, as it stands now, is left out.
func (m *deathMerge) openDates(rng keys.Range, kind int, rule *expiry.DateRule) error {
	at := *rule
	at.Index = DateIndex(m.o.View.State, rule)
	from := int64(math.MinInt64)
	for i := range m.o.View.Policy.Dates {
		if was := &m.o.View.Policy.Dates[i]; was.Index == at.Index {
			from = max(from, was.LastDue(m.o.View.Now)+1)
		}
	}
	if second := m.second(rng, kind); second > 0 {
		if second-1-expiry.Stamp(at.Seconds) > math.MaxInt64/1000 {
			return nil // no date can be so late
		}
		from = max(from, at.LastDue(second-1)+1)
	}
	lower, upper := datedEntries(m.o.View, &at, from, math.MaxInt64)
	descending := descends(m.o.View, &at)
	return m.open(rng, kind, lower, upper, descending, func(it kv.Iterator, d *deathQueue) (bool, error) {
		ms, err := keys.NamedDate(it.Key(), descending)
		if err != nil {
			return false, corrupt(err, "index entry")
		}
		if d.number, err = keys.Number(it.Key()); err != nil {
			return false, corrupt(err, "index entry")
		}
		d.at, d.ms = max(1, at.Deadline(ms)), ms
		return true, nil
	})
}

func (m *deathMerge) open(
	rng keys.Range, kind int, lower, upper []byte, descending bool,
	decode func(kv.Iterator, *deathQueue) (bool, error),
) error {
	index := queueIndex(rng, kind)
	if key := m.from.Key; key != nil && index == m.from.Queue {
		if descending && bytes.Compare(key, upper) < 0 {
			upper = append(bytes.Clone(key), 0) // just after it
		} else if !descending && bytes.Compare(key, lower) > 0 {
			lower = key
		}
	}
	if bytes.Compare(lower, upper) >= 0 {
		return nil // the place is beyond all entries
	}
	it, err := m.o.snapshot.Iterate(m.ctx, lower, upper)
	if err != nil {
		return err
	}
	d := &deathQueue{rng: rng, index: index, kind: kind, it: it, descending: descending, decode: decode}
	m.queues = append(m.queues, d)
	return m.move(d)
}

func decodeOwn(it kv.Iterator, d *deathQueue) (bool, error) {
	var err error
	if d.at, err = keys.Deadline(it.Key()); err != nil {
		return false, corrupt(err, "deadline entry")
	}
	if d.number, err = keys.Number(it.Key()); err != nil {
		return false, corrupt(err, "deadline entry")
	}
	e, err := keys.DecodeDeadline(it.Value())
	if err != nil {
		return false, corrupt(err, "deadline entry")
	}
	d.bytes = uint64(e.Bytes)
	return true, nil
}

// decodeFeed takes documents without a ttl of their own; the others are in their own queue.
func (m *deathMerge) decodeFeed(it kv.Iterator, d *deathQueue) (bool, error) {
	e, err := keys.DecodeFeed(it.Value())
	if err != nil {
		return false, corrupt(err, "change feed entry")
	}
	d.number, d.bytes = e.Number, uint64(e.Bytes)
	d.at = e.Stamp + expiry.Stamp(m.q.Default)
	return e.TTL == int32(expiry.Unset), nil
}

// move goes on to the next entry of a queue. It does not look for one that is due: a queue passes over the others only
// as its turn comes, so that a page that is full of them leaves off where the next one goes on.
func (m *deathMerge) move(d *deathQueue) error {
	next := d.it.Next
	if d.descending {
		next = d.it.Prev
	}
	if !next() {
		d.over = true
		return d.it.Err()
	}
	if m.steps++; m.steps%checkEvery == 0 && m.ctx.Err() != nil {
		return m.ctx.Err()
	}
	if !m.budget.spend(1) {
		m.spent = true
	}
	var err error
	d.due, err = d.decode(d.it, d)
	return err
}

// first is the queue with the earliest deadline, nil if all are over.
func (m *deathMerge) first() (first *deathQueue) {
	for _, d := range m.queues {
		if !d.over && (first == nil || d.at < first.at) {
			first = d
		}
	}
	return first
}

// confirm makes a Life of an entry; ok is false if its document has ended already, ends earlier, is not there, or is
// reported from another entry.
func (m *deathMerge) confirm(d *deathQueue) (l Life, ok bool, err error) {
	if m.plain && !d.dated() {
		return Life{Number: d.number, Bytes: d.bytes, Alive: true, Ends: true, At: d.at}, true, nil
	}
	if !m.budget.spend(CostOfDocument - 1) {
		m.spent = true
		return l, false, nil
	}
	key := d.rng.Record(nil, d.number)
	_, err = getRecord(m.ctx, m.o.snapshot, key, func(h keys.Header, body doc.Doc) error {
		l = m.o.lifeOf(m.q, d.number, h, body)
		ok = l.Alive && l.Ends && l.At == d.at && (!d.dated() || m.firstOf(d, h, body))
		return nil
	})
	return l, ok, err
}

// firstOf reports whether no other entry that comes before that of d says the same of its document in this second: in
// the queues of lives, of an earlier rule, or of the same rule with an earlier date of an array.
func (m *deathMerge) firstOf(d *deathQueue, h keys.Header, body doc.Doc) bool {
	if at, ends := m.q.Effective(expiry.TTL(h.TTL)).Deadline(h.Stamp); ends && at == d.at {
		return false
	}
	rule := d.kind - datedQueues
	for i := range rule {
		if at, miss := m.q.Dates[i].Why(body); miss == expiry.Hit && at == d.at {
			return false
		}
	}
	ms, ok := m.q.Dates[rule].Earliest(body)
	return ok && ms == d.ms
}
