package store

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/keys"
	"github.com/mayflydb/mayfly/internal/kv"
)

// A Report is what a consistency check found.
type Report struct {
	Containers, Documents, Entries uint64
	Problems                       []string // at most maxProblems of them
	Found                          int      // how many there are in all
}

const maxProblems = 100

func (r *Report) problem(format string, args ...any) {
	if r.Found++; len(r.Problems) < maxProblems {
		r.Problems = append(r.Problems, fmt.Sprintf(format, args...))
	}
}

// Check reads every record and every entry of every container and compares them: each document must be reachable in
// every way that its container promises, and no entry may lead to a document that is not there, unless it waits for a
// sweep.
func (s *Store) Check(ctx context.Context) (Report, error) {
	return s.CheckWatched(ctx, func(uint64) {})
}

// CheckWatched is Check for a store in use: it calls seen often, with the number of documents that it has read so far.
// Each container is checked as it is at one moment, while requests and the reaper go on.
func (s *Store) CheckWatched(ctx context.Context, seen func(documents uint64)) (Report, error) {
	var report Report
	for _, c := range s.catalog.AllContainers() {
		err := s.checkContainer(ctx, c, &report, seen)
		if err == catalog.ErrNoOwner {
			continue // deleted during the check
		}
		if err != nil {
			return report, err
		}
		report.Containers++
	}
	return report, nil
}

// A check is the check of one container at one moment.
type check struct {
	s       *Store
	v       catalog.View
	rng     keys.Range
	here    catalog.Range
	at      kv.Snapshot
	report  *Report
	runs    sweep
	indexer *indexer
	counter keys.Counter
	found   keys.Counter // Documents and Bytes as counted
	terms   terms
	seen    func(documents uint64)
}

func (s *Store) checkContainer(
	ctx context.Context, c *catalog.Container, report *Report, seen func(documents uint64),
) error {
	for _, x := range c.State().Ranges() {
		if err := s.checkRange(ctx, c, c.KeysOf(x.Number), report, seen); err != nil {
			return err
		}
	}
	return s.checkFormer(ctx, c, report)
}

// checkFormer checks that nothing is left of the ranges that were split, and of splits that have begun again.
func (s *Store) checkFormer(ctx context.Context, c *catalog.Container, report *Report) error {
	if c.State().LastRange == 0 {
		return nil
	}
	v, at, err := s.freeze(ctx, c, c.KeysOf(0))
	if err != nil {
		return err
	}
	defer at.Close()
	leftover, err := s.catalog.Leftover(ctx, at)
	if err != nil {
		return err
	}
	for number := range v.LastRange + 1 {
		_, there := v.RangeNumbered(number)
		if there || v.Splitting != nil && slices.Contains(v.Splitting.New[:], number) {
			continue
		}
		lower, upper := c.KeysOf(number).RangeBounds()
		err := walk(ctx, at, lower, upper, func(it kv.Iterator) error {
			if !leftover(it.Key()) {
				report.problem("container %s: a key of range %d, which was split, is left", v.Name, number)
				return errStopped
			}
			return nil
		})
		if err != nil && err != errStopped {
			return err
		}
	}
	return nil
}

// checkRange checks one range: nothing leads from one to another.
func (s *Store) checkRange(
	ctx context.Context, c *catalog.Container, rng keys.Range, report *Report, seen func(documents uint64),
) error {
	v, at, err := s.freeze(ctx, c, rng)
	if err != nil {
		return err
	}
	defer at.Close()
	here, there := v.RangeNumbered(rng.Range)
	if !there { // it was split during the check
		return nil
	}
	ck := check{s: s, v: v, rng: rng, here: here, at: at, report: report, indexer: s.indexer(v), seen: seen}
	for _, step := range []func(context.Context) error{ck.load, ck.records, ck.leads, ck.queues} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	if ck.found.Documents != ck.counter.Documents || ck.found.Bytes != ck.counter.Bytes {
		ck.problem("counts %d documents of %d bytes, has %d of %d",
			ck.counter.Documents, ck.counter.Bytes, ck.found.Documents, ck.found.Bytes)
	}
	return nil
}

