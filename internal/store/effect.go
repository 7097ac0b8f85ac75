package store

import (
	"context"
	"fmt"
	"log/slog"
	"slices"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/keys"
	"github.com/mayflydb/mayfly/internal/kv"
)

// An Effect is what a change of lifetime has done to the documents of a container.
type Effect struct {
	Before, After string // the settings in words, see expiry.Policy.String
	Expired       uint64 // documents that were alive and that the change ended
	More          bool   // there may be more of them: counting was given up
}

// Count says how many documents the change ended, in the caller's word for documents.
func (e *Effect) Count(singular, plural string) string {
	switch {
	case e.More:
		return fmt.Sprintf("at least %d %s", e.Expired, plural)
	case e.Expired == 1:
		return "1 " + singular
	}
	return fmt.Sprintf("%d %s", e.Expired, plural)
}

// Log writes a line for the operator: a warning if documents have ended.
func (e *Effect) Log(log *slog.Logger, container string) {
	level := slog.LevelInfo
	if e.Expired > 0 {
		level = slog.LevelWarn
	}
	log.Log(context.Background(), level, "lifetime changed, what has expired stays so",
		slog.String("container", container), slog.String("before", e.Before), slog.String("after", e.After),
		slog.Uint64("expired", e.Expired), slog.Bool("at_least", e.More))
}

// effort bounds the count of an Effect: it is how many entries are looked at. A document that has to be read counts as
// effortRecord of them. A change of lifetime must not take longer because many documents end.
const (
	effort       = 100_000
	effortRecord = 10
)

// ReplaceContainer calls catalog.ReplaceContainer. The Effect is nil when lifetime stays as it was.
func (s *Store) ReplaceContainer(
	ctx context.Context, now expiry.Stamp, c *catalog.Container,
	define func(*catalog.State) (catalog.Definition, error),
) (*catalog.State, *Effect, error) {
	var m beforeChange
	defer m.close()
	st, err := s.catalog.ReplaceContainer(ctx, now, c, func(st *catalog.State) (catalog.Definition, error) {
		def, err := define(st)
		if err == nil && (def.TTL != st.Policy.Default || def.TTLProperty != st.Policy.Property) {
			err = m.take(ctx, s, c, st, now)
		}
		return def, err
	})
	if err != nil {
		return nil, nil, err
	}
	return st, m.effect(ctx, st), nil
}

// ReplaceIndexes calls catalog.ReplaceIndexes. The Effect is nil when no index that ends documents comes, goes or
// changes.
func (s *Store) ReplaceIndexes(
	ctx context.Context, now expiry.Stamp, c *catalog.Container,
	define func(*catalog.State) ([]catalog.NamedIndex, error),
) (*catalog.State, *Effect, error) {
	var m beforeChange
	defer m.close()
	st, err := s.catalog.ReplaceIndexes(ctx, now, c, func(st *catalog.State) ([]catalog.NamedIndex, error) {
		list, err := define(st)
		if err == nil && (slices.ContainsFunc(st.Named, expires) || slices.ContainsFunc(list, expires)) {
			err = m.take(ctx, s, c, st, now)
		}
		return list, err
	})
	if err != nil {
		return nil, nil, err
	}
	return st, m.effect(ctx, st), nil
}

func expires(x catalog.NamedIndex) bool { return x.Expires }

// A beforeChange is a container as it was when a change of its lifetime began. It is taken while requests wait for
// the change, so that what is alive in it is what the change finds. The reaper, which may free the
// ended documents at once, takes nothing out of the snapshot.
type beforeChange struct {
	before   catalog.View
	snapshot kv.Snapshot // nil when none was taken
}

// take may be called again, when the change is tried again.
func (m *beforeChange) take(
	ctx context.Context, s *Store, c *catalog.Container, st *catalog.State, now expiry.Stamp,
) (err error) {
	m.close()
	was := *st // the catalog goes on to alter it
	m.before = catalog.View{Container: c, State: &was, Now: max(now, c.Seen())}
	if s.catalog.Shared() {
		view, err := s.engine.View(ctx)
		if err != nil {
			return err
		}
		m.before.Now = view.Time.Unix()
	}
	m.snapshot, err = s.engine.Snapshot(ctx)
	return err
}

func (m *beforeChange) close() {
	if m.snapshot != nil {
		m.snapshot.Close()
		m.snapshot = nil
	}
}

// effect compares it with the state that the change has led to.
func (m *beforeChange) effect(ctx context.Context, st *catalog.State) *Effect {
	if m.snapshot == nil {
		return nil
	}
	e := &Effect{Before: m.before.Policy.String(), After: st.Policy.String()}
	if e.Before == e.After {
		return nil
	}
	t := endedCount{r: m.snapshot, before: m.before, after: m.before, left: effort}
	t.after.State = st
	err := t.take(ctx)
	e.Expired, e.More = t.n, t.left < 0 || err != nil // the change is made, whether or not it can be counted
	return e
}

