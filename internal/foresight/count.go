package foresight

import (
	"context"
	"math"
	"sort"

	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/store"
)

// A count is how many living documents of a container a policy ends, and when.
type count struct {
	edges []expiry.Stamp // in order; bucket i has what ends after edge i-1 and at or before edge i

	buckets []bucket
	beyond  bucket // what ends after the last edge
	none    bucket // what the policy never ends
	living  bucket // all of these
	look    Look

	from sampling // of what is not exact
}

// A bucket is one part of a count. Its samples are numbers of documents.
type bucket struct {
	Amount
	exact   bool
	seen    uint64 // documents of the sample, if it is not exact
	samples []uint64
}

// maxSamples is how many documents a bucket names.
const maxSamples = 5

func (b *bucket) take(l store.Life) {
	b.add(Amount{1, l.Bytes})
	if len(b.samples) < maxSamples {
		b.samples = append(b.samples, l.Number)
	}
}

// A question is what to count.
type question struct {
	policy  *expiry.Policy
	edges   []expiry.Stamp
	rest    bool // beyond and none are wanted too
	entries int
}

// ask counts exactly as far as the entries reach, and estimates the rest.
func ask(ctx context.Context, o *store.Outlook, q question) (*count, error) {
	c := &count{edges: q.edges, buckets: make([]bucket, len(q.edges))}
	c.look = Look{Method: ByQueues, Share: 1}
	budget := store.Budget{Entries: q.entries}
	living, exact, err := o.Living(ctx, &budget)
	if err != nil {
		return nil, err
	}
	c.living = bucket{Amount: Amount{living.Documents, living.Bytes}, exact: exact}
	if o.Queued(q.policy) {
		if err := c.follow(ctx, o, q, &budget); err != nil {
			return nil, err
		}
	}
	if !c.complete(q.rest) {
		budget.Entries = max(budget.Entries, q.entries/4, 1)
		whole := budget.Entries
		if err := c.sample(ctx, o, q.policy, &budget); err != nil {
			return nil, err
		}
		c.look.Entries += whole - budget.Entries
	}
	return c, nil
}

// complete reports whether nothing has to be estimated.
func (c *count) complete(rest bool) bool {
	for i := range c.buckets {
		if !c.buckets[i].exact {
			return false
		}
	}
	return c.living.exact && (!rest || c.beyond.exact && c.none.exact)
}

// bucketOf is where a deadline belongs.
func (c *count) bucketOf(at expiry.Stamp) *bucket {
	i := sort.Search(len(c.edges), func(i int) bool { return at <= c.edges[i] })
	if i == len(c.edges) {
		return &c.beyond
	}
	return &c.buckets[i]
}

// follow counts along the queues.
func (c *count) follow(ctx context.Context, o *store.Outlook, q question, budget *store.Budget) error {
	until := c.edges[len(c.edges)-1]
	if q.rest {
		until = math.MaxInt64
	}
	before := budget.Entries
	reach, all, err := o.Deaths(ctx, q.policy, until, budget, func(l store.Life) { c.bucketOf(l.At).take(l) })
	if err != nil {
		return err
	}
	c.look.Entries += before - budget.Entries
	for i := range c.buckets {
		c.buckets[i].exact = all || c.edges[i] <= reach
	}
	c.beyond.exact = all
	if all && c.living.exact {
		c.none.Amount, c.none.exact = c.living.less(c.buckets, c.beyond), true
	}
	return nil
}

// less is what is left of a bucket without others.
func (b *bucket) less(buckets []bucket, more ...bucket) Amount {
	left := b.Amount
	for _, list := range [][]bucket{buckets, more} {
		for i := range list {
			left.Documents -= min(left.Documents, list[i].Documents)
			left.Bytes -= min(left.Bytes, list[i].Bytes)
		}
	}
	return left
}