// freeze takes the state and the data of a range at one moment, at which nothing of it is being reclaimed.
func (s *Store) freeze(
	ctx context.Context, c *catalog.Container, rng keys.Range,
) (catalog.View, kv.Snapshot, error) {
	r := s.reclaimOf(c, rng.Range)
	r.mu.Lock()
	defer r.mu.Unlock()
	for {
		v, err := c.Enter(ctx, 0)
		if err != nil {
			return catalog.View{}, nil, err
		}
		at, err := s.engine.Snapshot(ctx)
		if err != nil {
			return catalog.View{}, nil, err
		}
		holds, err := v.Holds(ctx, at)
		if err != nil {
			return catalog.View{}, nil, errors.Join(err, at.Close())
		}
		if holds { // no change of the container came between the state and the snapshot
			return v, at, nil
		}
		if err := at.Close(); err != nil {
			return catalog.View{}, nil, err
		}
	}
}

func (ck *check) problem(format string, args ...any) {
	ck.report.problem("container %s: "+format, append([]any{ck.v.Name}, args...)...)
}

func (ck *check) load(ctx context.Context) error {
	var err error
	if ck.counter, err = counterOf(ctx, ck.at, ck.rng); err != nil {
		return err
	}
	ck.runs.runs, err = runsOf(ctx, ck.at, ck.rng)
	return err
}

// records checks that every document is where its keys say.
func (ck *check) records(ctx context.Context) error {
	lower, upper := ck.rng.Bounds(keys.KindRecord)
	var terms terms
	return walk(ctx, ck.at, lower, upper, func(it kv.Iterator) error {
		number, err := keys.Number(it.Key())
		if err != nil {
			ck.problem("a record has a key of another shape")
			return nil
		}
		h, body, err := keys.DecodeHeader(it.Value())
		if err != nil || doc.Doc(body).Validate() != nil {
			ck.problem("document %d cannot be read", number)
			return nil
		}
		ck.found.Documents++
		ck.found.Bytes += uint64(len(body))
		ck.report.Documents++
		ck.seen(ck.report.Documents)
		ck.record(ctx, number, h, body, &terms)
		return nil
	})
}

func (ck *check) record(ctx context.Context, number uint64, h keys.Header, body doc.Doc, terms *terms) {
	rng := ck.rng
	if !ck.here.Descends(keys.RangeOfNumber(number)) {
		ck.problem("document %d has a number of another range than %d", number, rng.Range)
	}
	count := keys.CountOfNumber(number)
	if count > ck.counter.Number || h.Sequence > ck.counter.Sequence || h.Stamp > ck.counter.Stamp {
		ck.problem("document %d is ahead of the counter", number)
	}
	partition := ck.v.Identity().AppendPartitionOf(nil, body)
	if in := ck.v.RangeOfForm(partition); in != rng.Range {
		ck.problem("document %d is in range %d and belongs to range %d", number, rng.Range, in)
	}
	id, _ := ck.v.Identity().AppendID(nil, body)
	ck.leadsHere(ctx, "lookup", rng.Lookup(nil, partition, string(id)), number, ck.isExpired(h, body))
	ck.named(ctx, number, h, body, terms)
	if ck.v.Identity().Partitioned() {
		ck.exists(ctx, "posting", rng.Posting(nil, partition, number), number)
	}
	ck.exists(ctx, "feed entry", rng.Feed(nil, h.Sequence), number)
	if deadline, ok := expiry.TTL(h.TTL).Deadline(h.Stamp); ok {
		ck.exists(ctx, "deadline", rng.Deadline(nil, deadline, number), number)
	}
	for ordinal := range ck.v.UniquePaths() {
		unique := appendUnique(nil, ck.v, rng, ordinal, partition, body)
		ck.leadsHere(ctx, "unique key", unique, number, ck.isExpired(h, body))
	}
	// Only the generation that is complete: one that is being built may lack entries.
	terms.collect(ck.indexer.matchers[0], rng, ck.indexer.generations[0], body)
	for i := range terms.list {
		ck.exists(ctx, "index entry", terms.entry(i, number), number)
	}
}

