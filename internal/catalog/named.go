package catalog

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/kv"
)

// A NamedIndex is an index that has a name and is made and dropped by itself, beside
// the indexing policy: what MongoDB calls an index. Its values are in the order of
// doc.CompareBSON.
type NamedIndex struct {
	ID      uint32        `json:"id"` // above 0, never reused in the container
	Name    string        `json:"name"`
	Columns []NamedColumn `json:"columns"`

	Unique bool `json:"unique,omitempty"`
	Sparse bool `json:"sparse,omitempty"` // documents without any of the columns have no entry
	Hidden bool `json:"hidden,omitempty"` // no plan uses it; it is kept and obeyed otherwise

	// Wildcard indexes every path below that of its one column, "" for the root, which
	// Projection, MongoDB's wildcardProjection, narrows down.
	Wildcard   bool    `json:"wildcard,omitempty"`
	Projection doc.Doc `json:"projection,omitempty"`

	// Partial is the filter that documents of the index satisfy, nil for all.
	Partial doc.Doc `json:"partial,omitempty"`

	// Expires tells that documents end Seconds after the earliest date in the column.
	Expires bool  `json:"expires,omitempty"`
	Seconds int32 `json:"seconds,omitempty"`

	// Spec is the index as its door shows it.
	Spec doc.Doc `json:"spec"`

	// Building is set until every document has its entries.
	Building bool `json:"building,omitempty"`
}

// A NamedColumn is one dotted path of a NamedIndex.
type NamedColumn struct {
	Path       string `json:"path"`
	Descending bool   `json:"descending,omitempty"`
}

// MaxNamedIndexes is how many named indexes a container has at most, that on its
// identity counted: MongoDB's limit.
const MaxNamedIndexes = 64

// A Condition compiles the filter of a partial index. What it returns is safe for
// concurrent use.
type Condition func(filter doc.Doc) (func(doc.Doc) bool, error)

// A PastDates is a rule of dates that is closed: it has ended what was due by Until, and
// holds for documents with a sequence up to Sequence.
type PastDates struct {
	Path     string       `json:"path"`
	Seconds  int32        `json:"seconds"`
	Partial  doc.Doc      `json:"partial,omitempty"`
	Until    expiry.Stamp `json:"until"`
	Sequence uint64       `json:"sequence"`
}

// A DateRule ends documents by a date in them. Closed ones have an Until and a Sequence.
type DateRule struct {
	Index    uint32 // the NamedIndex, 0 when closed
	Path     []string
	Seconds  int64
	Partial  func(doc.Doc) bool // nil for every document
	Until    expiry.Stamp
	Sequence uint64
}

// Closed reports whether the rule is one of the past.
func (r *DateRule) Closed() bool { return r.Index == 0 }

// DateRules are the rules of dates in force and those that are closed.
func (s *State) DateRules() []DateRule { return s.compiled.dates }

// Partials are the compiled filters of Named, in its order; nil where there is none.
func (s *State) Partials() []func(doc.Doc) bool { return s.compiled.partials }

// Plain reports whether a document's stamp and own ttl alone decide its life.
func (s *State) Plain() bool { return s.Policy.Plain() && len(s.compiled.dates) == 0 }

// compileNamed prepares the named indexes and the rules of dates.
func (s *State) compileNamed(c *compiled, condition Condition) error {
	partial := func(filter doc.Doc) (func(doc.Doc) bool, error) {
		switch {
		case filter == nil:
			return nil, nil
		case condition == nil:
			return nil, fault.New(fault.Invalid, "partial indexes need a query language")
		}
		return condition(filter)
	}
	for _, x := range s.Named {
		matches, err := partial(x.Partial)
		if err != nil {
			return err
		}
		c.partials = append(c.partials, matches)
		if x.rules() && !s.datesOff {
			c.dates = append(c.dates, DateRule{Index: x.ID, Path: strings.Split(x.Columns[0].Path, "."), Seconds: int64(x.Seconds), Partial: matches})
		}
	}
	for _, p := range s.PastDates {
		matches, err := partial(p.Partial)
		if err != nil {
			return err
		}
		c.dates = append(c.dates, DateRule{
			Path: strings.Split(p.Path, "."), Seconds: int64(p.Seconds), Partial: matches, Until: p.Until, Sequence: p.Sequence,
		})
	}
	return nil
}

// rules reports whether the index ends documents. One that is not complete does not.
func (x *NamedIndex) rules() bool { return x.Expires && !x.Building }

// ReplaceIndexes changes the named indexes of a container to what define returns of its
// present state: those with ID 0 are new and get an ID; those that are missing
// are dropped, entries and all. An index that ends documents and goes, or changes, has ended
// for good what was due.
func (c *Catalog) ReplaceIndexes(ctx context.Context, now expiry.Stamp, ct *Container, define func(*State) ([]NamedIndex, error)) (*State, error) {
	st, err := c.alter(ctx, ct, func(st *State, n *counters, b *kv.Batch) error {
		list, err := define(st)
		if err != nil {
			return err
		}
		list = slices.Clone(list)
		b.Frees = true
		for i := range list {
			if list[i].ID == 0 {
				b.Frees = false
				st.LastNamed++
				list[i].ID = st.LastNamed
			}
		}
		if err := c.closeDates(b, ct, st, now, list); err != nil {
			return err
		}
		for _, x := range st.Named {
			if !slices.ContainsFunc(list, func(y NamedIndex) bool { return y.ID == x.ID }) {
				c.dropNamed(n, b, ct, x.ID)
			}
		}
		st.Named = list
		return st.compile(c.condition)
	})
	if err != nil {
		return nil, err
	}
	return st, c.purge(ctx)
}

