package store

import (
	"cmp"
	"context"
	"slices"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/keys"
	"github.com/mayflydb/mayfly/internal/kv"
	"github.com/mayflydb/mayfly/internal/lease"
)

// BuildNamed makes the named indexes of a container complete that are still building, and returns when they are. Writes
// continue, and maintain the indexes already. A *Duplicate, or a document that cannot be indexed, ends the build: the
// indexes that were building are dropped. When ctx ends, an index stays as it is, and Open continues the build.
// Documents that are dead at now count for nothing. The Effect is about indexes that end documents, nil if there are
// none.
//
// Where several processes share the data, one at a time builds the named indexes of a container, and the others wait.
func (s *Store) BuildNamed(ctx context.Context, c *catalog.Container, now expiry.Stamp) (effect *Effect, err error) {
	wanted := building(c)
	for {
		var t *buildTurn
		err = s.leases.Wait(ctx, func() (ok bool, err error) {
			t, ok, err = s.takeTurn(ctx, c, namedLease, keys.BuildOfNamed, func() []uint32 { return building(c) })
			return ok, err
		})
		if err != nil {
			return nil, err
		}
		effect, err = s.buildNamedInTurn(ctx, c, now, t)
		if err = cmp.Or(err, t.end(ctx)); err == lease.ErrLost {
			continue // another process has it, which may fail
		}
		if err != nil || t == nil {
			return effect, err
		}
		break
	}
	st := c.State()
	for _, id := range wanted {
		if !slices.ContainsFunc(st.Named, func(x catalog.NamedIndex) bool { return x.ID == id }) && !st.Deleted {
			return effect, errDropped
		}
	}
	return effect, nil
}

// errDropped is what a request for an index gets if it is gone when its turn comes: somebody has dropped it, or another
// process has found that it cannot be built.
var errDropped = fault.New(fault.Conflict, "The index was dropped while it was being built.")

// building lists the named indexes of a container that are building.
func building(c *catalog.Container) (ids []uint32) {
	for _, x := range c.State().Named {
		if x.Building {
			ids = append(ids, x.ID)
		}
	}
	return ids
}

// unreached are the kinds of failures that say nothing about the documents: another process, or this one, goes on
// later.
var unreached = map[fault.Kind]bool{fault.Unavailable: true, fault.Undetermined: true, fault.Timeout: true}

// buildNamedInTurn builds the indexes of a turn, and only those: the steps that are done do not have others.
func (s *Store) buildNamedInTurn(
	ctx context.Context, c *catalog.Container, now expiry.Stamp, t *buildTurn,
) (*Effect, error) {
	built := func(x catalog.NamedIndex) bool { return x.Building && t.builds(x.ID) }
	err := s.buildNamed(ctx, c, now, t)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err == lease.ErrLost || t != nil && unreached[fault.KindOf(err)] {
		return nil, err
	}
	_, effect, change := s.ReplaceIndexes(ctx, now, c, func(st *catalog.State) ([]catalog.NamedIndex, error) {
		list := slices.Clone(st.Named)
		if err != nil {
			return slices.DeleteFunc(list, built), nil
		}
		for i := range list {
			list[i].Building = list[i].Building && !built(list[i])
		}
		return list, nil
	})
	if err == nil {
		err = change
	}
	return effect, err
}

// buildNamed visits every document, in steps.
func (s *Store) buildNamed(ctx context.Context, c *catalog.Container, now expiry.Stamp, t *buildTurn) error {
	mark, end := s.markBuild(ctx, c)
	defer end()
	for next := t.from(); ; {
		following, err := s.buildNamedFrom(ctx, c, now, next, t)
		switch {
		case fault.KindOf(err) == fault.Conflict:
			continue
		case err != nil:
			return err
		case following == 0:
			return nil
		}
		next = following
		mark.reached.Store(next)
	}
}

