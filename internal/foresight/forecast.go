package foresight

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/fault"
)

// A Forecast says when the living documents of one container, of a database or of everything end under the policies
// that are in force.
type Forecast struct {
	Database  string  `json:"database,omitempty"`  // empty for all
	Container string  `json:"container,omitempty"` // empty for all of the database
	Policy    string  `json:"policy,omitempty"`    // of one container, in a sentence
	Now       Instant `json:"now"`
	By        string  `json:"by"` // hour, day or month
	Sentence  string  `json:"sentence"`

	Buckets []Bucket `json:"buckets"`
	Beyond  Amount   `json:"beyond"` // ends after the last bucket
	NoEnd   Amount   `json:"noEnd"`  // never ends
	Living  Amount   `json:"living"` // all of these
	Exact   bool     `json:"exact"`  // every number is
	Margins *Margins `json:"margins,omitempty"`

	Containers int  `json:"containers"` // how many were asked
	Estimated  int  `json:"estimated"`  // for how many of them some number is an estimate
	Look       Look `json:"look"`
}

// A Bucket is a part of the calendar: what ends in it does not exist any more at a second from From on and before
// Until. The first one begins now.
type Bucket struct {
	From  Instant `json:"from"`
	Until Instant `json:"until"`
	Amount
	Exact bool `json:"exact"`
	// Margin is how many documents more or less they may be, if they are an estimate: in 95 of 100 samples.
	Margin uint64 `json:"margin,omitempty"`
}

// Margins are the margins of error of a Forecast that is not exact, as Bucket.Margin.
type Margins struct {
	Beyond uint64 `json:"beyond"`
	NoEnd  uint64 `json:"noEnd"`
	Living uint64 `json:"living"`
}

// A Scope is what a Forecast is about: a container, a database if Container is empty, everything if both are.
type Scope struct{ Database, Container string }

// Forecast counts the expirations ahead, by parts of the calendar; parts is how many, 0 for the usual number. limit is
// how many entries it may look at, 0 for DefaultEntries.
func (f *Foresight) Forecast(
	ctx context.Context, scope Scope, now expiry.Stamp, by string, parts, limit int,
) (*Forecast, error) {
	limit, err := entries(limit)
	if err != nil {
		return nil, err
	}
	present, err := f.catalog.Present(ctx, time.Unix(now, 0))
	if err != nil {
		return nil, err
	}
	now = present.Unix()
	list, err := f.within(scope)
	if err != nil {
		return nil, err
	}
	for _, c := range list {
		now = max(now, c.Seen()) // one instant for all of them
	}
	ends, err := calendar(now, by, parts)
	if err != nil {
		return nil, err
	}
	out := &Forecast{Database: scope.Database, Container: scope.Container, Now: At(now), By: by, Exact: true}
	out.Look = Look{Method: ByQueues, Share: 1}
	from := now
	for _, end := range ends {
		out.Buckets = append(out.Buckets, Bucket{From: At(from), Until: At(end), Exact: true})
		from = end
	}
	sum := forecastSum{Forecast: out, ends: ends, now: now, left: limit}
	if err := f.forecastAll(ctx, &sum, list); err != nil {
		return nil, err
	}
	noun := Noun{"document", "documents", "container"}
	if scope.Container != "" {
		noun = nounOf(list[0].State())
	}
	out.Sentence = noun.forecast(out)
	return out, nil
}

// within lists the containers of a scope.
func (f *Foresight) within(scope Scope) ([]*catalog.Container, error) {
	switch {
	case scope.Container != "":
		c, err := f.Container(scope.Database, scope.Container)
		return []*catalog.Container{c}, err
	case scope.Database != "":
		db, err := f.catalog.Database(scope.Database)
		if err != nil {
			return nil, fault.Wrap(fault.NotFound, err, "there is no database %q", scope.Database)
		}
		return f.catalog.Containers(db), nil
	}
	return f.catalog.AllContainers(), nil
}

// A forecastSum adds the counts of containers up.
type forecastSum struct {
	*Forecast
	ends   []expiry.Stamp
	now    expiry.Stamp
	left   int     // entries
	looked float64 // documents on disk that the answer rests on
	stored uint64  // documents on disk
}

// forecastAll begins with the smallest container: what it leaves of its share goes to the larger ones.
func (f *Foresight) forecastAll(ctx context.Context, sum *forecastSum, list []*catalog.Container) error {
	type sized struct {
		*catalog.Container
		documents uint64
	}
	var all []sized
	for _, c := range list {
		documents, _, err := f.store.Stored(ctx, c)
		if err != nil {
			return err
		}
		all = append(all, sized{c, documents})
	}
	slices.SortStableFunc(all, func(a, b sized) int { return cmp.Compare(a.documents, b.documents) })
	for i, c := range all {
		err := f.forecastOne(ctx, sum, c.Container, max(sum.left/(len(all)-i), 1))
		if errors.Is(err, catalog.ErrNoOwner) && sum.Container == "" {
			continue // it was deleted meanwhile
		}
		if err != nil {
			return err
		}
	}
	if sum.stored > 0 {
		sum.Look.Share = sum.looked / float64(sum.stored)
	}
	return nil
}

func (f *Foresight) forecastOne(ctx context.Context, sum *forecastSum, c *catalog.Container, limit int) error {
	o, err := f.outlook(ctx, c, sum.now)
	if err != nil {
		return err
	}
	defer o.Close()
	edges := make([]expiry.Stamp, len(sum.ends))
	for i, end := range sum.ends {
		edges[i] = end - 1
	}
	n, err := ask(ctx, o, question{policy: &o.View.Policy, edges: edges, rest: true, entries: limit})
	if err != nil {
		return err
	}
	if sum.Container != "" {
		sum.Policy = nounOf(o.View.State).Policy(&o.View.Policy)
	}
	sum.left = max(sum.left-n.look.Entries, 0)
	documents, _ := o.Stored()
	sum.stored += documents
	sum.add(n, documents)
	return nil
}

func (sum *forecastSum) add(n *count, documents uint64) {
	sum.Containers++
	for i := range n.buckets {
		sum.Buckets[i].add(n.buckets[i].Amount)
		sum.Buckets[i].Exact = sum.Buckets[i].Exact && n.buckets[i].exact
		sum.Buckets[i].Margin = together(sum.Buckets[i].Margin, n.margin(&n.buckets[i]))
	}
	sum.Beyond.add(n.beyond.Amount)
	sum.NoEnd.add(n.none.Amount)
	sum.Living.add(n.living.Amount)
	sum.looked += n.look.Share * float64(documents)
	sum.Look.Entries += n.look.Entries
	switch {
	case n.look.Method == BySample:
		sum.Look.Method = BySample
	case n.look.Method == ByAll && sum.Look.Method == ByQueues:
		sum.Look.Method = ByAll
	}
	if !n.complete(true) {
		sum.Exact = false
		sum.Estimated++
		if sum.Margins == nil {
			sum.Margins = &Margins{}
		}
		m := sum.Margins
		m.Beyond = together(m.Beyond, n.margin(&n.beyond))
		m.NoEnd = together(m.NoEnd, n.margin(&n.none))
		m.Living = together(m.Living, n.margin(&n.living))
	}
}
