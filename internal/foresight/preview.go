package foresight

import (
	"context"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/expiry"
)

// A Preview says what a policy would do to the living documents of a container if it were put in force now.
type Preview struct {
	Database  string  `json:"database"`
	Container string  `json:"container"`
	Now       Instant `json:"now"`
	Before    string  `json:"before"` // the policy in force, in a sentence
	After     string  `json:"after"`  // the one that was asked about
	Sentence  string  `json:"sentence"`

	Living       Amount   `json:"living"`
	LivingExact  bool     `json:"livingExact"`
	LivingMargin uint64   `json:"livingMargin,omitempty"` // as Window.Margin
	Windows      []Window `json:"windows"`
	Exact        bool     `json:"exact"` // every number is
	Look         Look     `json:"look"`
}

// A Window is a time from now on. Its Amount is cumulative: everything that ends by Until, what ends at once included.
type Window struct {
	Name    string  `json:"name"`    // now, hour, day, week or month
	Seconds int64   `json:"seconds"` // its length
	Until   Instant `json:"until"`
	Amount
	Exact bool `json:"exact"`
	// Margin is how many documents more or less they may be, if they are an estimate: in 95 of 100 samples.
	Margin uint64 `json:"margin,omitempty"`
	// Samples are up to five documents that end in this window and in no shorter one.
	Samples []Sample `json:"samples"`
}

// windows are those of a Preview, in order. A month has 30 days.
var windows = []struct {
	name    string
	seconds int64
}{{"now", 0}, {"hour", hour}, {"day", day}, {"week", 7 * day}, {"month", 30 * day}}

const (
	minute = 60
	hour   = 60 * minute
	day    = 24 * hour
)

// Preview counts what a change of the policy of a container would end, at once and within each window. limit is how
// many entries it may look at, 0 for DefaultEntries.
func (f *Foresight) Preview(
	ctx context.Context, c *catalog.Container, now expiry.Stamp, ch Change, limit int,
) (*Preview, error) {
	limit, err := entries(limit)
	if err != nil {
		return nil, err
	}
	o, err := f.outlook(ctx, c, now)
	if err != nil {
		return nil, err
	}
	defer o.Close()
	q, err := f.imagine(o, ch)
	if err != nil {
		return nil, err
	}
	edges := make([]expiry.Stamp, len(windows))
	for i, w := range windows {
		edges[i] = o.View.Now + w.seconds
	}
	n, err := ask(ctx, o, question{policy: q, edges: edges, entries: limit})
	if err != nil {
		return nil, err
	}
	noun := nounOf(o.View.State)
	p := &Preview{
		Database: c.Database.Name, Container: o.View.Name, Now: At(o.View.Now),
		Before: noun.Policy(&o.View.Policy), After: noun.Policy(q),
		Living: n.living.Amount, LivingExact: n.living.exact, LivingMargin: n.margin(&n.living),
		Exact: n.complete(false), Look: n.look,
	}
	var sum Amount
	exact, seen := true, uint64(0)
	for i, w := range windows {
		b := &n.buckets[i]
		sum.add(b.Amount)
		margin := uint64(0)
		if exact = exact && b.exact; !exact {
			seen += b.seen
			margin = n.from.margin(seen)
		}
		samples, err := samplesOf(ctx, o, q, b.samples)
		if err != nil {
			return nil, err
		}
		p.Windows = append(p.Windows, Window{w.name, w.seconds, At(edges[i]), sum, exact, margin, samples})
	}
	p.Sentence = noun.preview(p)
	return p, nil
}