// named checks the entries and unique keys of a document in named indexes. The reaper takes those
// of a dead one away before the document.
func (ck *check) named(ctx context.Context, number uint64, h keys.Header, body doc.Doc, terms *terms) {
	if ck.isExpired(h, body) {
		return
	}
	for _, n := range ck.indexer.named {
		if n.Building {
			continue
		}
		array, err := terms.collectNamed(n, ck.rng, body)
		if err != nil {
			ck.problem("document %d cannot be in index %s", number, n.Name)
			continue
		}
		if array {
			ck.multikey(ctx, n, number)
		}
		for i := range terms.list {
			ck.exists(ctx, "entry of index "+n.Name, terms.entry(i, number), number)
		}
		if n.Unique {
			_, _ = n.eachKey(body, func(values []doc.Value) { // as it went above
				ck.leadsHere(ctx, "unique key of index "+n.Name, appendNamedUnique(nil, ck.v, n, values), number, false)
			})
		}
	}
}

// isExpired reports whether a document may be dead for some request: then another one may have its keys.
func (ck *check) isExpired(h keys.Header, body doc.Doc) bool {
	v := ck.v
	v.Now = max(v.Now, ck.counter.Stamp, v.Container.Seen())
	return dead(v, h, body)
}

func (ck *check) leadsHere(ctx context.Context, what string, key []byte, number uint64, expired bool) {
	got, found, err := getNumber(ctx, ck.at, key)
	if err != nil || !expired && (!found || got != number) {
		ck.problem("document %d: its %s leads to %d", number, what, got)
	}
}

func (ck *check) exists(ctx context.Context, what string, key []byte, number uint64) {
	found, err := ck.at.Get(ctx, key, func([]byte) error { return nil })
	if err != nil || !found {
		ck.problem("document %d has no %s", number, what)
	}
}

// leads checks that whatever leads to a document by its number leads to one.
func (ck *check) leads(ctx context.Context) error {
	leftover, err := ck.s.catalog.Leftover(ctx, ck.at)
	if err != nil {
		return err
	}
	for _, kind := range sweptKinds {
		lower, upper := ck.rng.Bounds(kind)
		err := walk(ctx, ck.at, lower, upper, func(it kv.Iterator) error {
			if leftover(it.Key()) { // nobody reads it any more, or keeps it up
				return nil
			}
			ck.report.Entries++
			number, err := leadsTo(kind, it)
			if err != nil {
				ck.problem("an entry of kind %c cannot be read", kind)
				return nil
			}
			if !ck.runs.covers(number) {
				ck.leadsToRecord(ctx, kind, number)
				ck.belongs(ctx, kind, it.Key(), number)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (ck *check) leadsToRecord(ctx context.Context, kind keys.Kind, number uint64) {
	found, err := ck.at.Get(ctx, ck.rng.Record(nil, number), func([]byte) error { return nil })
	if err != nil || !found {
		ck.problem("an entry of kind %c leads to document %d, which is not there", kind, number)
	}
}

// queues checks that feed and deadlines say of each document what its header says, in order.
func (ck *check) queues(ctx context.Context) error {
	lower, upper := ck.rng.Bounds(keys.KindFeed)
	var newest int64
	return walk(ctx, ck.at, lower, upper, func(it kv.Iterator) error {
		sequence, err := keys.FeedSequence(it.Key())
		e, err2 := keys.DecodeFeed(it.Value())
		if err != nil || err2 != nil {
			ck.problem("a feed entry cannot be read")
			return nil
		}
		if e.Stamp < newest {
			ck.problem("the stamp of sequence %d is below an earlier one", sequence)
		}
		newest = e.Stamp
		found, err := getRecord(ctx, ck.at, ck.rng.Record(nil, e.Number),
			func(h keys.Header, body doc.Doc) error {
				if h.Sequence != sequence || h.Stamp != e.Stamp || h.TTL != e.TTL || len(body) != int(e.Bytes) {
					ck.problem("feed entry %d and document %d differ", sequence, e.Number)
				}
				return nil
			})
		if err != nil || !found {
			ck.problem("feed entry %d leads to document %d, which is not there", sequence, e.Number)
		}
		return nil
	})
}
