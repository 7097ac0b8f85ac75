package store

import (
	"context"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/keys"
	"github.com/mayflydb/mayfly/internal/kv"
)

// An Outlook is a container at one instant, for questions about what will end under its policy or another one. It reads
// one snapshot and waits for no request. The caller closes it.
type Outlook struct {
	View catalog.View

	snapshot kv.Snapshot
	marks    []rangeMarks // of each range
	counter  keys.Counter // the documents and bytes of all ranges
}

// Outlook looks at a container at the instant now, or at the newest instant that a request has seen.
func (s *Store) Outlook(ctx context.Context, c *catalog.Container, now expiry.Stamp) (*Outlook, error) {
	for range maxAttempts {
		v, err := c.Enter(ctx, now)
		if err != nil {
			return nil, err
		}
		o := &Outlook{View: v}
		if o.snapshot, o.marks, err = s.reclaimed(ctx, v); err != nil {
			return nil, err
		}
		if o.counter, err = sumOf(ctx, o.snapshot, o.marks); err == nil {
			// The snapshot must have what the view says of the policy and its indexes.
			var holds bool
			if holds, err = v.Holds(ctx, o.snapshot); holds {
				return o, nil
			}
		}
		o.Close()
		if err != nil {
			return nil, err
		}
	}
	return nil, errIndexChanged
}

// Close releases the snapshot.
func (o *Outlook) Close() { o.snapshot.Close() }

// Stored is how many documents are on disk, expired ones included, and the bytes of their bodies.
func (o *Outlook) Stored() (documents, bytes uint64) { return o.counter.Documents, o.counter.Bytes }

// CostOfDocument is what a document that is read counts as, in entries of a Budget.
const CostOfDocument = 10

// A Budget is how many entries of queues and indexes may still be looked at. It counts entries and not time, so that
// the same question about the same data has the same answer on a slow machine.
type Budget struct{ Entries int }

// spend takes from the budget, and reports whether there was enough.
func (b *Budget) spend(cost int) bool {
	b.Entries -= cost
	return b.Entries >= 0
}

// Living counts the living documents. exact is false where that would cost more than the budget, or where only a look
// at every document could tell; then usage says nothing.
func (o *Outlook) Living(ctx context.Context, b *Budget) (usage Usage, exact bool, err error) {
	if !o.View.Policy.Ordered() {
		return Usage{}, false, nil
	}
	dc := deadCounter{v: o.View, usage: storedUsage(o.counter), left: max(b.Entries, 1)}
	if len(o.View.Policy.Dates) > 0 {
		dc.left = max(b.Entries/CostOfDocument, 1)
	}
	allowed := dc.left
	if err := dc.queues(ctx, o.snapshot, o.marks); err != nil {
		return Usage{}, false, err
	}
	b.Entries -= allowed - dc.left
	return dc.usage, dc.left > 0, nil
}

// Document calls use with a document that is alive at the instant of the Outlook; ErrNotFound if there is none. The
// body is valid only inside use.
func (o *Outlook) Document(ctx context.Context, number uint64, use func(access.Document) error) error {
	v := o.View
	found, err := getAtHome(ctx, o.snapshot, v.Container, v.State, number, func(h keys.Header, body doc.Doc) error {
		if dead(v, h, body) {
			return ErrNotFound
		}
		return use(document(v, number, h, body))
	})
	if err == nil && !found {
		return ErrNotFound
	}
	return err
}

// A Life is what a policy says about one document.
type Life struct {
	Number uint64
	Bytes  uint64
	Alive  bool         // at the instant of the Outlook, under the policy that is in force
	Ends   bool         // the policy in question ends it
	At     expiry.Stamp // when, if it ends: the first second at which it does not exist; may be in the past
}

// decides reports whether stamp and own ttl of a document are all that a question about q needs.
func (o *Outlook) decides(q *expiry.Policy) bool { return o.View.Policy.Plain() && q.Plain() }

// lifeOf asks both policies about a record.
func (o *Outlook) lifeOf(q *expiry.Policy, number uint64, h keys.Header, body doc.Doc) Life {
	l := Life{Number: number, Bytes: uint64(len(body)), Alive: !dead(o.View, h, body)}
	l.At, l.Ends = q.Deadline(versionOf(h, body))
	return l
}

// lifeOfEntry does so with an entry of the feed, which is enough where decides says so.
func (o *Outlook) lifeOfEntry(q *expiry.Policy, e keys.FeedEntry) Life {
	own := expiry.TTL(e.TTL)
	l := Life{Number: e.Number, Bytes: uint64(e.Bytes), Alive: !o.View.Policy.DeadByTTL(e.Stamp, own, o.View.Now)}
	l.At, l.Ends = q.Effective(own).Deadline(e.Stamp)
	return l
}

// DateIndex finds a complete index whose entries are in the order of the dates that a rule looks at, and which has just
// the documents for which it holds; 0 if there is none.
func DateIndex(st *catalog.State, rule *expiry.DateRule) uint32 {
	for i := range st.Named {
		x := &st.Named[i]
		fits := !x.Building && !x.Wildcard && len(x.Columns) == 1 && x.Columns[0].Path == rule.Path
		if fits && string(x.Partial) == string(rule.Partial) {
			return x.ID
		}
	}
	return 0
}

// Stored is how many documents of a container are on disk, expired ones included, and the bytes of their bodies.
func (s *Store) Stored(ctx context.Context, c *catalog.Container) (documents, bytes uint64, err error) {
	for _, x := range c.State().Ranges() {
		counter, err := counterOf(ctx, s.engine, c.KeysOf(x.Number))
		if err != nil {
			return 0, 0, err
		}
		documents, bytes = documents+counter.Documents, bytes+counter.Bytes
	}
	return documents, bytes, nil
}