// sample fills in what follow has left open, from a look at some or all documents.
func (c *count) sample(ctx context.Context, o *store.Outlook, policy *expiry.Policy, budget *store.Budget) error {
	seen := &count{edges: c.edges, buckets: make([]bucket, len(c.edges))}
	var dead Amount
	looked, runs, err := o.Sample(ctx, policy, budget, func(l store.Life) {
		switch {
		case !l.Alive:
			dead.add(Amount{1, l.Bytes})
			return
		case l.Ends:
			seen.bucketOf(l.At).take(l)
		default:
			seen.none.take(l)
		}
		seen.living.take(l)
	})
	if err != nil {
		return err
	}
	stored := Amount{}
	stored.Documents, stored.Bytes = o.Stored()
	if looked >= stored.Documents {
		seen.look = Look{ByAll, 1, c.look.Entries}
		seen.each(func(b *bucket) { b.exact = true })
		*c = *seen
		return nil
	}
	c.look.Method, c.look.Share = BySample, float64(looked)/float64(stored.Documents)
	sampled := seen.living.Amount
	sampled.add(dead)
	scale := scale{
		documents: ratio(stored.Documents, sampled.Documents),
		bytes:     ratio(stored.Bytes, sampled.Bytes),
	}
	c.from = sampling{stored.Documents, sampled.Documents, runs}
	for i := range c.buckets {
		c.buckets[i].seen = seen.buckets[i].Documents
	}
	c.beyond.seen, c.none.seen, c.living.seen = seen.beyond.Documents, seen.none.Documents, seen.living.Documents
	c.estimate(seen, scale)
	c.split(seen, scale)
	return nil
}

// margin is the margin of error of a bucket, 0 if it is exact.
func (c *count) margin(b *bucket) uint64 {
	if b.exact {
		return 0
	}
	return c.from.margin(b.seen)
}

// each visits every part of a count.
func (c *count) each(do func(*bucket)) {
	for i := range c.buckets {
		do(&c.buckets[i])
	}
	do(&c.beyond)
	do(&c.none)
	do(&c.living)
}

// A scale takes a sample to the whole.
type scale struct{ documents, bytes float64 }

func ratio(whole, part uint64) float64 {
	if part == 0 {
		return 0
	}
	return float64(whole) / float64(part)
}

func (s scale) of(a Amount) Amount {
	return Amount{
		uint64(math.Round(float64(a.Documents) * s.documents)),
		uint64(math.Round(float64(a.Bytes) * s.bytes)),
	}
}

// estimate completes the buckets that are not. What was found on the way to them is certain, and all of them together
// have no more than what lives.
func (c *count) estimate(seen *count, by scale) {
	var found Amount
	for i := range c.buckets {
		found.add(c.buckets[i].Amount)
	}
	if !c.living.exact {
		guess := by.of(seen.living.Amount)
		c.living.Amount = Amount{max(guess.Documents, found.Documents), max(guess.Bytes, found.Bytes)}
	}
	rest := c.living.less(c.buckets)
	for i := range c.buckets {
		b := &c.buckets[i]
		if b.exact {
			continue
		}
		guess := by.of(seen.buckets[i].Amount)
		grow(&b.Documents, guess.Documents, &rest.Documents)
		grow(&b.Bytes, guess.Bytes, &rest.Bytes)
		if len(b.samples) == 0 {
			b.samples = seen.buckets[i].samples
		}
	}
}

// grow raises a number to a guess, as far as the rest allows.
func grow(n *uint64, guess uint64, rest *uint64) {
	if guess > *n {
		more := min(guess-*n, *rest)
		*n += more
		*rest -= more
	}
}

// split shares what is in no bucket between what ends later and what never ends, so that all parts together are the
// living.
func (c *count) split(seen *count, by scale) {
	if c.beyond.exact && c.none.exact {
		return
	}
	rest := c.living.less(c.buckets)
	later, never := by.of(seen.beyond.Amount), by.of(seen.none.Amount)
	found := c.beyond.Amount
	c.beyond.Amount = Amount{
		part(rest.Documents, max(later.Documents, found.Documents), never.Documents),
		part(rest.Bytes, max(later.Bytes, found.Bytes), never.Bytes),
	}
	c.none.Amount = rest
	c.none.Documents -= c.beyond.Documents
	c.none.Bytes -= c.beyond.Bytes
}

// part is the part of rest that a has, where a and b share it.
func part(rest, a, b uint64) uint64 {
	if a == 0 {
		return 0
	}
	return min(rest, uint64(math.Round(float64(rest)*float64(a)/(float64(a)+float64(b)))))
}
