package store

import (
	"context"
	"math/rand/v2"

	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/keys"
	"github.com/mayflydb/mayfly/internal/kv"
)

// The sampling of Sample: so many runs of neighbours, unless each would be shorter than so many.
const (
	sampleRuns   = 2048
	sampleRunMin = 32
)

// Sample calls take with documents on disk, dead ones too, and says what q makes of them. If the budget allows, these
// are all documents. Else they are a sample: the order in which documents were written is divided into parts of equal
// length, and of each part one run of neighbours at a random place is looked at. The places depend on the state of the
// container alone, so that the same question has the same answer. looked is the number of documents that it called take
// with; in proportion they stand for all that are Stored. runs is how many runs of neighbours they were, 1 for all.
// Each range has the share of the budget that it has of the documents.
//
// Where stamps and own ttls decide it reads entries of the feed, else documents in the order of their creation.
func (o *Outlook) Sample(
	ctx context.Context, q *expiry.Policy, b *Budget, take func(Life),
) (looked, runs uint64, err error) {
	s := sampler{o: o, q: q, budget: b, take: take, kind: keys.KindFeed, cost: 1}
	if !o.decides(q) {
		s.kind, s.cost = keys.KindRecord, CostOfDocument
	}
	most := uint64(max(b.Entries/s.cost, sampleRunMin))
	if o.counter.Documents <= most {
		for i := range o.marks {
			lower, upper := o.marks[i].rng.Bounds(s.kind)
			if err := walk(ctx, o.snapshot, lower, upper, s.entry); err != nil {
				return s.looked, 1, err
			}
		}
		return s.looked, 1, nil
	}
	for i := range o.marks {
		if err := s.sample(ctx, o.marks[i].rng, most); err != nil {
			return s.looked, s.met, err
		}
	}
	return s.looked, s.met, nil
}

// A sampler is one Sample.
type sampler struct {
	o      *Outlook
	q      *expiry.Policy
	budget *Budget
	take   func(Life)
	kind   keys.Kind
	cost   int
	looked uint64
	met    uint64 // runs that had a document

	counter keys.Counter // of the range
	it      kv.Iterator
}

// sample looks at runs of one range; most is how many documents of all ranges.
func (s *sampler) sample(ctx context.Context, rng keys.Range, most uint64) (err error) {
	if s.counter, err = counterOf(ctx, s.o.snapshot, rng); err != nil || s.counter.Documents == 0 {
		return err
	}
	share := float64(s.counter.Documents) / float64(s.o.counter.Documents)
	lower, upper := rng.Bounds(s.kind)
	if s.it, err = s.o.snapshot.Iterate(ctx, lower, upper); err != nil {
		return err
	}
	defer s.it.Close()
	return s.runs(ctx, rng, max(1, uint64(share*float64(most))))
}

// runs looks at one run of each part. The length of a run is measured in sequences, or numbers, and not in entries:
// where many documents are gone, few are left to stand for the part.
func (s *sampler) runs(ctx context.Context, rng keys.Range, most uint64) error {
	first, last, err := s.span()
	if err != nil || last < first {
		return err
	}
	span := float64(last-first) + 1
	parts := max(min(sampleRuns, most/sampleRunMin), 1)
	part := span / float64(parts)
	run := part * float64(most) / float64(s.counter.Documents)
	random := rand.New(rand.NewPCG(s.counter.Sequence, s.counter.Number))
	begun := s.looked
	for i := range parts {
		if err := ctx.Err(); err != nil {
			return err
		}
		begin := float64(first) + float64(i)*part + random.Float64()*max(part-run, 0)
		from, to := uint64(begin), uint64(begin+run)
		if to == from && random.Float64() < run {
			to++ // a part that is shorter than one number on average
		}
		before := s.looked
		err := s.run(rng, from, to)
		if s.looked > before {
			s.met++
		}
		if err != nil || s.looked-begun > 4*most {
			return err
		}
	}
	return nil
}

// span is where the first and the last entry are.
func (s *sampler) span() (first, last uint64, err error) {
	if last = s.counter.Sequence; s.kind == keys.KindRecord {
		last = s.counter.Number
	}
	if !s.it.Next() {
		return 1, 0, s.it.Err()
	}
	first, err = s.place()
	return first, last, err
}

func (s *sampler) place() (uint64, error) {
	place := keys.Number
	if s.kind == keys.KindFeed {
		place = keys.FeedSequence
	}
	n, err := place(s.it.Key())
	if err != nil {
		return 0, corrupt(err, "entry")
	}
	if s.kind == keys.KindRecord {
		n = keys.CountOfNumber(n)
	}
	return n, nil
}

// run looks at the entries from one place up to another, exclusive.
func (s *sampler) run(rng keys.Range, from, to uint64) error {
	if from >= to {
		return nil
	}
	found, err := s.seek(rng, from)
	if err != nil {
		return err
	}
	for ; found; found = s.it.Next() {
		at, err := s.place()
		if err != nil {
			return err
		}
		if at >= to {
			return nil
		}
		if err := s.entry(s.it); err != nil {
			return err
		}
	}
	return s.it.Err()
}

// seek moves to the first entry at or after a place. Documents of a range that was split from others have numbers of
// those, too; the counts in all of them rise as the numbers do.
func (s *sampler) seek(rng keys.Range, from uint64) (found bool, err error) {
	if s.kind == keys.KindFeed {
		return s.it.Seek(rng.Feed(nil, from)), nil
	}
	for _, born := range s.o.View.Lineage(rng.Range) {
		if found = s.it.Seek(rng.Record(nil, keys.NumberOf(born, from))); !found {
			return false, nil
		}
		if at, err := s.place(); err != nil || at >= from {
			return true, err
		}
	}
	return found, nil
}

func (s *sampler) entry(it kv.Iterator) error {
	s.looked++
	s.budget.spend(s.cost)
	if s.kind == keys.KindFeed {
		e, err := keys.DecodeFeed(it.Value())
		if err != nil {
			return corrupt(err, "change feed entry")
		}
		s.take(s.o.lifeOfEntry(s.q, e))
		return nil
	}
	number, err := keys.Number(it.Key())
	if err != nil {
		return corrupt(err, "document")
	}
	h, body, err := keys.DecodeHeader(it.Value())
	if err != nil {
		return corrupt(err, "document")
	}
	s.take(s.o.lifeOf(s.q, number, h, body))
	return nil
}