// An endedCount counts documents that are dead under one state and alive under another, at the same instant.
type endedCount struct {
	r             kv.Reader
	before, after catalog.View
	rng           keys.Range // that it is in
	n             uint64
	left          int             // effort
	counted       map[uint64]bool // documents that more than one entry may lead to
}

func (t *endedCount) take(ctx context.Context) error {
	// Each step follows one queue and stops at the first document that lives, so the count costs what has died.
	steps := []func(context.Context) error{t.inheriting, t.own, t.dates}
	if t.after.Policy.Property != "" {
		steps = []func(context.Context) error{t.records} // no queue is in the order of such deadlines
	}
	for _, x := range t.after.Ranges() {
		t.rng = t.after.Container.KeysOf(x.Number)
		for _, step := range steps {
			if err := step(ctx); err == errStopped {
				return nil
			} else if err != nil {
				return err
			}
		}
	}
	return nil
}

// spend takes from the effort that is left.
func (t *endedCount) spend(cost int) error {
	if t.left -= cost; t.left < 0 {
		return errStopped
	}
	return nil
}

// inheriting counts documents without a ttl of their own. The feed has them in the order of their stamps: those up to
// the floor were dead before, and those behind the default's reach stay alive.
func (t *endedCount) inheriting(ctx context.Context) error {
	policy := &t.after.Policy
	if policy.Default <= expiry.Unset {
		return nil
	}
	sequence, err := sequenceAt(ctx, t.r, t.rng, policy.InheritFloor)
	if err != nil {
		return err
	}
	_, upper := t.rng.Bounds(keys.KindFeed)
	err = walk(ctx, t.r, t.rng.Feed(nil, sequence+1), upper, func(it kv.Iterator) error {
		e, err := keys.DecodeFeed(it.Value())
		if err != nil {
			return corrupt(err, "change feed entry")
		}
		switch {
		case !policy.DeadByTTL(e.Stamp, expiry.Unset, t.after.Now):
			return errFound // and so is every later one
		case e.TTL != int32(expiry.Unset):
			return t.spend(1)
		}
		return t.add(ctx, e.Number)
	})
	if err == errFound {
		return nil
	}
	return err
}

// own counts documents whose own ttl comes into force.
func (t *endedCount) own(ctx context.Context) error {
	was, is := &t.before.Policy, &t.after.Policy
	if !is.On() || was.On() && was.Property == "" { // own ttls were in force before, so none comes into force now
		return nil
	}
	_, due := is.Floors(t.after.Now)
	from, upto := t.rng.Deadline(nil, is.OwnFloor+1, 0), t.rng.Deadline(nil, due+1, 0)
	return walk(ctx, t.r, from, upto, func(it kv.Iterator) error {
		number, err := keys.Number(it.Key())
		if err != nil {
			return corrupt(err, "deadline entry")
		}
		return t.add(ctx, number)
	})
}

// dates counts documents that end by a date, where an index that says so has come or changed.
func (t *endedCount) dates(ctx context.Context) error {
	was, is := t.before.Policy.Dates, t.after.Policy.Dates
	for i := range is {
		same := func(r expiry.DateRule) bool { return r.Index == is[i].Index && r.Seconds == is[i].Seconds }
		if slices.ContainsFunc(was, same) {
			continue
		}
		if t.counted == nil {
			t.counted = map[uint64]bool{}
		}
		err := dueEntries(ctx, t.r, t.after, &is[i], func(_ []byte, number uint64) error { return t.add(ctx, number) })
		if err != nil {
			return err
		}
	}
	return nil
}

// add counts a document that an entry leads to. Where stamp and ttl alone decide, an entry
// behind the floors is proof enough.
func (t *endedCount) add(ctx context.Context, number uint64) error {
	plain := t.before.Policy.Plain() && t.after.Policy.Plain()
	if plain || t.counted[number] {
		err := t.spend(1)
		if err == nil && plain {
			t.n++
		}
		return err
	}
	if err := t.spend(effortRecord); err != nil {
		return err
	}
	_, err := getRecord(ctx, t.r, t.rng.Record(nil, number), func(h keys.Header, body doc.Doc) error {
		if t.ended(h, body) {
			t.n++
			if t.counted != nil {
				t.counted[number] = true
			}
		}
		return nil
	})
	return err
}

func (t *endedCount) ended(h keys.Header, body doc.Doc) bool {
	return dead(t.after, h, body) && !dead(t.before, h, body)
}

// records looks at every document, as far as the effort reaches.
func (t *endedCount) records(ctx context.Context) error {
	lower, upper := t.rng.Bounds(keys.KindRecord)
	return walk(ctx, t.r, lower, upper, func(it kv.Iterator) error {
		if err := t.spend(effortRecord); err != nil {
			return err
		}
		h, body, err := keys.DecodeHeader(it.Value())
		if err != nil {
			return corrupt(err, "document")
		}
		if t.ended(h, body) {
			t.n++
		}
		return nil
	})
}