// dropNamed adds to b that the entries of a named index go.
func (c *Catalog) dropNamed(n *counters, b *kv.Batch, ct *Container, id uint32) {
	rng := ct.Keys()
	lower, upper := rng.NamedBounds(id)
	c.dropRange(n, b, lower, upper)
	lower, upper = rng.NamedUniqueBounds(id)
	c.dropRange(n, b, lower, upper)
	b.Delete(rng.Multikey(nil, id))
}

// closeDates moves the rules that are in force now, and not in list, to the past.
func (c *Catalog) closeDates(b *kv.Batch, ct *Container, st *State, now expiry.Stamp, list []NamedIndex) error {
	if st.datesOff {
		return nil
	}
	var newest uint64
	for _, x := range st.Named {
		goesOn := slices.ContainsFunc(list, func(y NamedIndex) bool { return y.ID == x.ID && y.rules() && y.Seconds == x.Seconds })
		if !x.rules() || goesOn {
			continue
		}
		if newest == 0 {
			var err error
			if newest, err = c.newestSequence(b, ct); err != nil {
				return err
			}
		}
		past := PastDates{x.Columns[0].Path, x.Seconds, x.Partial, ct.advance(now), newest}
		kept := slices.DeleteFunc(slices.Clone(st.PastDates), func(p PastDates) bool { return past.covers(p) })
		if len(kept) >= expiry.MaxPast {
			return fault.New(fault.Invalid, "The TTL indexes of the collection were changed %d times in a row. "+
				"Wait until its expired documents are reclaimed, then try again.", expiry.MaxPast)
		}
		st.PastDates = append(kept, past)
	}
	return nil
}

// covers reports whether p has ended nothing that the newer rule has not.
func (newer PastDates) covers(p PastDates) bool {
	return newer.Path == p.Path && string(newer.Partial) == string(p.Partial) && newer.Sequence >= p.Sequence &&
		newer.Until-expiry.Stamp(newer.Seconds) >= p.Until-expiry.Stamp(p.Seconds)
}

// ForgetDates drops closed rules of dates once every document that they ended is reclaimed.
// They are known by what they say: others may have come and gone since.
func (c *Catalog) ForgetDates(ctx context.Context, ct *Container, over []PastDates) error {
	_, err := c.alter(ctx, ct, func(st *State, _ *counters, b *kv.Batch) error {
		b.Frees = true
		st.PastDates = slices.DeleteFunc(slices.Clone(st.PastDates), func(p PastDates) bool {
			return slices.ContainsFunc(over, p.equal)
		})
		return st.compile(c.condition)
	})
	return err
}

func (p PastDates) equal(q PastDates) bool {
	return p.Path == q.Path && p.Seconds == q.Seconds && string(p.Partial) == string(q.Partial) && p.Until == q.Until && p.Sequence == q.Sequence
}

// DatesOn reports whether rules of dates are in force, as they are when a catalog opens.
func (c *Catalog) DatesOn() bool { return !c.datesOff.Load() }

// SetDates switches all rules of dates off or on again. What they have ended before stays dead.
func (c *Catalog) SetDates(ctx context.Context, now expiry.Stamp, on bool) error {
	if c.datesOff.Swap(!on) == !on {
		return nil
	}
	for _, ct := range c.AllContainers() {
		_, err := c.alter(ctx, ct, func(st *State, _ *counters, b *kv.Batch) error {
			b.Frees = true
			if !on {
				if err := c.closeDates(b, ct, st, now, nil); err != nil {
					return err
				}
			}
			st.datesOff = !on
			return st.compile(c.condition)
		})
		if err != nil && err != ErrNoOwner {
			if !on { // all or none
				return errors.Join(err, c.SetDates(context.WithoutCancel(ctx), now, true))
			}
			return err
		}
	}
	return nil
}

// RenameContainer gives a container another name in its database; fault.Exists when that
// is taken. With over, the container that has it is deleted in the same moment.
func (c *Catalog) RenameContainer(ctx context.Context, ct *Container, text string, over bool) error {
	c.changes.Lock()
	defer c.changes.Unlock()
	old := ct.State()
	if old.Deleted {
		return ErrNoOwner
	}
	target, _ := c.Container(ct.Database, text)
	if target == ct || target != nil && !over {
		return errExists
	}
	next := *old
	next.Name = text
	restore := func() {}
	if target != nil {
		restore = markDeleted([]*Container{target})
	}
	var gone []*Resource
	err := c.change(ctx, func(n *counters, b *kv.Batch) error {
		if target != nil {
			c.dropContainer(n, b, target)
			gone = c.resourcesOf(func(o Owner) bool { return o.Container == target.ID })
			deleteResources(b, gone)
		}
		c.saveContainer(b, ct, &next)
		return nil
	}, func() {
		if target != nil {
			c.forgetContainer(target)
			c.forgetResources(gone)
		}
		delete(c.byName, containerName(ct.Database, old.Name))
		ct.state.Store(&next)
		c.byName[containerName(ct.Database, text)] = ct
	})
	if err != nil {
		restore()
		return err
	}
	if target != nil {
		c.dropped(target)
	}
	return c.purge(ctx)
}
