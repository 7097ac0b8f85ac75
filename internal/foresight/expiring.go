package foresight

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"math"
	"slices"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/store"
)

// Limits of a page of Expiring.
const (
	MaxExpiring     = 1000    // items
	ExpiringEntries = 200_000 // entries of queues and indexes that it may look at; a document counts as ten
	// leastLook is enough to begin each queue and to look at one document, so that each page gets on.
	leastLook = 200
	maxPlace  = 1 << 10 // bytes of a continuation
)

// An Expiring is a page of the living documents of a container that end in a span of time, in the order of their
// deadlines.
type Expiring struct {
	Items        []Ending     `json:"items"`
	Continuation string       `json:"continuation,omitempty"`
	Exact        bool         `json:"exact"` // all pages together have every such document
	Now          expiry.Stamp `json:"now"`
}

// An Ending names a document and says when it ends.
type Ending struct {
	Identity
	Deadline expiry.Stamp `json:"deadline"`
}

// A Span is what Expiring is asked for: deadlines from From on and before Until, in pages of Max items.
type Span struct {
	From, Until  expiry.Stamp
	Max          int
	Continuation string
}

// A place is a continuation: of the queues, or after a document where there are none.
type place struct {
	At     expiry.Stamp `json:"at"`
	Queue  int          `json:"queue,omitempty"`
	Key    []byte       `json:"key,omitempty"`
	Number uint64       `json:"number,omitempty"`
}

func (p place) String() string {
	text, _ := json.Marshal(p) // it has nothing that could fail
	return base64.RawURLEncoding.EncodeToString(text)
}

func parsePlace(text string) (p place, err error) {
	if text == "" {
		return p, nil
	}
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err == nil {
		err = json.Unmarshal(raw, &p)
	}
	if err != nil || len(text) > maxPlace || p.At < 1 || p.At > math.MaxInt64/2 || p.Queue < 0 {
		return p, fault.Wrap(fault.Invalid, err, "The continuation is not valid. Send it as it came.")
	}
	return p, nil
}

// Expiring lists the documents that end in a span of time under the policy that is in force. It follows the queues of
// deadlines, and reads documents where a date may end them, and those that it names. limit is how many entries a page
// may look at, 0 for ExpiringEntries: a page may have fewer items than it could, and a continuation.
//
// Deadlines that count from a property are in no queue. Then a page rests on a look at all documents, or, where there
// are too many, at a sample: Exact is false, and the items are only some of those that end.
func (f *Foresight) Expiring(
	ctx context.Context, c *catalog.Container, now expiry.Stamp, s Span, limit int,
) (*Expiring, error) {
	from, err := parsePlace(s.Continuation)
	if err != nil {
		return nil, err
	}
	switch {
	case s.Until <= s.From:
		return nil, fault.New(fault.Invalid, "The span is empty: until must be after from.")
	case s.Max < 1 || s.Max > MaxExpiring:
		return nil, fault.New(fault.Invalid, "A page has from 1 to %d items.", MaxExpiring)
	}
	o, err := f.outlook(ctx, c, now)
	if err != nil {
		return nil, err
	}
	defer o.Close()
	if start := max(s.From, o.View.Now+1); from.At < start {
		from = place{At: start}
	}
	x := &expiring{Expiring: Expiring{Items: []Ending{}, Now: o.View.Now}, o: o, Span: s, from: from}
	budget := store.Budget{Entries: max(cmp.Or(limit, ExpiringEntries), leastLook)}
	if o.Queued(&o.View.Policy) {
		err = x.follow(ctx, &budget)
	} else {
		err = x.look(ctx, &budget)
	}
	return &x.Expiring, err
}

// An expiring is one page in the making.
type expiring struct {
	Expiring
	Span
	o    *store.Outlook
	from place
}

// follow takes the page from the queues.
func (x *expiring) follow(ctx context.Context, b *store.Budget) error {
	x.Exact = true
	from := store.Place{At: x.from.At, Queue: x.from.Queue, Key: x.from.Key}
	var found []store.Life
	next, more, err := x.o.DeathsFrom(ctx, &x.o.View.Policy, from, x.Until-1, b, func(l store.Life) bool {
		found = append(found, l)
		return len(found) < x.Max
	})
	if err != nil {
		return err
	}
	if more {
		x.Expiring.Continuation = place{At: next.At, Queue: next.Queue, Key: next.Key}.String()
	}
	return x.name(ctx, found)
}

// look takes the page from all documents, or from a sample, which is the same one for each page as long as nothing
// changes.
func (x *expiring) look(ctx context.Context, b *store.Budget) error {
	order := func(a, b store.Life) int { return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Number, b.Number)) }
	var found []store.Life
	after := store.Life{At: x.from.At, Number: x.from.Number}
	looked, _, err := x.o.Sample(ctx, &x.o.View.Policy, b, func(l store.Life) {
		if !l.Alive || !l.Ends || l.At >= x.Until || order(l, after) <= 0 {
			return
		}
		at, _ := slices.BinarySearchFunc(found, l, order)
		if at > x.Max {
			return
		}
		found = slices.Insert(found, at, l)
		found = found[:min(len(found), x.Max+1)]
	})
	if err != nil {
		return err
	}
	documents, _ := x.o.Stored()
	x.Exact = looked >= documents
	if len(found) > x.Max {
		found = found[:x.Max]
		last := found[x.Max-1]
		x.Expiring.Continuation = place{At: last.At, Number: last.Number}.String()
	}
	return x.name(ctx, found)
}

// name reads the documents of a page.
func (x *expiring) name(ctx context.Context, found []store.Life) error {
	for _, l := range found {
		err := x.o.Document(ctx, l.Number, func(d access.Document) error {
			x.Items = append(x.Items, Ending{identityOf(x.o.View.State, d.Body), l.At})
			return nil
		})
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
	}
	return nil
}