// buildNamedFrom writes the entries of the documents from a number on, and returns where
// to go on, 0 when there are none left.
func (s *Store) buildNamedFrom(
	ctx context.Context, c *catalog.Container, now expiry.Stamp, from uint64, t *buildTurn,
) (uint64, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	r := s.reclaimOf(c, 0)
	r.mu.Lock() // no document may be reclaimed between the look at it and its entries
	defer r.mu.Unlock()
	v, err := c.Enter(ctx, now)
	if err != nil {
		return 0, err
	}
	view, err := s.open(ctx, v.Read)
	if err != nil {
		return 0, err
	}
	b := &namedBuild{v: v, view: view, rng: c.Only(), claimed: map[string]uint64{}}
	b.batch = kv.Batch{Since: view.Mark, NoSync: true}
	for _, n := range s.indexer(v).named {
		if n.Building && t.builds(n.ID) {
			b.indexes = append(b.indexes, n)
		}
	}
	next, count := uint64(0), 0
	_, upper := b.rng.Bounds(keys.KindRecord)
	err = walk(ctx, view.Reader, b.rng.Record(nil, from), upper, func(it kv.Iterator) error {
		number, err := keys.Number(it.Key())
		if err != nil {
			return corrupt(err, "document")
		}
		if count++; count > buildStep || len(b.batch.Ops) >= buildEntries {
			next = number
			return errStopped
		}
		h, body, err := keys.DecodeHeader(it.Value())
		if err != nil {
			return corrupt(err, "document")
		}
		if dead(v, h, body) {
			return nil // and stays dead
		}
		b.batch.Read(append([]byte(nil), it.Key()...))
		return b.add(ctx, number, body)
	})
	if err != nil && err != errStopped {
		return 0, err
	}
	if len(b.batch.Ops) == 0 {
		return next, nil
	}
	if err := t.guard(ctx, &b.batch, c.Only(), next); err != nil {
		return 0, err
	}
	b.batch.Follow(b.rng.Order(nil), unlessChanged(v))
	if err := s.engine.Apply(ctx, &b.batch); err != nil {
		return from, err
	}
	return next, nil
}

// A namedBuild is one step of the build of named indexes.
type namedBuild struct {
	v       catalog.View
	view    kv.View
	rng     keys.Range
	indexes []*named
	batch   kv.Batch
	found   terms
	claimed map[string]uint64 // unique keys of this step
}

// add adds the entries and unique keys of a document.
func (b *namedBuild) add(ctx context.Context, number uint64, body doc.Doc) error {
	for _, n := range b.indexes {
		array, err := b.found.collectNamed(n, b.rng, body)
		if err != nil {
			return err
		}
		if array && !n.multikey.Load() {
			b.batch.Set(b.rng.Multikey(nil, n.ID), nil)
		}
		for i := range b.found.list {
			b.batch.Set(b.found.entry(i, number), nil)
		}
		if !n.Unique {
			continue
		}
		var taken error
		_, err = n.eachKey(body, func(values []doc.Value) {
			if taken == nil {
				taken = b.claim(ctx, n, values, number)
			}
		})
		if err != nil || taken != nil {
			return cmp.Or(err, taken)
		}
	}
	return nil
}

// claim takes a unique key for a document; a *Duplicate when another living one has it.
func (b *namedBuild) claim(ctx context.Context, n *named, values []doc.Value, number uint64) error {
	key := appendNamedUnique(nil, b.v, n, values)
	owner, taken := b.claimed[string(key)]
	if !taken { // else another document of this step has it
		b.batch.Read(key)
		var err error
		if owner, taken, err = getNumber(ctx, b.view.Reader, key); err != nil {
			return err
		}
		if taken && owner != number {
			if taken, err = b.alive(ctx, owner); err != nil {
				return err
			}
		}
	}
	if taken && owner != number {
		d := &Duplicate{Index: n.NamedIndex}
		for _, v := range values {
			d.Values = append(d.Values, doc.Clone(v))
		}
		return d
	}
	b.claimed[string(key)] = number
	b.batch.Set(key, keys.AppendNumber(nil, number))
	return nil
}

func (b *namedBuild) alive(ctx context.Context, number uint64) (alive bool, err error) {
	_, err = getRecord(ctx, b.view.Reader, b.rng.Record(nil, number), func(h keys.Header, body doc.Doc) error {
		alive = !dead(b.v, h, body)
		return nil
	})
	return alive, err
}

// resumeNamed goes on with builds that a crash has interrupted: where several processes share the data, with those that
// no process has the turn of.
func (s *Store) resumeNamed(ctx context.Context) {
	for _, c := range s.catalog.AllContainers() {
		if len(building(c)) == 0 {
			continue
		}
		t, ok, err := s.takeTurn(ctx, c, namedLease, keys.BuildOfNamed, func() []uint32 { return building(c) })
		if err != nil && ctx.Err() == nil {
			s.failed.Store(&err)
		}
		if err != nil || !ok {
			continue
		}
		s.builds.Go(func() {
			_, err := s.buildNamedInTurn(s.buildsOver, c, 0, t)
			err = cmp.Or(err, t.end(s.buildsOver))
			if err != nil && err != catalog.ErrNoOwner && err != lease.ErrLost && s.buildsOver.Err() == nil {
				s.failed.Store(&err)
			}
		})
	}
}
